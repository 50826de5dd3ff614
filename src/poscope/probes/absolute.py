"""Can a position be read off its vector? Regression from row to position (Wang & Chen 2020, §4.1.1).

Five shuffled folds, predictions rounded, mean absolute error. Linear regression is the paper's probe; beside it support
vector regression and a multi-layer perceptron, with training error, to see whether they overfit.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poscope.errors import ProbeError
from poscope.probes.least_squares import LeastSquares, Residuals
from poscope.probes.result import Figure, ProbeResult, repeated
from poscope.probes.sampling import Fold, generator, probed_rows, shuffled_folds

Regression = Callable[[Fold, int], Residuals]


def run(
    table: np.ndarray,
    *,
    positions: int,
    folds: int,
    repeats: int,
    seed: int,
    regressors: Sequence[str],
    svr: dict[str, Any],
    mlp: dict[str, Any],
    mlp_repeats: int,
) -> ProbeResult:
    """Mean absolute error in positions, on held-out rows and on the rows fitted.

    Args:
        table: float32, shape (positions, dim).
        positions: the first so many rows are probed.
        folds: of the cross-validation.
        repeats: of the whole cross-validation, each with new folds.
        seed: of the first repeat.
        regressors: some of `linear`, `svr`, `mlp`.
        svr: `kernel`, `c`, `epsilon` of the support vector regression.
        mlp: `hidden`, `alpha`, `iterations` of the perceptron.
        mlp_repeats: repeats of the perceptron, which takes seconds each.

    Returns:
        `mae`, `mae_train` of linear regression; the same with `_svr`, `_mlp` before `_train`; `mae_chance`, of the
        training rows' mean position.

    Raises:
        ProbeError: an unknown regressor, fewer positions than folds, or an unusable table.
    """
    rows = probed_rows(table, positions)
    targets = np.arange(len(rows), dtype=np.float64)
    splits = [
        shuffled_folds(len(rows), folds, generator(seed, repeat)) for repeat in range(repeats)
    ]
    fits: dict[str, tuple[Callable[[], Regression], int]] = {
        "linear": (lambda: _linear(rows, targets), repeats),
        "svr": (lambda: _svr(rows, targets, svr), repeats),
        "mlp": (lambda: _mlp(rows, targets, mlp), min(mlp_repeats, repeats)),
    }
    figures = [_figures("chance", lambda fold, _: _mean(targets, fold), targets, splits)[0]]
    for name in regressors:
        if name not in fits:
            raise ProbeError(f"there is no regressor {name!r}; allowed: {', '.join(fits)}")
        fit, count = fits[name]
        figures.extend(_figures("" if name == "linear" else name, fit(), targets, splits[:count]))
    return ProbeResult(tuple(figures[1:] + figures[:1]))


def _figures(
    name: str, regression: Regression, targets: np.ndarray, splits: list[list[Fold]]
) -> list[Figure]:
    # (repeats, folds, 2): on the rows fitted and on those held out.
    errors = np.array(
        [
            [_errors(regression(fold, repeat), targets, fold) for fold in folds]
            for repeat, folds in enumerate(splits)
        ]
    )
    suffix = f"_{name}" if name else ""
    return [
        repeated(f"mae{suffix}", errors[..., 1]),
        repeated(f"mae{suffix}_train", errors[..., 0]),
    ]


def _errors(residuals: Residuals, targets: np.ndarray, fold: Fold) -> tuple[float, float]:
    """Mean absolute errors of rounded predictions, on the rows fitted and on those held out."""
    return (
        _rounded_error(targets[fold.train], residuals.train),
        _rounded_error(targets[fold.test], residuals.test),
    )


def _rounded_error(targets: np.ndarray, residuals: np.ndarray) -> float:
    return float(np.abs(np.rint(targets - residuals) - targets).mean())


def _mean(targets: np.ndarray, fold: Fold) -> Residuals:
    level = targets[fold.train].mean()
    return Residuals(targets[fold.train] - level, targets[fold.test] - level)


def _linear(rows: np.ndarray, targets: np.ndarray) -> Regression:
    solver = LeastSquares(rows)
    return lambda fold, _: solver.residuals(targets, fold)


def _svr(rows: np.ndarray, targets: np.ndarray, settings: dict[str, Any]) -> Regression:
    from sklearn.svm import SVR  # a second of import that linear probes need not pay

    # Inner products once for all folds and repeats: libsvm would form them anew for every fit.
    gram = rows @ rows.T
    kernel = _KERNELS[settings["kernel"]]

    def fit(fold: Fold, repeat: int) -> Residuals:
        del repeat
        spread = float(rows[fold.train].var())
        # What scikit-learn calls gamma="scale".
        inner = kernel(gram, 1 / (rows.shape[1] * spread) if spread > 0 else 1.0)
        model = SVR(kernel="precomputed", C=settings["c"], epsilon=settings["epsilon"])
        model.fit(inner[np.ix_(fold.train, fold.train)], targets[fold.train])
        return Residuals(
            targets[fold.train] - model.predict(inner[np.ix_(fold.train, fold.train)]),
            targets[fold.test] - model.predict(inner[np.ix_(fold.test, fold.train)]),
        )

    return fit


def _rbf(gram: np.ndarray, gamma: float) -> np.ndarray:
    squares = np.diag(gram)
    distances = np.maximum(squares[:, None] + squares - 2 * gram, 0.0)
    return np.asarray(np.exp(-gamma * distances))


_KERNELS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "rbf": _rbf,
    "linear": lambda gram, _: gram,
    "poly": lambda gram, gamma: (gamma * gram) ** 3,
}


def _mlp(rows: np.ndarray, targets: np.ndarray, settings: dict[str, Any]) -> Regression:
    from sklearn.neural_network import MLPRegressor
    from threadpoolctl import threadpool_limits

    spread = rows.std()
    inputs = (rows - rows.mean()) / spread if spread > 0 else rows
    middle, scale = targets.mean(), max(targets.std(), 1.0)
    scaled = (targets - middle) / scale

    def fit(fold: Fold, repeat: int) -> Residuals:
        # Full-batch L-BFGS: at this size it fits the training rows where Adam's default budget does not.
        model = MLPRegressor(
            hidden_layer_sizes=tuple(settings["hidden"]),
            alpha=settings["alpha"],
            max_iter=settings["iterations"],
            solver="lbfgs",
            random_state=repeat,
        )
        # Its path is chaotic: on one thread sums, and so figures, do not depend on the machine's number of cores.
        with threadpool_limits(1), warnings.catch_warnings():
            # The budget of iterations is a setting; training error is reported and shows what it was good for.
            warnings.filterwarnings("ignore", message="lbfgs failed to converge")
            model.fit(inputs[fold.train], scaled[fold.train])
            return Residuals(
                scale * (scaled[fold.train] - model.predict(inputs[fold.train])),
                scale * (scaled[fold.test] - model.predict(inputs[fold.test])),
            )

    return fit
