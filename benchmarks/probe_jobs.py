"""All probes but the perceptron over four tables of 512 x 768, as jobs: `python -m benchmarks.probe_jobs`.

Both sides in one run: Snakemake with two cores, jobs and imports included, against the script that one would otherwise
write for the two probes of the paper's tables alone (`cross_val_score` of scikit-learn, with as many repeats).
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml

from poscope.tables.formulas import random_normal, sinusoid, sinusoid_halves

CHECKOUT = Path(__file__).resolve().parents[1]
FOLDS, REPEATS, PAIRS = 5, 10, 512


def tables() -> dict[str, np.ndarray]:
    """Four tables of the size of BERT's: two formulas, noise, and a walk that is smooth as learned tables are."""
    walk = np.cumsum(random_normal(512, 768, sd=0.01, seed=1), axis=0).astype(np.float32)
    return {
        "sinusoid": sinusoid(512, 768),
        "halves": sinusoid_halves(512, 768),
        "random": random_normal(512, 768, sd=0.02, seed=0),
        "walk": walk,
    }


def by_jobs(folder: Path) -> tuple[float, int]:
    """Seconds for the study's tables and figures, and the number of probe jobs."""
    models, names = {}, []
    for name, table in tables().items():
        np.save(folder / f"{name}.npy", table)
        models[f"bench_{name}"] = {"source": "local", "path": str(folder / f"{name}.npy")}
        names.append(f"bench_{name}")
    study = {
        "models": models,
        "probes": {"absolute": {"regressors": ["linear", "svr"]}},
        "study": {"models": names, "reference": names[0]},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    (folder / "config").mkdir()
    (folder / "config/config.yaml").write_text((CHECKOUT / "config/config.yaml").read_text())
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(CHECKOUT / "Snakefile")),
        *("--profile", str(CHECKOUT / "profiles/cpu"), "--cores", "2", "--directory", str(folder)),
        *("--configfile", str(folder / "study.yaml"), "--quiet", "all"),
    ]
    probes = [f"results/probes/{probe}/{name}.json" for probe in _probes() for name in names]
    started = time.perf_counter()
    subprocess.run([*command[:3], *probes, *command[3:]], check=True, cwd=folder)
    return time.perf_counter() - started, len(probes)


def _probes() -> list[str]:
    return ["absolute", "order", "distance", "similarity", "spectrum", "geometry"]


def by_script() -> float:
    """Seconds for two of the six probes with scikit-learn, in one process that has imported it."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.model_selection import KFold, cross_val_score

    started = time.perf_counter()
    for table in tables().values():
        rows, places = table.astype(np.float64), np.arange(len(table), dtype=np.float64)
        for repeat in range(REPEATS):
            folds = KFold(FOLDS, shuffle=True, random_state=repeat)
            scoring = "neg_mean_absolute_error"
            cross_val_score(LinearRegression(), rows, places, cv=folds, scoring=scoring)
            random = np.random.default_rng(repeat)
            first = random.integers(len(rows), size=PAIRS)
            second = (first + random.integers(1, len(rows), size=PAIRS)) % len(rows)
            pairs = np.hstack([rows[first], rows[second]])
            cross_val_score(LogisticRegression(), pairs, first < second, cv=folds)
    return time.perf_counter() - started


def main() -> None:
    """Print both sides."""
    with tempfile.TemporaryDirectory() as folder:
        seconds, jobs = by_jobs(Path(folder))
    print(f"poscope, {jobs} probe jobs (six probes, four tables): {seconds:6.1f} s", flush=True)
    script = by_script()
    print(f"scikit-learn, two of the six probes, one process:  {script:6.1f} s")
    print(f"ratio: {script / seconds:.2f}")


if __name__ == "__main__":
    main()
