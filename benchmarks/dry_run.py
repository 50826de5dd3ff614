"""How long Snakemake takes to plan a large study: `python -m benchmarks.dry_run [--jobs 1500]`.

Both sides in one run: the dry run of a synthetic study of the wanted size, and that of a study with one
table, which is what starting Snakemake and checking the config cost anyway.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[1]
PROBES = 6


def synthetic_study(tables: int) -> dict[str, object]:
    """A config with so many generated tables, each of which every probe runs on."""
    names = [f"table_{index}" for index in range(tables)]
    models = {
        name: {"source": "generated", "formula": "random_normal", "seed": seed}
        for seed, name in enumerate(names)
    }
    study = {"experiments": ["probes"], "models": names, "reference": names[0]}
    return {"models": models, "study": study}


def dry_run(config: dict[str, object], folder: Path) -> tuple[int, float]:
    """Plan a study in an empty folder: the number of jobs, and the seconds that it took."""
    overlay = folder / "study.yaml"
    overlay.write_text(yaml.safe_dump(config))
    base = folder / "config" / "config.yaml"
    base.parent.mkdir(exist_ok=True)
    base.write_text((CHECKOUT / "config" / "config.yaml").read_text())
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(CHECKOUT / "Snakefile")),
        *("--profile", str(CHECKOUT / "profiles" / "cpu"), "--directory", str(folder)),
        *("--configfile", str(overlay), "--dry-run", "--quiet", "rules"),
    ]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    total = next(line for line in done.stdout.splitlines() if line.startswith("total"))
    return int(total.split()[1]), seconds


def main() -> None:
    """Print both sides."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1500)
    wanted = parser.parse_args().jobs
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as large:
        few, base = dry_run(synthetic_study(1), Path(small))
        many, seconds = dry_run(synthetic_study(-(-wanted // (PROBES + 1))), Path(large))
    print(f"{few:>6} jobs {base:8.2f} s\n{many:>6} jobs {seconds:8.2f} s")
    print(
        f"{(seconds - base) / (many - few) * 1000:.2f} ms for each further job; ratio {seconds / base:.1f}"
    )


if __name__ == "__main__":
    main()
