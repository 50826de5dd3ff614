"""Intervals from what tables hold, against tests computed from the runs themselves."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from poscope.claims.contrasts import Contrast, adjusted, decide, repeats_needed
from poscope.claims.estimates import Estimate, combination, difference, of_test, quantile, student
from poscope.claims.figures import Figure, Figures
from poscope.evaluation.intervals import summarise
from poscope.evaluation.significance import paired_t
from tests.support.claim_tables import Value, Versus, tables

FIRST = [0.81, 0.84, 0.79, 0.88, 0.83]
SECOND = [0.80, 0.79, 0.78, 0.81, 0.80]


def figure(values: list[float], name: str, others: list[float] | None = None) -> Figure:
    """The row of an encoding, compared with `other` where it is tested."""
    summary = summarise(values)
    assert summary.mean is not None
    keys = {"task": "t", "encoding": name, "bucket": "all"}
    found = Figure("classification", keys, "accuracy", summary.mean, summary.low, summary.high, 5)
    if others is None:
        return found
    test = paired_t(values, others)
    return Figure(
        *(found.table, keys, "accuracy", found.mean, found.low, found.high, 5, "other"),
        difference=test.difference,
        p_value=test.p_value,
        p_adjusted=test.p_value,
        test=test.test,
    )


def interval(estimate: Estimate | None, level: float) -> tuple[float, float]:
    """That of an estimate that has one."""
    assert estimate is not None
    found = estimate.interval(level)
    assert found is not None
    return found


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_interval_of_a_paired_test_covers_the_true_one(level: float) -> None:
    """Student's interval of the differences is one of the two that are possible: the estimate is at least as wide."""
    true = stats.ttest_rel(FIRST, SECOND).confidence_interval(level)
    low, high = interval(of_test(figure(FIRST, "one", SECOND)), level)
    assert low <= true.low + 1e-12
    assert high >= true.high - 1e-12


def test_interval_of_a_paired_test_is_the_true_one_where_it_should_be() -> None:
    """Beyond 1 − p few degrees of freedom widen more than many, and t over seeds is what the estimate takes."""
    test = stats.ttest_rel(FIRST, SECOND)
    true = test.confidence_interval(0.99)
    assert test.pvalue > 0.01
    assert interval(of_test(figure(FIRST, "one", SECOND)), 0.99) == pytest.approx(true)


@given(
    effect=st.floats(0.01, 100),
    p_value=st.floats(1e-12, 0.9),
    n=st.integers(1, 40),
    sign=st.sampled_from([1.0, -1.0]),
)
def test_interval_and_p_value_agree(effect: float, p_value: float, n: int, sign: float) -> None:
    """The 95 % interval leaves out nil exactly where p < 0.05."""
    assume(abs(p_value - 0.05) > 1e-6)
    keys = {"task": "t", "encoding": "one", "bucket": "all"}
    row = Figure("classification", keys, "accuracy", 0.5, None, None, n, "other", effect, p_value)
    low, high = interval(of_test(row, sign=sign), 0.95)
    assert (low > 0 or high < 0) == (p_value < 0.05)
    assert (low + high) / 2 == pytest.approx(sign * effect)


def test_no_interval_where_the_test_says_nothing_of_it() -> None:
    """A p value of 1, or a difference of nil, goes with any spread."""
    keys = {"task": "t", "encoding": "one", "bucket": "all"}
    for effect, p_value in ((0.1, 1.0), (0.0, 0.5)):
        row = Figure("classification", keys, "accuracy", 0.5, None, None, 1, "o", effect, p_value)
        assert of_test(row) is None


def test_two_rows_without_a_test_are_compared_by_welch() -> None:
    """From means and intervals alone, what scipy finds from the runs."""
    found = difference(figure(FIRST, "one"), figure(SECOND, "other"), Figures({}))
    true = stats.ttest_ind(FIRST, SECOND, equal_var=False)
    assert found.p_value == pytest.approx(true.pvalue)
    assert interval(found, 0.95) == pytest.approx(true.confidence_interval(0.95))
    assert found.effect == pytest.approx(np.mean(FIRST) - np.mean(SECOND))


