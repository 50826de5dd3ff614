"""Say how far a run is: each running job with its last words, and those that failed.

    python workflow/tools/status.py [--hours 24]

Reads logs/ and nothing else, so that it may be asked at any time, from any terminal.
What is left of the whole study: `make plan`, which counts with the times of the jobs that are done.
"""

import argparse
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "src"))

from poscope.job_logs import status  # noqa: E402


def main() -> None:
    """Print the state of the logs that were written to lately."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--hours", type=float, default=24.0, help="how far to look back (default: 24)"
    )
    print(status("logs", since=time.time() - 3600 * parser.parse_args().hours))


if __name__ == "__main__":
    main()
