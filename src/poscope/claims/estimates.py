"""Effects with their intervals, from what the tables hold: means, intervals, and tests against a reference."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.special import ndtri, stdtr, stdtrit

from poscope.claims.figures import Figure, Figures

HalfWidth = Callable[[float], float]
"""From a level (0.95) to half the width of the interval of that level."""

_NIL = 1e-12


@dataclass(frozen=True)
class Estimate:
    """An effect, and how well it is known.

    Attributes:
        effect: in the units of the figures that it is made of.
        half_width: by level; None where nothing tells chance apart.
        n: the least number of repeats behind it.
        basis: where the interval comes from.
        p_value: of the effect being nil; None where there is no test.
        adjusted: whether the p value is corrected for the number of comparisons already.
        unit: what to run more of; None where more of nothing helps.
    """

    effect: float
    half_width: HalfWidth | None
    n: int
    basis: str
    p_value: float | None = None
    adjusted: bool = False
    unit: str | None = "seeds"

    def interval(self, level: float) -> tuple[float, float] | None:
        """The interval of a level; None where there is none."""
        if self.half_width is None:
            return None
        half = self.half_width(level)
        return self.effect - half, self.effect + half


def of_exact(figure: Figure) -> Estimate:
    """A figure that is counted or computed."""
    return Estimate(figure.mean, lambda level: 0.0, figure.n, "exact", unit=None)


def of_figure(figure: Figure) -> Estimate:
    """A figure by its own interval."""
    error, df = standard_error(figure)
    half = None if error is None else student(error, df)
    basis = "interval of the table" if half else "no interval"
    return Estimate(figure.mean, half, figure.n, basis, unit=figure.unit)


def of_test(figure: Figure, *, sign: float = 1.0, n: int | None = None) -> Estimate | None:
    """A figure's difference from its reference, by the test of its table; None where that gives no interval.

    The table has the two-sided p value, and no interval of the difference. The one that goes with p has a half-width
    of |difference| · q(level) / q(1 − p), with q the quantile of the test's statistic. That is Student's t with n − 1
    degrees of freedom where seeds are all that varies and normal where examples are; tests over both lie between. The
    wider of the two intervals is taken. At 95 % either leaves out nil exactly where p < 0.05.
    """
    difference, p_value = figure.difference, figure.p_value
    if difference is None or p_value is None:
        return None
    repeats = figure.n if n is None else min(n, figure.n)
    half = _half_width_of_p(difference, p_value, repeats)
    if half is None:
        return None
    p_adjusted = p_value if figure.p_adjusted is None else figure.p_adjusted
    basis = figure.test or "test of the table"
    return Estimate(sign * difference, half, repeats, basis, p_adjusted, True, figure.unit)


def difference(first: Figure, second: Figure, figures: Figures) -> Estimate:
    """First minus second, by the best that the tables have.

    In this order: the test of one against the other; the tests of both against one reference, where the standard error
    of the difference is at most the sum of both, whatever they share; Welch's t test on both intervals, as if the two
    were independent, which for pairs of seeds is wider than need be.
    """
    n = min(first.n, second.n)
    for mine, other, sign in ((first, second, 1.0), (second, first, -1.0)):
        if figures.reference_of(mine) == other:
            tested = of_test(mine, sign=sign, n=n)
            if tested is not None:
                return tested
    return _by_shared_reference(first, second, figures) or combination(
        [first, second], [1.0, -1.0], basis="Welch's t on both intervals"
    )


def combination(
    parts: Sequence[Figure], weights: Sequence[float], *, basis: str, tested: bool = True
) -> Estimate:
    """A weighted sum of independent figures, with degrees of freedom by Welch and Satterthwaite."""
    effect = math.fsum(weight * part.mean for part, weight in zip(parts, weights, strict=True))
    errors = [standard_error(part) for part in parts]
    n, unit = min(part.n for part in parts), parts[0].unit
    if any(error is None for error, _ in errors):
        return Estimate(effect, None, n, "no interval", unit=unit)
    variances = [
        (weight * error) ** 2
        for weight, (error, _) in zip(weights, errors, strict=True)
        if error is not None
    ]
    total = math.fsum(variances)
    shares = sum(v**2 / df for v, (_, df) in zip(variances, errors, strict=True))
    df = total**2 / shares if shares > 0 else math.inf
    error = math.sqrt(total)
    p_value = _two_sided(effect, error, df) if tested else None
    return Estimate(effect, student(error, df), n, basis, p_value, unit=unit)


def standard_error(figure: Figure) -> tuple[float | None, float]:
    """The standard error behind a figure's interval, and its degrees of freedom: infinite over examples of one seed."""
    df = float(figure.n - 1) if figure.n > 1 else math.inf
    half = figure.half_width
    return None if half is None else half / quantile(0.95, df), df


def student(error: float, df: float) -> HalfWidth:
    """Half-widths of Student's interval."""
    return lambda level: error * quantile(level, df)


def quantile(level: float, df: float) -> float:
    """Of Student's t, two-sided; of the normal distribution where the degrees of freedom are infinite."""
    upper = 0.5 + level / 2
    return float(ndtri(upper) if math.isinf(df) else stdtrit(df, upper))


def _two_sided(effect: float, error: float, df: float) -> float:
    if error <= _NIL * max(1.0, abs(effect)):
        # All repeats agree: the effect is nil, or it is beyond doubt.
        return float(abs(effect) <= _NIL)
    t = -abs(effect) / error
    return float(2 * stdtr(1e12 if math.isinf(df) else df, t))


def _half_width_of_p(effect: float, p_value: float, n: int) -> HalfWidth | None:
    if p_value <= 0:
        return lambda level: 0.0
    if p_value >= 1 or effect == 0:
        return None
    degrees = [math.inf, *([float(n - 1)] if n > 1 else [])]

    def half(level: float) -> float:
        ratios = [quantile(level, df) / _quantile_of_p(p_value, df) for df in degrees]
        return abs(effect) * max(ratios)

    return half


def _quantile_of_p(p_value: float, df: float) -> float:
    """Of the two-sided p: from the lower tail, where numbers are fine enough."""
    lower = p_value / 2
    return float(-(ndtri(lower) if math.isinf(df) else stdtrit(df, lower)))


def _by_shared_reference(first: Figure, second: Figure, figures: Figures) -> Estimate | None:
    reference = figures.reference_of(first)
    if reference is None or reference != figures.reference_of(second):
        return None
    if reference in (first, second):
        return None
    one, other = of_test(first), of_test(second)
    if one is None or other is None or one.half_width is None or other.half_width is None:
        return None
    error = (one.half_width(0.95) + other.half_width(0.95)) / quantile(0.95, math.inf)
    effect = one.effect - other.effect
    basis = f"tests of both against {first.reference}"
    p_value = _two_sided(effect, error, math.inf)
    n = min(one.n, other.n)
    return Estimate(effect, student(error, math.inf), n, basis, p_value, unit=first.unit)