def test_an_interval_that_was_cut_off_is_taken_by_its_other_side() -> None:
    """An accuracy of 0.99 ± 0.03 is written as 0.96 to 1."""
    keys = {"task": "t", "encoding": "one", "bucket": "all"}
    assert Figure("classification", keys, "accuracy", 0.99, 0.96, 1.0, 3).half_width == (
        pytest.approx(0.03)
    )


def _study(**versus: Versus) -> Figures:
    rows: dict[str, Value] = {
        f"classification/t/{name}/accuracy": value for name, value in versus.items()
    }
    return Figures(tables({"classification/t/other/accuracy": 0.5, **rows}, p_value=0.01))


def test_a_row_and_its_reference_are_compared_by_the_test_of_their_table() -> None:
    """With the sign that the order of the two asks for, and the p value that is corrected already."""
    figures = _study(one=Versus(0.2, "other", mean=0.7))
    one = figures.find(
        "classification", {"task": "t", "encoding": "one", "bucket": "all"}, "accuracy"
    )
    other = figures.find(
        "classification", {"task": "t", "encoding": "other", "bucket": "all"}, "accuracy"
    )
    for first, second, effect in ((one, other, 0.2), (other, one, -0.2)):
        found = difference(first, second, figures)
        assert (found.effect, found.p_value, found.adjusted) == (effect, 0.01, True)


def test_two_rows_with_one_reference_have_at_most_the_sum_of_their_errors() -> None:
    """Whatever the two share: the bound holds in simulated runs that are correlated."""
    figures = _study(one=Versus(0.2, "other", mean=0.7), two=Versus(0.1, "other", mean=0.6))
    one, two = (
        figures.find("classification", {"task": "t", "encoding": name, "bucket": "all"}, "accuracy")
        for name in ("one", "two")
    )
    found = difference(one, two, figures)
    halves = [
        interval(of_test(each), 0.95)[1] - (of_test(each) or found).effect for each in (one, two)
    ]
    low, high = interval(found, 0.95)
    assert found.effect == pytest.approx(0.1)
    assert (high - low) / 2 == pytest.approx(sum(halves))
    assert "both against other" in found.basis


def test_a_weighted_sum_has_the_weights_of_its_errors() -> None:
    """A slope of three rows with errors of their own, by hand."""
    parts = [figure([value - 0.01, value, value + 0.01], str(value)) for value in (0.2, 0.5, 0.9)]
    weights = [-0.5, 0.0, 0.5]
    found = combination(parts, weights, basis="slope")
    errors = [(part.half_width or 0.0) / quantile(0.95, 4) for part in parts]
    expected = math.sqrt(sum((w * e) ** 2 for w, e in zip(weights, errors, strict=True)))
    low, high = interval(found, 0.95)
    assert found.effect == pytest.approx(0.35)
    # Two equal errors have twice the degrees of freedom of one.
    assert (high - low) / 2 == pytest.approx(expected * quantile(0.95, 8))


@pytest.mark.parametrize(("level", "expected"), [(0.95, 18), (0.90, 13)])
def test_how_many_seeds_would_decide(level: float, expected: int) -> None:
    """The least number whose interval is narrower than the gap, and not one fewer."""
    sd, n = 1.0, 3
    half = quantile(level, n - 1) * sd / math.sqrt(n)
    total = repeats_needed(half, n, 0.5, level=level)
    assert total == expected
    for count, enough in ((expected, True), (expected - 1, False)):
        assert (stats.t.ppf(0.5 + level / 2, count - 1) * sd / math.sqrt(count) < 0.5) == enough
    assert repeats_needed(half, n, 0.001, level=level) is None


