"""How fast the probes `absolute` and `order` are: `python -m benchmarks.probes`.

Both sides in one run, on the same folds, in turns: a probe, and scikit-learn's `cross_val_score` with the same model.
The probe's side counts everything from the table on, its one factorisation included. Figures are compared repeat by
repeat. scikit-learn's logistic regression stops short of its optimum by default, which the probe never does: its time
is that of the default, its figures are also compared at a tolerance of 1e-8.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from poscope.files import write_json
from poscope.probes import absolute, order
from poscope.probes.sampling import generator, probed_rows, shuffled_folds
from poscope.tables.formulas import random_normal, sinusoid
from poscope.tables.position_table import read_position_table

POSITIONS, DIM, FOLDS, PAIRS, SEED = 512, 768, 5, 512, 0

Side = Callable[[], list[float]]
"""Runs all repeats and returns their figures."""


@dataclass(frozen=True)
class Row:
    """One line of the result: seconds are medians over rounds, for one repeat."""

    probe: str
    table: str
    ours_seconds: float
    sklearn_seconds: float
    ratio: float
    figure: float
    largest_difference: float
    largest_difference_at_optimum: float | None


def smooth_table(positions: int, dim: int, seed: int) -> np.ndarray:
    """Smooth curves with a little noise, as decoders learn them: float32, shape (positions, dim)."""
    random = np.random.default_rng(seed)
    offsets = np.subtract.outer(np.arange(positions), np.arange(positions))
    kernel = np.exp(-((offsets / 60) ** 2) / 2) + 1e-6 * np.eye(positions)
    curves = np.linalg.cholesky(kernel) @ random.normal(size=(positions, dim))
    noise = random.normal(size=(positions, dim))
    return (0.1 * curves + 0.003 * noise).astype(np.float32)


def absolute_sides(table: np.ndarray, repeats: int) -> tuple[Side, Side]:
    """Linear regression of the position, ours and scikit-learn's."""
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import cross_val_score

    rows = probed_rows(table, POSITIONS)
    targets = np.arange(len(rows), dtype=np.float64)

    def rounded_error(model: LinearRegression, held_out: np.ndarray, truth: np.ndarray) -> float:
        return float(np.abs(np.rint(model.predict(held_out)) - truth).mean())

    def ours() -> list[float]:
        result = absolute.run(
            table,
            positions=POSITIONS,
            folds=FOLDS,
            repeats=repeats,
            seed=SEED,
            regressors=["linear"],
            svr={},
            mlp={},
            mlp_repeats=1,
        )
        return np.reshape(result.figures[0].values, (repeats, FOLDS)).mean(axis=1).tolist()

    def theirs() -> list[float]:
        figures = []
        for repeat in range(repeats):
            folds = shuffled_folds(len(rows), FOLDS, generator(SEED, repeat))
            splits = [(fold.train, fold.test) for fold in folds]
            model = LinearRegression()
            scores = cross_val_score(model, rows, targets, cv=splits, scoring=rounded_error)
            figures.append(float(scores.mean()))
        return figures

    return ours, theirs


def order_sides(table: np.ndarray, repeats: int, **settings: float) -> tuple[Side, Side]:
    """Logistic regression of the order by the published protocol, ours and scikit-learn's with these settings."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    rows = probed_rows(table, POSITIONS)

    def ours() -> list[float]:
        randoms = [generator(SEED, repeat) for repeat in range(repeats)]
        gram = order.centred_gram(probed_rows(table, POSITIONS))
        return order.as_published(gram, FOLDS, PAIRS, 1.0, randoms).mean(axis=1).tolist()

    def theirs() -> list[float]:
        randoms = [generator(SEED, repeat) for repeat in range(repeats)]
        problems = order.published_problems(len(rows), FOLDS, PAIRS, randoms)
        figures = []
        for start in range(0, len(problems.labels), FOLDS):
            first, second = problems.first[start], problems.second[start]
            held_out = [~problems.fitted[start + fold] for fold in range(FOLDS)]
            splits = [(np.flatnonzero(~each), np.flatnonzero(each)) for each in held_out]
            features = np.hstack([rows[first], rows[second]])
            model = LogisticRegression(**settings)
            scores = cross_val_score(model, features, problems.labels[start], cv=splits)
            figures.append(1 - float(scores.mean()))
        return figures

    return ours, theirs


def measure(
    probe: str,
    table: str,
    sides: tuple[Side, Side],
    repeats: int,
    rounds: int,
    optimum: Side | None,
) -> Row:
    """Time both sides in turns and compare their figures."""
    seconds: tuple[list[float], list[float]] = ([], [])
    figures: list[list[float]] = [[], []]
    for _ in range(rounds):
        for side, run in enumerate(sides):
            started = time.perf_counter()
            figures[side] = run()
            seconds[side].append((time.perf_counter() - started) / repeats)
    ours, theirs = (statistics.median(each) for each in seconds)
    return Row(
        probe=probe,
        table=table,
        ours_seconds=ours,
        sklearn_seconds=theirs,
        ratio=theirs / ours,
        figure=statistics.fmean(figures[0]),
        largest_difference=_largest_difference(*figures),
        largest_difference_at_optimum=None
        if optimum is None
        else _largest_difference(figures[0], optimum()),
    )


def _largest_difference(first: list[float], second: list[float]) -> float:
    return max(abs(one - other) for one, other in zip(first, second, strict=True))


def benchmark(tables: dict[str, np.ndarray], repeats: int, rounds: int) -> list[Row]:
    """All rows, printed as they come."""
    heads = ("probe", "table", "ours", "sklearn", "ratio", "figure", "differs", "at optimum")
    print("{:<10}{:<14}{:>10}{:>10}{:>8}{:>10}{:>10}{:>12}".format(*heads))
    rows = []
    for name, table in tables.items():
        for probe, sides, tight in (
            ("absolute", absolute_sides(table, repeats), None),
            (
                "order",
                order_sides(table, repeats),
                order_sides(table, repeats, tol=1e-8, max_iter=100_000)[1],
            ),
        ):
            row = measure(probe, name, sides, repeats, rounds, tight)
            rows.append(row)
            at_optimum = row.largest_difference_at_optimum
            print(
                f"{probe:<10}{name:<14}{row.ours_seconds * 1e3:>7.1f} ms{row.sklearn_seconds * 1e3:>7.1f} ms"
                f"{row.ratio:>8.1f}{row.figure:>10.4f}{row.largest_difference:>10.1e}"
                f"{'' if at_optimum is None else format(at_optimum, '.1e'):>12}",
                flush=True,
            )
    return rows


def main() -> None:
    """Print both sides for each table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=10, help="of the cross-validation")
    parser.add_argument("--rounds", type=int, default=3, help="in which the sides take turns")
    parser.add_argument(
        "--table", action="append", default=[], metavar="NAME=FILE", help="a stored table"
    )
    parser.add_argument("--json", type=Path, help="where to write the rows")
    chosen = parser.parse_args()
    tables = {
        "sinusoid": sinusoid(POSITIONS, DIM),
        "random": random_normal(POSITIONS, DIM, 0.02, SEED),
        "smooth": smooth_table(POSITIONS, DIM, SEED),
    }
    for entry in chosen.table:
        name, _, path = entry.partition("=")
        tables[name] = read_position_table(path).values
    rows = benchmark(tables, chosen.repeats, chosen.rounds)
    if chosen.json:
        write_json(chosen.json, [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
