"""Verdicts on single effects: is it where the claim puts it, is it surely elsewhere, or can nobody tell yet?"""

import math
from dataclasses import dataclass, replace
from typing import Literal

from poscope.claims.estimates import Estimate, quantile
from poscope.evaluation.significance import holm

ALPHA = 0.05
LEVEL = 0.95
EQUIVALENCE_LEVEL = 0.90
"""Two one-sided tests at 0.05 show equivalence where the 90 % interval lies within the margin (Schuirmann 1987)."""

_MOST_REPEATS = 1000

Decision = Literal["supported", "contradicted", "undecided"]


@dataclass(frozen=True)
class Contrast:
    """An effect, and where a claim puts it.

    Attributes:
        label: what is compared.
        estimate: the effect.
        low: the claim puts the effect above this.
        high: and below this.
        refuted_below: an effect that is surely below this contradicts the claim.
        refuted_above: and one that is surely above this.
        equivalence: whether the claim is that there is no effect worth the name.
        margin: an effect surely within ± this contradicts the claim; None where there is no such.
        tested: whether the p value speaks of this claim's bound.
        rows: names of the rows that the effect was made from.
    """

    label: str
    estimate: Estimate
    rows: tuple[str, ...]
    low: float = -math.inf
    high: float = math.inf
    refuted_below: float = -math.inf
    refuted_above: float = math.inf
    equivalence: bool = False
    margin: float | None = None
    tested: bool = False

    @property
    def level(self) -> float:
        """Of the interval that supports the claim."""
        return EQUIVALENCE_LEVEL if self.equivalence else LEVEL


@dataclass(frozen=True)
class Finding:
    """What came of one effect.

    Attributes:
        contrast: the effect and the claim's bounds.
        decision: supported, contradicted or undecided.
        low: lower end of the interval; None where there is none.
        high: upper end.
        needs: what would decide it; empty where it is decided.
        more: how many more repeats that is, where it is their number.
    """

    contrast: Contrast
    decision: Decision
    low: float | None
    high: float | None
    needs: str
    more: int | None = None


def adjusted(contrasts: list[Contrast]) -> list[Contrast]:
    """Holm's adjustment over those of a claim's tests that no table has adjusted."""
    places = [
        place
        for place, each in enumerate(contrasts)
        if each.tested and each.estimate.p_value is not None and not each.estimate.adjusted
    ]
    values = holm([contrasts[place].estimate.p_value or 0.0 for place in places])
    corrected = list(contrasts)
    for place, value in zip(places, values, strict=True):
        each = contrasts[place]
        corrected[place] = replace(
            each, estimate=replace(each.estimate, p_value=value, adjusted=True)
        )
    return corrected


def decide(contrast: Contrast) -> Finding:
    """Judge one effect by its interval and, where it is tested, by its corrected p value."""
    estimate = contrast.estimate
    interval = estimate.interval(contrast.level)
    if interval is None:
        return Finding(contrast, "undecided", None, None, *_needs(contrast))
    low, high = interval
    significant = not contrast.tested or estimate.p_value is None or estimate.p_value < ALPHA
    decision: Decision = "undecided"
    if contrast.low < low and high < contrast.high and significant:
        decision = "supported"
    elif _refuted(contrast, significant):
        decision = "contradicted"
    needs, more = _needs(contrast) if decision == "undecided" else ("", None)
    return Finding(contrast, decision, low, high, needs, more)


def _refuted(contrast: Contrast, significant: bool) -> bool:
    wide = contrast.estimate.interval(LEVEL)
    narrow = contrast.estimate.interval(EQUIVALENCE_LEVEL)
    if wide is None or narrow is None:
        return False
    elsewhere = wide[1] < contrast.refuted_below or wide[0] > contrast.refuted_above
    margin = contrast.margin
    nil = margin is not None and -margin < narrow[0] and narrow[1] < margin
    return (elsewhere and significant) or nil


def _needs(contrast: Contrast) -> tuple[str, int | None]:
    """What would decide an effect that is undecided; and how many more repeats, if it is their number."""
    estimate = contrast.estimate
    unit = estimate.unit
    if estimate.half_width is None:
        if unit is None or estimate.n > 1:
            return "this figure has no interval, and more runs give none", None
        return f"n = {estimate.n} has no interval: run at least one more of the {unit}", 1
    half = max(estimate.half_width(contrast.level), _half_width_of_corrected_p(contrast))
    gap = _gap(contrast)
    if half == 0:
        return "the figure lies between what supports the claim and what contradicts it", None
    if unit is None:
        words = (
            "the interval is that of one table and does not narrow: only other tables can decide"
        )
        return words, None
    if estimate.n < 2:
        return f"n = {estimate.n}: at least one more of the {unit}, for an interval over {unit}", 1
    total = repeats_needed(half, estimate.n, gap, level=contrast.level)
    if total is None:
        return f"the effect is too close to the bound for {_MOST_REPEATS} {unit} to decide", None
    more = max(1, total - estimate.n)
    few = unit.removesuffix("s") if more == 1 else unit
    return f"about {more} more {few} ({estimate.n + more} in all), if the effect stays", more


def repeats_needed(half_width: float, n: int, gap: float, *, level: float = LEVEL) -> int | None:
    """The number of repeats whose interval is narrower than the gap to the nearest bound; None over 1000.

    Half-widths go with t(N − 1) / √N, t the quantile of their level.
    """
    unscaled = half_width * math.sqrt(n) / quantile(level, n - 1)
    for total in range(2, _MOST_REPEATS + 1):
        if unscaled * quantile(level, total - 1) / math.sqrt(total) < gap:
            return total
    return None


def _gap(contrast: Contrast) -> float:
    """From the effect to the nearest of the claim's bounds."""
    bounds = (contrast.low, contrast.high, contrast.refuted_below, contrast.refuted_above)
    return min(abs(contrast.estimate.effect - bound) for bound in bounds if math.isfinite(bound))


def _half_width_of_corrected_p(contrast: Contrast) -> float:
    """The half-width that goes with the corrected p value, where that is the obstacle."""
    estimate = contrast.estimate
    if not contrast.tested or estimate.p_value is None or not 0 < estimate.p_value < 1:
        return 0.0
    df = estimate.n - 1 if estimate.n > 1 else math.inf
    return abs(estimate.effect) * quantile(LEVEL, df) / quantile(1 - estimate.p_value, df)
