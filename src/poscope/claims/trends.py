"""Slopes along lengths of texts, or along the σ that tables start from."""

import math
from collections.abc import Sequence

import numpy as np

from poscope.claims.contrasts import Contrast
from poscope.claims.effects import directed, named
from poscope.claims.estimates import Estimate, combination, difference, quantile, student
from poscope.claims.figures import Figure, Figures, Missing
from poscope.claims.kinds import Trend
from poscope.claims.variables import Choice, Study

_LEAST_POINTS = 3
_DIRECTIONS = {"rises": "greater", "falls": "less"}


def trend(predicate: Trend, choice: Choice, study: Study) -> list[Contrast]:
    """The slope of least squares along values of a key: per step between values, or per unit of a role's numbers.

    With a second row it is that of the difference, whose standard errors go in as those of `difference`.
    """
    points = _points(predicate, choice, study)
    if len(points) < _LEAST_POINTS:
        raise Missing(
            f"{len(points)} of the three points that a trend needs, along {predicate.along}"
        )
    abscissa = np.array([x for x, _ in points])
    centred = abscissa - abscissa.mean()
    weights = [float(weight) for weight in centred / np.square(centred).sum()]
    figures = [figure for _, each in points for figure in each]
    if predicate.minus is None:
        estimate = combination(figures, weights, basis="slope by least squares")
    else:
        pairs = [(first, second) for _, (first, second) in points]
        estimate = _slope_of_differences(pairs, weights, study.figures)
    label = f"slope from {named(figures[0])} to {named(figures[-1])}"
    return [directed(estimate, figures, _DIRECTIONS[predicate.direction], label=label)]


def _points(predicate: Trend, choice: Choice, study: Study) -> list[tuple[float, list[Figure]]]:
    """Abscissa and rows."""
    rows = [predicate.row, *([predicate.minus] if predicate.minus else [])]
    study.figures.values(predicate.row.table, "task")  # a missing table is the better message
    if predicate.role is not None:
        found = study.in_role(predicate.row, choice, predicate.role, predicate.along)
        return [
            (
                study.roles.numbers[name],
                [study.figure(row, {**choice, predicate.along: name}) for row in rows],
            )
            for name, _ in found
        ]
    return [
        (float(place), [study.figure(row, {**choice, predicate.along: value}) for row in rows])
        for place, value in enumerate(predicate.values or [])
    ]


def _slope_of_differences(
    pairs: Sequence[tuple[Figure, Figure]], weights: Sequence[float], figures: Figures
) -> Estimate:
    """A slope of differences that are taken for independent: they are over other test examples at each point."""
    found = [difference(first, second, figures) for first, second in pairs]
    effect = math.fsum(weight * each.effect for weight, each in zip(weights, found, strict=True))
    n = min(each.n for each in found)
    halves = [None if each.half_width is None else each.half_width(0.95) for each in found]
    if any(half is None for half in halves):
        return Estimate(effect, None, n, "no interval", unit=found[0].unit)
    squares = [(weight * (half or 0.0)) ** 2 for weight, half in zip(weights, halves, strict=True)]
    # Half-widths at 95 % add up as standard errors do; whatever each is made of, their sum is nearly normal.
    error = math.sqrt(math.fsum(squares)) / quantile(0.95, math.inf)
    return Estimate(
        effect, student(error, math.inf), n, "slope by least squares", unit=found[0].unit
    )
