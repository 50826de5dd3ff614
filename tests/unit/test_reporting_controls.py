"""Whether the controls held."""

import pandas as pd
import pytest

from poscope.reporting.controls import control_outcomes

LABELS = {"sinusoid": "Sinusoid", "zeros": "Zeros", "random": "Random"}


def judge(grammar, **means):
    rows = [
        {"task": "t", "encoding": name, "bucket": "all", "metric": "accuracy", "mean": mean}
        for name, mean in means.items()
    ]
    (control,) = control_outcomes(
        pd.DataFrame(rows), grammars={"t": grammar}, without_positions={"zeros"}, labels=LABELS
    )
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
        ({"zeros": 0.5, "sinusoid": float("nan")}, "Sinusoid has no figure"),
    ],
)
def test_order_fails_with_the_reason(means, words):
    control = judge("order", **means)
    assert not control.held
    assert control.text == words


def test_bag_holds_where_encodings_agree():
    assert judge("bag", zeros=0.99, sinusoid=0.98).held
    assert not judge("bag", zeros=0.99, sinusoid=0.96).held
    assert not judge("bag", zeros="", sinusoid=0.96).held
