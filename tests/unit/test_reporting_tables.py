"""The tidy tables of the probes: rows, comparisons, published figures."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poscope.errors import PoscopeError
from poscope.reporting.render import write_csv
from poscope.reporting.tables import COLUMNS, probe_table, read_table

HEADER = "table,model,metric,value,source\n"
SETTINGS = {"positions": 8, "seed": 0, "repeats": 2}


def figure(metric: str, values: list[float] | None, folds: int | None = None) -> dict[str, Any]:
    """A figure as a probe writes it; without values it is undefined."""
    if values is None:
        nothing = dict.fromkeys(("mean", "sd", "low", "high"))
        return {
            "metric": metric,
            **nothing,
            "n": 0,
            "values": [],
            "undefined": "no reason",
            "folds": folds,
        }
    mean = sum(values) / len(values)
    numbers = {"mean": mean, "sd": 0.5, "low": mean - 1, "high": mean + 1}
    return {
        "metric": metric,
        **numbers,
        "n": len(values),
        "values": values,
        "undefined": None,
        "folds": folds,
    }


@pytest.fixture
def result(tmp_path: Path) -> Callable[..., Path]:
    def write(model: str, *figures: dict[str, Any], rows: int = 8, **settings: Any) -> Path:
        path = tmp_path / f"{model}.json"
        data = {"probe": "p", "model": model, "table": {"positions": rows, "dim": 4}}
        path.write_text(
            json.dumps({**data, "settings": SETTINGS | settings, "figures": list(figures)})
        )
        return path

    return write


@pytest.fixture
def gather(tmp_path: Path) -> Callable[..., dict[tuple[str, str], dict[str, Any]]]:
    """Rows of a table by (model, metric)."""

    def rows(
        *paths: Path, reference: str | None = "base", published: str = "", table: str = "order"
    ):
        file = tmp_path / "published.csv"
        file.write_text(HEADER + published)
        frame = probe_table(paths, reference=reference, published=file, table=table)
        assert tuple(frame.columns) == COLUMNS
        return {(row["model"], row["metric"]): row for row in frame.to_dict("records")}

    return rows


def test_columns_are_the_contract():
    identity = "model metric mean sd n low high"
    comparison = "reference difference p_value p_adjusted test published published_source"
    assert list(COLUMNS) == f"{identity} {comparison}".split()


def test_the_csv_is_exact(result, tmp_path: Path):
    published = tmp_path / "published.csv"
    published.write_text(
        HEADER + "order,base,mae,0.25,Someone 2020\ndistance,base,mae,7,Elsewhere\n"
    )
    paths = [
        result("one", figure("mae", [0.5, 3.0]), figure("r2", None)),
        result("base", figure("mae", [0.0, 1.0]), figure("r2", [0.5])),
    ]
    frame = probe_table(paths, reference=None, published=published, table="order")
    write_csv(frame, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes().decode() == (
        ",".join(COLUMNS) + "\n"
        "one,mae,1.75,0.5,2,0.75,2.75,,,,,,,\n"
        "one,r2,,,0,,,,,,,,,\n"
        "base,mae,0.5,0.5,2,-0.5,1.5,,,,,,0.25,Someone 2020\n"
        "base,r2,0.5,0.5,1,-0.5,1.5,,,,,,,\n"
    )


def test_floats_are_written_in_full_and_read_back_as_they_were(result, tmp_path: Path):
    published = tmp_path / "published.csv"
    published.write_text(HEADER)
    paths = [
        result("nan", figure("mae", [0.1, 0.2, 0.4]), figure("r2", None)),
        result("na", figure("mae", [1 / 3, 2 / 7, 1e-17]), figure("r2", [1e300, 2.5])),
    ]
    frame = probe_table(paths, reference="na", published=published, table="order")
    write_csv(frame, tmp_path / "one.csv")
    again = read_table(tmp_path / "one.csv")
    write_csv(again, tmp_path / "two.csv")
    assert again.equals(frame)
    assert list(again["model"]) == ["nan", "nan", "na", "na"]
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_paired_t_by_hand_and_holm_over_the_models_of_one_metric(result, gather):
    # Two repeats have one degree of freedom, where p = 1 - 2/pi * atan(t). Differences (d - 1, d + 1) have t = d.
    rows = gather(
        result("a", figure("mae", [0.0, 2.0]), figure("r2", [49.0, 51.0])),
        result("base", figure("mae", [0.0, 0.0]), figure("r2", [0.0, 0.0])),
        result("b", figure("mae", [19.0, 21.0]), figure("r2", None)),
        result("c", figure("mae", [4.0, 6.0]), figure("r2", None)),
    )

    def p_of(t: float) -> float:
        return 1 - 2 / math.pi * math.atan(t)

    assert rows["a", "mae"]["p_value"] == pytest.approx(p_of(1)) == pytest.approx(0.5)
    assert rows["b", "mae"]["p_value"] == pytest.approx(p_of(20))
    assert rows["c", "mae"]["p_value"] == pytest.approx(p_of(5))
    # Holm: the smallest of three times 3, the next times 2, the largest as it is.
    assert rows["b", "mae"]["p_adjusted"] == pytest.approx(3 * p_of(20))
    assert rows["c", "mae"]["p_adjusted"] == pytest.approx(2 * p_of(5))
    assert rows["a", "mae"]["p_adjusted"] == pytest.approx(0.5)
    # Another metric is a family of its own.
    assert rows["a", "r2"]["p_adjusted"] == rows["a", "r2"]["p_value"] == pytest.approx(p_of(50))
    assert rows["b", "mae"]["difference"] == 20.0
    assert rows["b", "mae"]["reference"] == "base"
    assert rows["b", "mae"]["test"] == "paired t, Holm"


def test_repeats_of_cross_validation_are_corrected_for_what_they_share(result, gather):
    # Variance of the mean times (1/2 + 1/4) instead of 1/2: t shrinks by sqrt(1.5).
    rows = gather(
        result("base", figure("mae", [0.0, 0.0], folds=5)),
        result("a", figure("mae", [4.0, 6.0], folds=5)),
    )
    assert rows["a", "mae"]["p_value"] == pytest.approx(
        1 - 2 / math.pi * math.atan(5 / math.sqrt(1.5))
    )
    assert rows["a", "mae"]["test"] == "corrected resampled t, Holm"


@pytest.mark.parametrize(
    ("other", "rows", "settings"),
    [
        (figure("mae", [1.0, 2.0, 3.0], folds=5), 8, {}),
        (figure("mae", [1.0, 2.0], folds=4), 8, {}),
        (figure("mae", [1.0, 2.0]), 8, {}),
        (figure("mae", [1.0, 2.0], folds=5), 7, {}),
        (figure("mae", [1.0, 2.0], folds=5), 8, {"seed": 1}),
        (figure("mae", None), 8, {}),
        (figure("r2", [1.0, 2.0], folds=5), 8, {}),
    ],
    ids=["repeats", "folds", "no folds", "positions", "seed", "undefined", "absent"],
)
def test_what_makes_no_pairs_is_not_compared(result, gather, other, rows, settings):
    found = gather(
        result("base", figure("mae", [0.0, 1.0], folds=5)),
        result("a", other, rows=rows, **settings),
    )
    row = found["a", "mae"]
    assert (row["reference"], row["test"]) == ("", "")
    assert all(math.isnan(row[name]) for name in ("difference", "p_value", "p_adjusted"))


def test_a_longer_table_is_compared_over_the_positions_probed(result, gather):
    rows = gather(
        result("base", figure("mae", [0.0, 1.0]), rows=8),
        result("a", figure("mae", [4.0, 6.0]), rows=1024),
    )
    assert rows["a", "mae"]["difference"] == 4.5


def test_one_run_or_none_is_not_compared_and_the_reference_not_with_itself(result, gather):
    rows = gather(
        result("base", figure("mae", [1.0]), figure("r2", [1.0, 2.0])),
        result("a", figure("mae", [2.0]), figure("r2", [1.0, 2.0])),
    )
    assert rows["a", "mae"]["reference"] == ""
    assert rows["base", "r2"]["reference"] == ""
    assert rows["a", "r2"]["p_value"] == 1.0


def test_every_model_has_a_row_for_every_metric_in_the_order_given(result, gather):
    rows = gather(
        result("b", figure("breaks", [1.0])),
        result("a", figure("breaks", [2.0]), figure("break_position", [128.0])),
        reference=None,
    )
    assert list(rows) == [
        ("b", "breaks"),
        ("b", "break_position"),
        ("a", "breaks"),
        ("a", "break_position"),
    ]
    assert rows["b", "break_position"]["n"] == 0
    assert math.isnan(rows["b", "break_position"]["mean"])
    assert rows["a", "break_position"]["mean"] == 128.0


def test_published_figures_stand_where_their_table_model_and_metric_do(result, gather):
    paths = [result("a", figure("mae", None), figure("r2", [1.0]))]
    lines = 'order,a,mae,34.5,"One, Table 1"\nspectrum,a,r2,1,Other\norder,z,r2,1,Other\n'
    rows = gather(*paths, reference=None, published=lines)
    assert (rows["a", "mae"]["published"], rows["a", "mae"]["published_source"]) == (
        34.5,
        "One, Table 1",
    )
    assert math.isnan(rows["a", "r2"]["published"])
    assert rows["a", "r2"]["published_source"] == ""


@pytest.mark.parametrize(
    ("published", "words"),
    [("order,a,mae,much,x\n", "no number"), ("order,a,mae,1,x\norder,a,mae,2,y\n", "twice")],
)
def test_faulty_published_figures_are_refused(result, gather, published, words):
    with pytest.raises(PoscopeError, match=words):
        gather(result("a", figure("mae", [1.0])), reference=None, published=published)


def test_bad_input_is_named(result, gather, tmp_path: Path):
    good = result("a", figure("mae", [1.0]))
    with pytest.raises(PoscopeError, match=r"reference 'base' is not among its models \(a\)"):
        gather(good)
    with pytest.raises(PoscopeError, match="another result of 'a'"):
        gather(good, good, reference=None)
    with pytest.raises(PoscopeError, match="no results"):
        gather(reference=None)
    with pytest.raises(PoscopeError, match=r"cannot read .*nothing\.json"):
        gather(tmp_path / "nothing.json", reference=None)
    half = tmp_path / "half.json"
    half.write_text('{"model": "a", "fig')
    with pytest.raises(PoscopeError, match=r"half\.json is no result of a probe"):
        gather(half, reference=None)


@pytest.mark.parametrize(
    "text", ["", "model,metric\na,b\n", ",".join(COLUMNS) + "\na,mae,x,,1" + "," * 9 + "\n"]
)
def test_what_is_no_tidy_table_is_refused(tmp_path: Path, text: str):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(PoscopeError, match="no tidy table"):
        read_table(tmp_path / "t.csv")
