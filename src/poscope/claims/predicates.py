"""What each kind of predicate asks of its rows: from rows to effects, and the bounds that a claim sets them."""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from poscope.claims import kinds
from poscope.claims.contrasts import Contrast
from poscope.claims.effects import directed, minus, named, names
from poscope.claims.estimates import Estimate, difference, of_exact, of_figure, of_test
from poscope.claims.figures import Missing
from poscope.claims.trends import trend
from poscope.claims.variables import Choice, Study


def bound(predicate: kinds.Bound, choice: Choice, study: Study) -> list[Contrast]:
    """A figure against numbers, or against shares of another row's mean."""
    figure = study.figure(predicate.row, choice)
    rows = [figure]
    unit = 1.0
    if predicate.share_of is not None:
        whole = study.figure(predicate.share_of, choice)
        rows.append(whole)
        unit = whole.mean
    estimate = of_exact(figure) if predicate.exact else of_figure(figure)
    low = -math.inf if predicate.above is None else predicate.above * unit
    high = math.inf if predicate.below is None else predicate.below * unit
    refuted_below = _scaled(predicate.refuted_below, unit, low)
    refuted_above = _scaled(predicate.refuted_above, unit, high)
    return [
        Contrast(
            named(figure),
            estimate,
            names(rows),
            low=low,
            high=high,
            refuted_below=refuted_below,
            refuted_above=refuted_above,
        )
    ]


def compared(predicate: kinds.Difference, choice: Choice, study: Study) -> list[Contrast]:
    """One row less another."""
    first = study.figure(predicate.first, choice)
    second = study.figure(predicate.second, choice)
    return [
        directed(
            difference(first, second, study.figures),
            [first, second],
            predicate.direction,
            beyond=predicate.beyond,
            margin=predicate.margin,
        )
    ]


def tested(predicate: kinds.Tested, choice: Choice, study: Study) -> list[Contrast]:
    """A row by the test that its own table made of it."""
    figure = study.figure(predicate.row, choice)
    if figure.difference is None:
        raise Missing(f"no test of {figure.name}")
    estimate = of_test(figure) or Estimate(
        figure.difference, None, figure.n, figure.test, figure.p_adjusted, True, figure.unit
    )
    label = f"{named(figure)} against {figure.reference}"
    return [
        directed(
            estimate,
            [figure],
            predicate.direction,
            beyond=predicate.beyond,
            margin=predicate.margin,
            label=label,
        )
    ]


def ordered(predicate: kinds.Order, choice: Choice, study: Study) -> list[Contrast]:
    """Each row less than the next."""
    found = [study.figure(row, choice) for row in predicate.rows]
    return [
        directed(difference(one, next_one, study.figures), [one, next_one], "less")
        for one, next_one in pairwise(found)
    ]


def equivalent(predicate: kinds.Equivalent, choice: Choice, study: Study) -> list[Contrast]:
    """A row less another, or less a number, within a margin on either side."""
    first = study.figure(predicate.first, choice)
    rows, margin = [first], predicate.margin
    if predicate.second is None:
        own = of_figure(first)
        value = predicate.value or 0.0
        estimate = Estimate(own.effect - value, own.half_width, own.n, own.basis, unit=own.unit)
        label = f"{named(first)} − {value:g}"
    else:
        second = study.figure(predicate.second, choice)
        rows.append(second)
        estimate = difference(first, second, study.figures)
        label = minus(first, second)
        margin *= abs(second.mean) if predicate.of_second else 1.0
    return [
        Contrast(
            label,
            estimate,
            names(rows),
            low=-margin,
            high=margin,
            refuted_below=-margin,
            refuted_above=margin,
            equivalence=True,
        )
    ]


def _scaled(value: float | None, unit: float, default: float) -> float:
    return default if value is None else value * unit


_KINDS: dict[str, Callable[[Any, Choice, Study], list[Contrast]]] = {
    "bound": bound,
    "difference": compared,
    "tested": tested,
    "order": ordered,
    "equivalent": equivalent,
    "trend": trend,
}


def contrasts(predicate: kinds.Predicate, choice: Choice, study: Study) -> list[Contrast]:
    """The effects that a predicate asks for, for one choice of its variables.

    Raises:
        Missing: a row that it needs is not there.
    """
    return partial(_KINDS[predicate.kind], predicate)(choice, study)


def rows_of(predicate: kinds.Predicate) -> list[kinds.Row]:
    """The rows of a predicate that its variables are found by."""
    if isinstance(predicate, kinds.Order):
        return predicate.rows
    if isinstance(predicate, kinds.Trend):
        return []
    named = [getattr(predicate, name, None) for name in ("row", "first", "second", "share_of")]
    return [row for row in named if row is not None]