def _contrast(effect: float, error: float, df: float = 4, **bounds: float) -> Contrast:
    estimate = Estimate(effect, student(error, df), 5, "made up", 0.01, True)
    return Contrast("made up", estimate, ("a",), **bounds)  # type: ignore[arg-type]


def test_equivalence_takes_the_interval_of_90_per_cent() -> None:
    """The two one-sided tests of scipy agree on either side of the bound."""
    differences = np.array(FIRST) - np.array(SECOND)
    error, effect = float(stats.sem(differences)), float(differences.mean())
    for margin in np.linspace(0.03, 0.09, 25):
        sides = [
            stats.ttest_1samp(differences, -margin, alternative="greater").pvalue,
            stats.ttest_1samp(differences, margin, alternative="less").pvalue,
        ]
        bounds = {"low": -margin, "high": margin, "refuted_below": -margin, "refuted_above": margin}
        found = decide(_contrast(effect, error, equivalence=True, **bounds))
        assert (found.decision == "supported") == (max(sides) < 0.05)


@pytest.mark.parametrize(
    ("effect", "decision"),
    [(3.0, "supported"), (-3.0, "contradicted"), (1.0, "undecided"), (-1.0, "undecided")],
)
def test_a_direction_counts_by_the_interval(effect: float, decision: str) -> None:
    """A half-width of t(4) = 2.78."""
    found = decide(_contrast(effect, 1.0, low=0.0, refuted_below=0.0))
    assert found.decision == decision
    assert bool(found.needs) == (decision == "undecided")


def test_a_difference_within_a_margin_contradicts_a_direction() -> None:
    """Shown to be next to nothing, it is no lead, though it may be there."""
    assert decide(_contrast(0.01, 0.001, low=0.0, refuted_below=0.0)).decision == "supported"
    none = _contrast(0.001, 0.001, low=0.0, refuted_below=0.0)
    assert decide(none).decision == "undecided"
    assert decide(_contrast(0.001, 0.001, low=0.0, refuted_below=0.0, margin=0.01)).decision == (
        "contradicted"
    )


def test_a_corrected_p_value_of_the_table_is_needed_too() -> None:
    """The interval knows nothing of how many comparisons there were."""
    for p_value, decision in ((0.04, "supported"), (0.06, "undecided")):
        estimate = Estimate(1.0, student(0.3, 4), 5, "a test, Holm", p_value, True)
        contrast = Contrast("x", estimate, ("a",), low=0.0, refuted_below=0.0, tested=True)
        found = decide(contrast)
        assert found.decision == decision
    assert "1 more seed " in found.needs


def test_comparisons_of_a_claim_are_corrected_by_holm() -> None:
    """Those that a table has corrected are left as they are."""
    estimates = [
        Estimate(1.0, student(0.3, 4), 5, "", p_value, done)
        for p_value, done in ((0.03, False), (0.02, False), (0.04, True))
    ]
    contrasts = [Contrast("x", each, ("a",), low=0.0, tested=True) for each in estimates]
    assert [each.estimate.p_value for each in adjusted(contrasts)] == [0.04, 0.04, 0.04]
    assert [each.estimate.p_value for each in contrasts] == [0.03, 0.02, 0.04]


@pytest.mark.parametrize(
    ("n", "unit", "words"),
    [
        (1, "seeds", "run at least one more of the seeds"),
        (1, None, "more runs give none"),
        (512, "seeds", "more runs give none"),
    ],
)
def test_without_an_interval_it_says_what_would_give_one(
    n: int, unit: str | None, words: str
) -> None:
    """A single seed has none; a figure that was counted never has."""
    estimate = Estimate(1.0, None, n, "no interval", unit=unit)
    found = decide(Contrast("x", estimate, ("a",), low=0.0, refuted_below=0.0))
    assert (found.decision, found.low) == ("undecided", None)
    assert words in found.needs
