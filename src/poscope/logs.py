"""Where a job's words go."""

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poscope.errors import PoscopeError
from poscope.scheduler import ending_with_scheduler

_FORMAT = "%(asctime)s %(levelname)-7s %(message)s"


@contextmanager
def job_log(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Send logging, print and warnings of this process to the file `path` while the block runs.

    A `PoscopeError` is written to the log and to the terminal and ends the process with status 1;
    anything else is a fault of poscope, and its traceback goes to both. With no path, all goes to
    the terminal. A job whose scheduler was killed ends with it.
    """
    terminal = sys.stderr
    if path is None:
        logging.basicConfig(level=logging.INFO, format=_FORMAT, stream=terminal, force=True)
        yield
        return
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8", buffering=1) as stream:
        sys.stdout, sys.stderr, before = stream, stream, (sys.stdout, sys.stderr)
        logging.basicConfig(level=logging.INFO, format=_FORMAT, stream=stream, force=True)
        logging.captureWarnings(True)
        # It logs every address at INFO, with the signatures of redirects in them.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        started = time.monotonic()
        try:
            with ending_with_scheduler():
                yield
            logging.info("done in %.1f s", time.monotonic() - started)
        except PoscopeError as error:
            logging.error("%s", error)
            print(f"error: {error}", file=terminal)
            raise SystemExit(1) from None
        except Exception:
            logging.exception("poscope failed unexpectedly")
            raise
        finally:
            logging.captureWarnings(False)
            sys.stdout, sys.stderr = before
            logging.basicConfig(level=logging.INFO, format=_FORMAT, stream=terminal, force=True)
