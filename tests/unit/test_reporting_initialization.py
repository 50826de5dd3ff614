"""The tables of the initialisation study, from cells and interpretations as other jobs write them."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.errors import PoscopeError
from poscope.evaluation.intervals import summarise
from poscope.evaluation.paired import CROSSED, ONE_SEED, compare_correctness
from poscope.evaluation.significance import corrected_resampled_t, holm, paired_t
from poscope.reporting.cells import reader_tables
from poscope.reporting.cells_table import cells_table, read_cells
from poscope.reporting.contents import FIGURE_TITLES, TABLE_TITLES
from poscope.reporting.initialization import COLUMNS, initialization_table
from poscope.reporting.initialization_interpretations import basis_notes, read_interpretations
from poscope.reporting.initialization_published import Curve, curve_of, read_published
from poscope.reporting.render import latex, markdown, write_csv
from poscope.reporting.report import TableEntry, write_report
from poscope.reporting.tables import read_table
from tests.support.initialization_cells import CONDITIONS, SPLITS, InitializationCells, figure

CHECKOUT = Path(__file__).resolve().parents[2]
PUBLISHED = CHECKOUT / "resources" / "latin_square_initialization.csv"
CAPTIONS = CHECKOUT / "workflow" / "report"
SOURCE = "Ito et al., accuracies by σ"

ENCODINGS = {
    "small": {"kind": "random", "distribution": "normal", "sd": 0.2, "trainable": True},
    "large": {"kind": "random", "distribution": "normal", "sd": 2.0, "trainable": True},
    "grid": {"kind": "sinusoid", "dimensions": 2, "trainable": False, "sd": None},
    "none": {"kind": "zeros", "trainable": False},
}
SHARES = {"small": 0.9, "large": 0.6, "grid": 0.85, "none": 0.4}
LABELS = {"small": "σ = 0.2", "large": "σ = 2.0", "grid": "Sinusoid 2-D", "none": "None"}
LABELS |= {"squares": "Latin squares", "brain": "Brain"}
SEEDS = 3


def right(encoding: str, seed: int) -> dict[str, np.ndarray]:
    """Which puzzles a cell gets right."""
    random = np.random.default_rng([list(ENCODINGS).index(encoding), seed])
    return {split: random.random(size) < SHARES[encoding] for split, size in SPLITS.items()}


def interpretations_of(encoding: str) -> list[dict]:
    place = list(ENCODINGS).index(encoding)
    values = [0.8 - 0.1 * place + 0.01 * seed for seed in range(SEEDS)]
    attention = figure("attention_neighbours", values, chance=0.0, p_value=0.02 * (place + 1))
    if encoding == "none":
        return [attention]
    return [
        figure("cka", values, "1", chance=0.2, p_value=0.001),
        figure("cka", values, "2", chance=0.2, p_value=0.9),
        figure("cka", values, "all", chance=0.25, p_value=0.01 * (place + 1)),
        figure("silhouette_rows", values, chance=-0.1, p_value=0.5),
        attention,
        figure("norm", [1.0, None, None]),
    ]


@pytest.fixture
def cells(tmp_path: Path) -> InitializationCells:
    return InitializationCells(tmp_path)


@pytest.fixture
def study(cells: InitializationCells) -> InitializationCells:
    """Puzzles, four encodings, three seeds, 30 epochs; interpretations come in another order."""
    for encoding in ENCODINGS:
        for seed in range(SEEDS):
            cells.puzzles("squares", encoding, seed, right(encoding, seed))
    for encoding in reversed(ENCODINGS):
        cells.interpret("latin_square", "squares", encoding, interpretations_of(encoding))
    return cells


def table(
    study: InitializationCells,
    family: str = "latin_square",
    *,
    reference: str | None = "small",
    published: Path | None = PUBLISHED,
) -> pd.DataFrame:
    return initialization_table(
        family,
        study.cells,
        study.interpretations,
        published_path=published,
        reference=reference,
        encodings=ENCODINGS,
    )


def only(frame: pd.DataFrame, **keys) -> dict:
    """The one row with these keys."""
    chosen = frame
    for name, value in keys.items():
        chosen = chosen[chosen[name] == value]
    assert len(chosen) == 1, (keys, len(chosen))
    return chosen.to_dict("records")[0]


# --- Scores ----------------------------------------------------------------------------------------------------------


def test_columns_are_the_contract(study):
    frame = table(study)
    assert tuple(frame.columns) == COLUMNS
    assert list(frame.columns) == [
        *("task", "encoding", "split", "condition", "layer", "epoch"),
        *("metric", "mean", "sd", "n", "low", "high"),
        *("reference", "difference", "p_value", "p_adjusted", "test"),
        *("published", "published_epoch", "published_source"),
    ]


def test_scores_are_over_seeds_by_split_and_condition(study):
    frame = table(study)
    for split in SPLITS:
        for place, condition in enumerate(("all", *CONDITIONS)):
            picked = slice(None) if place == 0 else slice(place - 1, None, len(CONDITIONS))
            found = [float(right("large", seed)[split][picked].mean()) for seed in range(SEEDS)]
            expected = summarise(found)
            row = only(frame, encoding="large", split=split, condition=condition)
            assert (row["mean"], row["sd"], row["n"]) == pytest.approx(
                (expected.mean, expected.sd, 3)
            )
            assert row["low"] == pytest.approx(max(expected.low, 0.0))
            assert row["high"] == pytest.approx(min(expected.high, 1.0))
            assert (row["layer"], row["epoch"], row["metric"]) == ("", 30, "accuracy")


def test_published_epochs_have_rows_where_all_seeds_were_evaluated(cells):
    for seed in range(2):
        course = {200: 0.5 + 0.1 * seed, 600: 0.1, 1000: 0.7} if seed else {200: 0.5, 600: 0.1}
        cells.puzzles("squares", "small", seed, right("small", seed), course=course, last=4000)
    frame = table(cells)
    scores = frame[(frame["split"] == "human") & (frame["condition"] == "all")]
    assert scores["epoch"].tolist() == [200, 4000]
    early = only(frame, split="heldout", condition="all", epoch=200)
    assert early["mean"] == pytest.approx(0.55)
    assert (early["published"], early["published_epoch"]) == (0.9874, 200)
    assert table(cells, published=None)["epoch"].unique().tolist() == [4000]


def test_accuracies_are_compared_over_puzzles_and_seeds_by_holm_within_a_split(study):
    frame = table(study)
    for split, size in SPLITS.items():
        found = {}
        for encoding in ("large", "grid", "none"):
            pairs = [(right(encoding, s)[split], right("small", s)[split]) for s in range(SEEDS)]
            differences = [one.astype(float) - other for one, other in pairs]
            ids = [np.arange(size)] * SEEDS
            found[encoding] = compare_correctness(ids, differences, test_per_training=0.0)
        adjusted = holm([each.p_value for each in found.values()])
        for (encoding, each), p_adjusted in zip(found.items(), adjusted, strict=True):
            row = only(frame, encoding=encoding, split=split, condition="all")
            assert row["reference"] == "small"
            assert row["difference"] == pytest.approx(each.difference)
            assert row["difference"] < 0
            assert row["p_value"] == pytest.approx(each.p_value)
            assert row["p_adjusted"] == pytest.approx(p_adjusted)
            assert row["test"] == f"{CROSSED}, Holm"
    parts = frame[(frame["layer"] == "") & (frame["condition"] != "all")]
    assert parts["p_value"].isna().all()
    assert (frame.loc[(frame["encoding"] == "small") & (frame["layer"] == ""), "test"] == "").all()


def test_one_seed_is_compared_over_its_puzzles(cells):
    for encoding in ("small", "none"):
        cells.puzzles("squares", encoding, 0, right(encoding, 0))
    row = only(table(cells), encoding="none", split="heldout", condition="all")
    assert row["test"] == f"{ONE_SEED}, Holm"
    assert np.isnan(row["low"])
    assert row["p_adjusted"] < 0.01


def test_nothing_is_compared_without_a_reference(study):
    frame = table(study, reference=None)
    assert frame.loc[frame["layer"] == "", "reference"].eq("").all()
    assert frame.loc[frame["layer"] == "all", "reference"].ne("").any()


def errors(encoding: str, seeds: int) -> list[float]:
    base = {"small": 0.3, "large": 0.5, "none": 0.9}[encoding]
    random = np.random.default_rng(list(ENCODINGS).index(encoding))
    return [float(base + 0.02 * random.normal()) for _ in range(seeds)]


@pytest.mark.parametrize(("folds", "seeds"), [(5, 10), (5, 3), (1, 4)])
def test_errors_are_compared_over_seeds_corrected_for_folds(cells, folds, seeds):
    for encoding in ("small", "large", "none"):
        for seed, mse in enumerate(errors(encoding, seeds)):
            cells.regression("brain", encoding, seed, mse, folds=folds)
    frame = table(cells, "fmri", published=None)
    assert set(frame["metric"]) == {"r2", "mse"}
    theirs = errors("small", seeds)
    found = [
        paired_t(errors(each, seeds), theirs)
        if folds == 1
        else corrected_resampled_t(errors(each, seeds), theirs, folds=folds)
        for each in ("large", "none")
    ]
    for encoding, each, p_adjusted in zip(
        ("large", "none"), found, holm([each.p_value for each in found]), strict=True
    ):
        row = only(frame, encoding=encoding, metric="mse")
        assert row["difference"] == pytest.approx(each.difference)
        assert row["p_value"] == pytest.approx(each.p_value)
        assert row["p_adjusted"] == pytest.approx(p_adjusted)
        assert row["test"] == f"{each.test}, Holm"
        explained = only(frame, encoding=encoding, metric="r2")
        assert explained["difference"] == pytest.approx(-each.difference)


def test_folds_that_cells_do_not_count_are_the_test_sets_that_differ(cells):
    for encoding in ("small", "large"):
        for seed, mse in enumerate(errors(encoding, 3)):
            path = cells.regression("brain", encoding, seed, mse, folds=5)
            metrics = json.loads(path.read_text())
            del metrics["counts"]
            path.write_text(json.dumps(metrics))
    row = only(table(cells, "fmri", published=None), encoding="large", metric="mse")
    cautious = corrected_resampled_t(errors("large", 3), errors("small", 3), folds=3)
    assert row["p_value"] == pytest.approx(cautious.p_value)


def test_one_seed_of_a_regression_is_not_compared(cells):
    for encoding in ("small", "large"):
        cells.regression("brain", encoding, 0, 0.4)
    frame = table(cells, "network", published=None)
    assert frame["p_value"].isna().all()
    assert frame["n"].tolist() == [1] * 4


def test_rows_follow_tasks_and_encodings_scores_first(study):
    frame = table(study)
    scores = frame[frame["layer"] == ""]
    assert list(dict.fromkeys(scores["encoding"])) == list(ENCODINGS)
    figures = frame[frame["layer"] != ""]
    assert figures.index.min() > scores.index.max()
    assert list(dict.fromkeys(figures["encoding"])) == list(ENCODINGS)


# --- Tables and attention --------------------------------------------------------------------------------------------


def test_figures_are_held_against_permuted_tokens_by_holm_over_encodings(study):
    frame = table(study)
    adjusted = holm([0.01, 0.02, 0.03])
    for place, encoding in enumerate(("small", "large", "grid")):
        row = only(frame, encoding=encoding, metric="cka", layer="all")
        assert (row["split"], row["condition"], row["epoch"]) == ("", "", 30)
        assert row["mean"] == pytest.approx(0.81 - 0.1 * place)
        assert row["difference"] == pytest.approx(row["mean"] - 0.25)
        assert row["p_value"] == pytest.approx(0.01 * (place + 1))
        assert row["p_adjusted"] == pytest.approx(adjusted[place])
        assert (row["reference"], row["test"]) == ("permuted tokens", "permutation of tokens, Holm")


def test_single_layers_are_described_and_not_adjusted(study):
    row = only(table(study), encoding="large", metric="cka", layer="2")
    assert (row["p_value"], row["test"]) == (0.9, "permutation of tokens")
    assert np.isnan(row["p_adjusted"])
    assert row["difference"] == pytest.approx(row["mean"] - 0.2)


def test_undefined_values_leave_fewer_seeds_and_intervals_end_where_figures_can(cells):
    cells.puzzles("squares", "small", 0, right("small", 0))
    values = {"cka": [0.99, 0.2], "moved": [0.1, 3.0], "norm": [None, None], "rsa": [-0.9, 0.9]}
    cells.interpret(
        "latin_square", "squares", "small", [figure(name, each) for name, each in values.items()]
    )
    frame = table(cells)
    assert (only(frame, metric="cka")["low"], only(frame, metric="cka")["high"]) == (0.0, 1.0)
    assert only(frame, metric="moved")["low"] == 0.0
    assert only(frame, metric="moved")["high"] > 3
    assert (only(frame, metric="rsa")["low"], only(frame, metric="rsa")["high"]) == (-1.0, 1.0)
    nothing = only(frame, metric="norm")
    assert nothing["n"] == 0 and np.isnan(nothing["mean"])


def test_notes_say_what_is_no_truth(cells):
    found = [
        figure("attention_functional_connectivity", [0.1], basis="estimate"),
        figure("silhouette_modules", [0.1], basis="derived"),
        figure("attention_fibre_counts", [0.1], basis="structure"),
        figure("cka", [0.1]),
    ]
    cells.interpret("fmri", "brain", "small", found)
    assert basis_notes(read_interpretations(cells.interpretations)) == (
        "Held against what was measured apart from the series: Attention, fibre counts.",
        "Held against what was estimated from the series themselves, which is no truth: "
        "Attention, functional connectivity (estimate).",
        "Held against what was derived here from other measurements: Silhouette, modules.",
    )


# --- What was published ----------------------------------------------------------------------------------------------


def test_published_accuracies_stand_at_the_nearest_epoch_which_is_named(study):
    frame = table(study)
    for encoding, split, condition, published in [
        ("small", "heldout", "all", 0.9874),
        ("small", "human", "ternary", 0.9333),
        ("grid", "human", "ternary", 0.9333),
    ]:
        row = only(frame, encoding=encoding, split=split, condition=condition)
        assert (row["published"], row["published_epoch"]) == (published, 200)
        assert row["published_source"] == SOURCE
    nothing = only(frame, encoding="none", split="human", condition="all")
    assert np.isnan(nothing["published"]) and pd.isna(nothing["published_epoch"])
    assert frame.loc[frame["layer"] != "", "published"].isna().all()


def test_a_task_without_all_published_splits_has_other_puzzles(cells):
    cells.puzzles("own", "small", 0, {"heldout": right("small", 0)["heldout"]})
    cells.puzzles("squares", "small", 0, right("small", 0))
    frame = table(cells)
    assert frame.loc[frame["task"] == "own", "published"].isna().all()
    assert frame.loc[frame["task"] == "squares", "published"].notna().all()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, Curve("learned", 0.3)),
        ({"sd": 0.1 + 0.2}, Curve("learned", 0.3)),
        ({"distribution": "uniform"}, None),
        ({"trainable": False}, None),
        ({"kind": "table"}, None),
        ({"kind": "sinusoid", "dimensions": 2, "trainable": False}, Curve("sinusoid-2d")),
        ({"kind": "sinusoid", "dimensions": 2}, None),
        ({"kind": "sinusoid", "dimensions": 1, "trainable": False}, None),
    ],
)
def test_which_published_curve_an_encoding_goes_with(change, expected):
    made = {"kind": "random", "distribution": "normal", "sd": 0.3, "trainable": True} | change
    assert curve_of(made) == expected


def test_the_published_file_holds_every_figure_once():
    found = read_published(PUBLISHED)
    assert len(found.rows) == 21 * 2 * 4 * 3
    assert found.epochs == [200, 1000, 4000]
    assert found.splits == {"heldout", "human"}
    sigmas = [row.curve.sigma for row in found.learned("human", "all", 4000)]
    assert sigmas == [round(0.1 * k, 1) for k in range(1, 21)]
    assert {row.source for row in found.rows} == {SOURCE}
    at = found.nearest(Curve("learned", 0.2), "heldout", "all", 4000)
    assert at is not None and (at.mean, at.sd) == (0.9861, 0.0103)
    at = found.nearest(Curve("sinusoid-2d"), "human", "quaternary", 200)
    assert at is not None and (at.mean, at.sd) == (0.9259, 0.1513)


@given(st.integers(min_value=1, max_value=10_000))
def test_no_published_epoch_is_nearer_than_the_nearest(epoch):
    found = read_published(PUBLISHED).nearest(Curve("learned", 1.0), "human", "all", epoch)
    assert found is not None
    assert abs(found.epoch - epoch) == min(abs(each - epoch) for each in (200, 1000, 4000))


HEAD = "encoding,sigma,split,condition,epoch,seeds,accuracy_mean,accuracy_sd,source\n"
LINE = "learned,0.2,human,all,200,15,0.9,0.1,someone\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("encoding,sigma\n", "the header should be encoding,sigma,split"),
        (HEAD + LINE + LINE, "learned, 0.2, human, all, 200 stands there twice"),
        (HEAD + LINE.replace("0.9,", "much,"), "a published figure is no number"),
        (HEAD + LINE.replace("0.9,", "nan,"), "a published figure is no number"),
        (HEAD + "learned,0.2\n", "a published figure is no number"),
    ],
)
def test_faulty_published_accuracies_are_refused(tmp_path, content, words):
    path = tmp_path / "published.csv"
    path.write_text(content)
    with pytest.raises(PoscopeError, match=words):
        read_published(path)


# --- For readers -----------------------------------------------------------------------------------------------------


def test_the_csv_is_read_back_as_it_was(study, tmp_path):
    frame = table(study)
    write_csv(frame, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as stream:
        first = next(csv.DictReader(stream))
    assert (first["layer"], first["epoch"], first["published_epoch"]) == ("", "30", "200")
    again = read_table(tmp_path / "a.csv")
    pd.testing.assert_frame_equal(frame, again, check_dtype=False)
    assert (again["epoch"].dtype, str(again["published_epoch"].dtype)) == ("int64", "Int64")
    write_csv(again, tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_readers_have_a_block_for_each_question(study):
    blocks = {each.name: each for each in reader_tables(table(study), LABELS)}
    assert list(blocks) == ["heldout", "human", "layout", "groups", "attention", "movement"]
    heldout = blocks["heldout"]
    assert heldout.title == "Accuracy on held-out puzzles after 30 epochs"
    assert heldout.keys == ("Encoding",)
    assert [column.title for column in heldout.columns] == ["all", *CONDITIONS]
    assert [row.keys for row in heldout.rows] == [(LABELS[name],) for name in ENCODINGS]
    assert heldout.rows[0].cells[0].published == "98.74"
    assert f"( ) published figure: {SOURCE}, after 200 epochs." in heldout.notes
    assert [row.keys[0] for row in blocks["layout"].rows] == ["σ = 0.2", "σ = 2.0", "Sinusoid 2-D"]
    assert [row.keys[0] for row in blocks["attention"].rows][-1] == "None"
    assert blocks["attention"].columns[0].title == "Attention, neighbours"
    assert any("permuted tokens" in note for note in blocks["layout"].notes)
    assert blocks["movement"].notes[-1].startswith("Headline figures only")


def test_epochs_stand_side_by_side_and_their_published_figures_are_of_the_same(cells):
    course = {200: 0.5, 1000: 0.75}
    cells.puzzles("squares", "small", 0, right("small", 0), course=course, last=4000)
    blocks = {each.name: each for each in reader_tables(table(cells), LABELS)}
    by_epoch = blocks["human_by_epoch"]
    assert [column.title for column in by_epoch.columns] == ["200", "1,000", "4,000"]
    assert [cell.value for cell in by_epoch.rows[0].cells][:2] == ["50.0", "75.0"]
    assert [cell.published for cell in by_epoch.rows[0].cells] == ["95.37", "95.62", "95.56"]
    assert f"( ) published figure: {SOURCE}, after as many epochs." in by_epoch.notes


def test_several_tasks_have_blocks_of_their_own(cells):
    for task in ("brain", "other"):
        for seed in range(2):
            cells.regression(task, "small", seed, 0.25)
    tables = reader_tables(table(cells, "fmri", published=None), LABELS)
    assert [each.name for each in tables] == ["brain_scores", "other_scores"]
    assert tables[0].title == "Brain: scores on held-out data after 30 epochs"
    assert [column.heading for column in tables[0].columns] == ["R² ↑", "MSE ↓"]


def test_markdown_latex_and_report_show_the_same_figures(study, tmp_path):
    frame = table(study)
    text = markdown(frame, LABELS, title="Latin squares")
    assert "| Sinusoid 2-D |" in text and "### Tables and where tokens truly lie" in text
    tex = latex(frame, LABELS, title="Latin squares", name="squares")
    assert r"$\sigma$ = 0.2" in tex and "σ" not in tex.replace("accuracies by σ", "")
    assert r"\label{tab:squares_heldout}" in tex
    value = reader_tables(frame, LABELS)[0].rows[1].cells[0].value
    assert value in text and value in tex
    write_csv(frame, tmp_path / "squares.csv")
    entry = TableEntry("squares", "Squares", "caption", tmp_path / "squares.csv", labels=LABELS)
    write_report(
        tmp_path / "report.html",
        title="A study",
        tables=[entry],
        figures=[],
        sources=[],
        labels={},
        facts={},
        config_text="",
    )
    page = (tmp_path / "report.html").read_text()
    assert value in page and "Tables and the groups that tokens belong to" in page


def test_the_file_of_all_cells_has_splits_with_their_conditions(study):
    frame = cells_table(read_cells(study.cells[:1]))
    assert frame["test_bucket"].tolist() == [
        f"{split}_{condition}" for split in SPLITS for condition in ("all", *CONDITIONS)
    ]
    assert frame["value"].iloc[0] == right("small", 0)["heldout"].mean()
    assert frame["n"].tolist()[::4] == [60, 30]


NAMES = ("latin_square", "network", "fmri")


@pytest.mark.parametrize(
    "name",
    [
        *(f"table_initialization_{name}" for name in NAMES),
        *(f"figure_{name}" for name in FIGURE_TITLES if name.startswith("initialization")),
    ],
)
def test_every_table_and_figure_has_a_caption(name):
    assert len((CAPTIONS / f"{name}.rst").read_text()) > 300
    assert {
        f"initialization_{each}" for each in NAMES
    } <= TABLE_TITLES.keys() & FIGURE_TITLES.keys()


def test_the_caption_says_that_functional_connectivity_is_no_truth():
    caption = (CAPTIONS / "table_initialization_fmri.rst").read_text()
    assert "Functional connectivity is no truth" in caption and "estimate" in caption


# --- What is refused -------------------------------------------------------------------------------------------------


def test_nothing_to_gather_and_an_unknown_reference_are_clear_errors(cells, study):
    with pytest.raises(PoscopeError, match="the reference 'other' is not among the encodings"):
        table(study, reference="other")
    with pytest.raises(PoscopeError, match="there are no cells to gather"):
        initialization_table("network", [], [], published_path=None, reference=None, encodings={})


def test_cells_that_do_not_belong_together_are_refused(cells):
    cells.puzzles("squares", "small", 0, right("small", 0))
    cells.puzzles("squares", "large", 0, right("large", 0), last=31)
    with pytest.raises(PoscopeError, match=r"was trained for 30 epochs, .* for 31: delete both"):
        table(cells)


def test_other_puzzles_are_not_compared(cells):
    alone = {"heldout": right("small", 0)["heldout"]}
    cells.puzzles("squares", "small", 0, alone)
    cells.puzzles("squares", "large", 0, alone, ids=np.arange(SPLITS["heldout"]) + 1)
    with pytest.raises(PoscopeError, match="were not tested on the same examples"):
        table(cells)


def test_a_cell_of_another_family_and_a_lost_column_are_named(cells):
    path = cells.regression("brain", "small", 0, 0.5)
    with pytest.raises(PoscopeError, match="has no accuracy: it is of another kind of task"):
        table(cells)
    (path.parent / "history.parquet").write_bytes(b"")
    with pytest.raises(PoscopeError, match=r"cannot read .*history\.parquet"):
        table(cells, "fmri", published=None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"family": "fmri"}, "family 'fmri', not 'latin_square'"),
        ({"encoding": "other"}, "other on squares was interpreted, but has no cells here"),
        ({"figures": [{"metric": "cka"}]}, "is no interpretation of tables and attention"),
        ({"figures": None}, "is no interpretation of tables and attention"),
    ],
)
def test_faulty_interpretations_are_refused(study, change, words):
    path = study.interpretations[0]
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(PoscopeError, match=words):
        table(study)


def test_two_interpretations_of_one_encoding_are_refused(study):
    study.interpretations.append(study.interpretations[0])
    with pytest.raises(PoscopeError, match="are both of none on squares"):
        table(study)
