"""Whether the controls held."""

import pandas as pd
import pytest

from poscope.reporting.controls import control_outcomes

LABELS = {
    "classification": {"sinusoid": "Sinusoid", "zeros": "Zeros", "random": "Random"},
    "translation": {"sinusoid--zeros": "Sinusoid → None", "zeros--sinusoid": "None → Sinusoid"},
}
NONE = float("nan")


def table(task, metric, means, others=()):
    rows = [
        {"task": task, "encoding": name, "bucket": "all", "metric": metric, "mean": mean}
        for name, mean in means.items()
    ]
    return pd.DataFrame([*rows, *others])


def outcomes(tables, grammars):
    return control_outcomes(tables, grammars=grammars, without_positions={"zeros"}, labels=LABELS)


def judge(grammar, **means):
    (control,) = outcomes({"classification": table("t", "accuracy", means)}, {"t": grammar})
    return control


def judge_translation(**means):
    pairs = {name.replace("__", "--"): mean for name, mean in means.items()}
    # Scores that no control is judged by.
    others = [
        {"task": "t", "encoding": "sinusoid--zeros", "metric": "chrf", "mean": 1.0},
        {"task": "multi30k", "encoding": "sinusoid--zeros", "metric": "bleu", "mean": 1.0},
    ]
    tables = {"translation": table("t", "bleu", pairs, others)}
    (control,) = outcomes(tables, {"t": "reordering"})
    return control


def test_order_holds_at_chance_without_positions_and_solved_with_any():
    control = judge("order", zeros=0.51, sinusoid=0.99, random=0.95)
    assert control.held
    assert control.text.endswith("Zeros 0.510, Sinusoid 0.990, Random 0.950")


@pytest.mark.parametrize(
    ("means", "words"),
    [
        ({"zeros": 0.56, "sinusoid": 0.99}, "Zeros has no positions and is not at chance (0.560)"),
        ({"zeros": 0.44, "sinusoid": 0.99}, "Zeros has no positions and is not at chance (0.440)"),
        ({"zeros": 0.5, "sinusoid": 0.94}, "Sinusoid does not solve it (0.940)"),
        ({"zeros": 0.5, "sinusoid": NONE}, "Sinusoid has no figure"),
    ],
)
def test_order_fails_with_the_reason(means, words):
    control = judge("order", **means)
    assert not control.held
    assert control.text == words


def test_bag_holds_where_encodings_agree():
    assert judge("bag", zeros=0.99, sinusoid=0.98).held
    assert not judge("bag", zeros=0.99, sinusoid=0.96).held
    assert not judge("bag", zeros=NONE, sinusoid=0.96).held


def test_reordering_holds_where_the_encoder_s_positions_make_the_difference():
    control = judge_translation(
        sinusoid__sinusoid=99.2, sinusoid__zeros=90.0, zeros__sinusoid=59.9, zeros__zeros=12.0
    )
    assert control.held
    assert control.text == (
        "BLEU below 60 without positions of source words, 90 or more with any: "
        "sinusoid--sinusoid 99.2, Sinusoid → None 90.0, None → Sinusoid 59.9, zeros--zeros 12.0"
    )


@pytest.mark.parametrize(
    ("means", "words"),
    [
        (
            {"sinusoid__zeros": 99.0, "zeros__sinusoid": 60.0},
            "None → Sinusoid has no source positions and translates all the same (60.0)",
        ),
        (
            {"sinusoid__zeros": 89.9, "zeros__sinusoid": 30.0},
            "Sinusoid → None does not learn to translate (89.9)",
        ),
        ({"sinusoid__zeros": NONE, "zeros__sinusoid": 30.0}, "Sinusoid → None has no figure"),
        ({"sinusoid__zeros": 95.0, "zeros__sinusoid": NONE}, "None → Sinusoid has no figure"),
    ],
)
def test_reordering_fails_with_the_reason(means, words):
    control = judge_translation(**means)
    assert not control.held
    assert control.text == words


def test_controls_of_several_experiments_are_judged_by_their_own_tables():
    tables = {
        "classification": table("order", "accuracy", {"zeros": 0.5, "sinusoid": 0.8}),
        "translation": table("reordering", "bleu", {"sinusoid--sinusoid": 98.0}),
    }
    grammars = {"reordering": "reordering", "order": "order"}
    found = outcomes(tables, grammars)
    assert [(each.name, each.held) for each in found] == [("reordering", True), ("order", False)]
    assert outcomes({}, {}) == []
