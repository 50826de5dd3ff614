"""Figures of the initialisation study: what is drawn is what the files hold."""

import importlib
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from poscope.datasets.layout import Layout
from poscope.errors import PoscopeError
from poscope.provenance import SOURCE_ROOT, reached_modules
from poscope.reporting.figures import style
from poscope.reporting.initialization import COLUMNS
from poscope.reporting.initialization_published import Curve, read_published
from poscope.reporting.render import write_csv
from poscope.reporting.tidy import tidy_frame
from tests.support.initialization_cells import InitializationCells, grid_layout

PUBLISHED = Path(__file__).resolve().parents[2] / "resources" / "latin_square_initialization.csv"
FIGURES = ("latin_square", "network", "fmri", "layouts", "maps")
SETTINGS = {
    "latin_square": {"height_in": 2.6},
    "network": {"row_height_in": 0.24, "columns": 2},
    "fmri": {"row_height_in": 0.24, "columns": 2},
    "layouts": {
        "height_in": 1.45,
        "metrics": ["cka", "procrustes", "rsa", "silhouette", "moved"],
    },
    "maps": {"encodings": None, "layer": 1},
}
FIXED = {"uniform": "Learned, uniform", "grid": "Sinusoid 2-D", "none": "None"}


def names_of(sigmas):
    return {f"learned_{sigma:.1f}".replace(".", "_"): sigma for sigma in sigmas}


def labels_of(sigmas):
    learned = {name: f"Learned, σ = {sigma:.1f}" for name, sigma in names_of(sigmas).items()}
    return learned | FIXED | {"squares": "Latin squares", "brain": "Brain", "net": "Network"}


def row(task, encoding, metric, mean, **others):
    """A row of a table; an interval of ± 0.02 where there are seeds."""
    n = others.pop("n", 3)
    reach = 0.02 if n > 1 else np.nan
    keys = {"task": task, "encoding": encoding, "split": "", "condition": "", "layer": "all"}
    found = dict.fromkeys(COLUMNS) | dict.fromkeys(("reference", "test", "published_source"), "")
    found |= keys | {"epoch": 30, "metric": metric, "mean": mean, "n": n}
    return found | {"low": mean - reach, "high": mean + reach} | others


def score_rows(task, sigmas, *, seeds=3):
    """Accuracies that fall with σ, and those of other encodings; σ = 1 and `none` differ from the first."""
    means = {name: 1 - 0.25 * sigma for name, sigma in names_of(sigmas).items()}
    reference = next(iter(means))
    means |= {"uniform": 0.94, "grid": 0.97, "none": 0.4}
    rows = []
    for split, shift in (("heldout", 0.0), ("human", -0.1)):
        for condition in ("all", "binary"):
            for name, mean in means.items():
                keys = {"split": split, "condition": condition, "layer": "", "n": seeds}
                if name != reference and condition == "all":
                    p = 0.01 if mean < 0.8 else 0.3
                    keys |= {"reference": reference, "p_adjusted": p, "test": "t, Holm"}
                found = row(task, name, "accuracy", mean + shift, **keys)
                curve = printed_curve(name, sigmas)
                if curve is not None:
                    at = read_published(PUBLISHED).nearest(curve, split, condition, 30)
                    found |= {"published": at.mean, "published_epoch": at.epoch}
                rows += [found, found | {"epoch": 10, "mean": 0.1, "published": None}]
    return rows


def printed_curve(name, sigmas):
    sds = names_of(sigmas)
    if name in sds:
        return Curve("learned", sds[name])
    return Curve("sinusoid-2d") if name == "grid" else None


def figure_rows(task, sigmas, members=("rows", "columns")):
    """CKA falls with σ over a chance of 0.3, and so on; tables that have no σ too."""
    rows = []
    for name, sigma in (names_of(sigmas) | {"uniform": 0.2, "grid": 0.1}).items():
        for metric, mean, chance in [
            ("cka", 0.95 - 0.2 * sigma, 0.3),
            ("procrustes", 0.1 + 0.2 * sigma, 0.8),
            *((f"silhouette_{each}", 0.5 - 0.1 * k, 0.0) for k, each in enumerate(members)),
        ]:
            tested = {"reference": "permuted tokens", "difference": mean - chance, "test": "Holm"}
            rows.append(row(task, name, metric, mean, p_adjusted=0.01, **tested))
            rows.append(row(task, name, metric, 0.0, layer="1"))
        if name != "grid":
            rows.append(row(task, name, "moved", 0.3 / sigma))
    return rows


def written(tmp_path, name, rows):
    path = tmp_path / f"initialization_{name}.csv"
    write_csv(tidy_frame(rows, COLUMNS), path)
    return path


def regression_rows(tasks, sigmas):
    return [
        row(task, name, metric, mean, split="heldout", condition="all", layer="")
        for task in tasks
        for place, name in enumerate([*names_of(sigmas), "none"])
        for metric, mean in (("r2", 0.8 - 0.1 * place), ("mse", 0.2 + 0.1 * place))
    ]


def inputs_of(tmp_path, figure, sigmas):
    if figure == "latin_square":
        return [written(tmp_path, figure, score_rows("squares", sigmas)), PUBLISHED]
    if figure == "layouts":
        first = written(tmp_path, "latin_square", figure_rows("squares", sigmas))
        return [first, written(tmp_path, "fmri", figure_rows("brain", sigmas, ("modules",)))]
    if figure == "maps":
        return map_inputs(tmp_path, sigmas)
    tasks = ("net", "brain") if figure == "network" else ("brain",)
    return [written(tmp_path, figure, regression_rows(tasks, sigmas))]


def tables_of(encoding, sigmas, seed):
    """Rows (layers, 16, dim): those of the grid, with noise by σ."""
    layout = grid_layout()
    noise = names_of(sigmas).get(encoding, 0.0)
    random = np.random.default_rng([seed, int(10 * noise)])
    table = np.repeat(layout.coordinates, 3, axis=1) + 1
    return np.stack([table + noise * random.normal(size=table.shape)] * 2)


def attention_of(encoding, seed, layers=2):
    random = np.random.default_rng([seed, len(encoding)])
    return random.random((layers, 2, 16, 16))


def map_inputs(tmp_path, sigmas):
    cells = InitializationCells(tmp_path)
    paths = []
    for encoding in [*names_of(sigmas), *FIXED]:
        for seed in range(2):
            cell = cells.regression("squares", encoding, seed, 0.1)
            table = None if encoding == "none" else tables_of(encoding, sigmas, seed)
            paths.append(cells.arrays(cell, attention_of(encoding, seed), table))
    return [*paths, cells.layout("squares", grid_layout())]


def draw(figure, inputs, sigmas, **settings):
    module = importlib.import_module(f"poscope.reporting.figures.initialization_{figure}")
    settings = SETTINGS[figure] | {"labels": labels_of(sigmas), "sds": names_of(sigmas)} | settings
    return module.draw(inputs, width_in=6.3, **settings)


def words(page):
    return [each.get_text() for each in page.findobj(Text) if each.get_text()]


def marks(axes, marker="o"):
    """Single marks as (x, y, filled)."""
    lines = [
        line for line in axes.lines if line.get_marker() == marker and len(line.get_xdata()) == 1
    ]
    return [
        (
            round(float(line.get_xdata()[0]), 6),
            round(float(line.get_ydata()[0]), 6),
            to_hex(line.get_markerfacecolor()) != "#ffffff",
        )
        for line in lines
    ]


# --- Accuracy by σ ---------------------------------------------------------------------------------------------------

SIGMAS = (0.2, 1.0, 2.0)


def test_accuracy_is_drawn_at_its_sigma_and_filled_where_it_differs(tmp_path):
    page = draw("latin_square", inputs_of(tmp_path, "latin_square", SIGMAS), SIGMAS)
    curve, strip, human, _ = page.axes
    assert marks(curve) == [(0.2, 0.95, False), (1.0, 0.75, True), (2.0, 0.5, True)]
    assert [y for _, y, _ in marks(human)] == pytest.approx([0.85, 0.65, 0.4])
    assert marks(strip) == [(0, 0.94, False), (1, 0.97, False), (2, 0.4, True)]
    assert [tick.get_text() for tick in strip.get_xticklabels()] == list(FIXED.values())
    bars = [line for line in curve.lines if list(line.get_xdata()) == [1.0, 1.0]]
    assert [tuple(np.round(line.get_ydata(), 6)) for line in bars] == [(0.73, 0.77)]
    assert curve.get_ylabel() == "accuracy after 30 epochs"
    assert curve.get_title(loc="left") == "Held-out puzzles"


def test_the_published_curve_is_drawn_whole_with_its_band_and_its_epoch_is_named(tmp_path):
    page = draw("latin_square", inputs_of(tmp_path, "latin_square", SIGMAS), SIGMAS)
    expected = read_published(PUBLISHED).learned("human", "all", 200)
    human = page.axes[2]
    (dashed,) = [line for line in human.lines if len(line.get_xdata()) == 20]
    np.testing.assert_allclose(dashed.get_xdata(), np.arange(1, 21) / 10)
    np.testing.assert_allclose(dashed.get_ydata(), [each.mean for each in expected])
    (band,) = human.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(min(each.mean - each.sd for each in expected))
    assert "published, after 200 epochs ± sd" in words(page)
    fixed = read_published(PUBLISHED).nearest(Curve("sinusoid-2d"), "human", "all", 200)
    assert [(x, y) for x, y, _ in marks(page.axes[3], "D")] == [(1.35, round(fixed.mean, 6))]


def test_without_the_file_the_published_curve_has_the_points_of_the_table(tmp_path):
    table, _ = inputs_of(tmp_path, "latin_square", SIGMAS)
    page = draw("latin_square", [table], SIGMAS)
    (dashed,) = [line for line in page.axes[0].lines if line.get_linestyle() == "--"]
    assert list(dashed.get_xdata()) == list(SIGMAS)
    assert dashed.get_ydata()[0] == 0.9874
    assert "published, after 200 epochs" in words(page)


def test_one_seed_of_one_sigma_has_a_mark_and_no_interval(tmp_path):
    table = written(tmp_path, "latin_square", score_rows("squares", (0.2,), seeds=1))
    page = draw("latin_square", [table, PUBLISHED], (0.2,))
    assert marks(page.axes[0]) == [(0.2, 0.95, False)]
    assert not [line for line in page.axes[0].lines if list(line.get_xdata()) == [0.2, 0.2]]


@pytest.mark.parametrize(("kept", "panels"), [("learned", 2), ("fixed", 2), ("all", 4)])
def test_there_may_be_learned_tables_alone_or_none(tmp_path, kept, panels):
    rows = score_rows("squares", SIGMAS)
    if kept != "all":
        rows = [each for each in rows if (each["encoding"] in FIXED) == (kept == "fixed")]
    page = draw("latin_square", [written(tmp_path, "latin_square", rows)], SIGMAS)
    assert len(page.axes) == panels


def test_every_task_has_a_row(tmp_path):
    rows = score_rows("squares", SIGMAS) + score_rows("net", SIGMAS)
    page = draw("latin_square", [written(tmp_path, "latin_square", rows)], SIGMAS)
    assert len(page.axes) == 8
    assert page.axes[4].get_ylabel() == "Network: accuracy after 30 epochs"


# --- Scores of regressions -------------------------------------------------------------------------------------------


def test_each_task_and_score_has_a_panel(tmp_path):
    page = draw("network", inputs_of(tmp_path, "network", SIGMAS), SIGMAS)
    titles = [axes.get_title(loc="left") for axes in page.axes]
    assert titles == ["Network: R² ↑", "Network: MSE ↓", "Brain: R² ↑", "Brain: MSE ↓"]
    assert [x for x, *_ in marks(page.axes[0])] == pytest.approx([0.8, 0.7, 0.6, 0.5])
    assert [x for x, *_ in marks(page.axes[3])] == pytest.approx([0.2, 0.3, 0.4, 0.5])


# --- Layouts ---------------------------------------------------------------------------------------------------------


def test_figures_are_drawn_against_sigma_over_permuted_tokens(tmp_path):
    page = draw("layouts", inputs_of(tmp_path, "layouts", SIGMAS), SIGMAS)
    grid = np.reshape(page.axes, (2, 5))
    cka = grid[0, 0]
    chance, curve = [line for line in cka.lines if len(line.get_xdata()) == 3]
    assert list(curve.get_xdata()) == list(SIGMAS)
    np.testing.assert_allclose(curve.get_ydata(), [0.91, 0.75, 0.55])
    np.testing.assert_allclose(chance.get_ydata(), [0.3] * 3)
    assert [y for _, y, _ in marks(cka, "<")] == pytest.approx([0.91, 0.93])
    titles = [axes.get_title(loc="left") for axes in grid[:, 3]]
    assert titles == ["Silhouette ↑\nrows, columns\n(dashed)", "Silhouette ↑\nmodules"]
    both = [line for line in grid[0, 3].lines if line.get_marker() in ("o", "s")]
    assert [line.get_ydata()[0] for line in both] == [0.5, 0.4]
    assert "undefined" in [text.get_text() for text in grid[0, 2].texts]  # no correlations there
    assert [axes.get_ylabel() for axes in grid[:, 0]] == ["Latin squares", "Brain"]


def test_moved_starts_from_nought_and_one_sigma_lies_in_the_middle(tmp_path):
    page = draw("layouts", inputs_of(tmp_path, "layouts", (0.5,)), (0.5,))
    moved = page.axes[4]
    assert moved.get_ylim()[0] == 0 < 0.6 < moved.get_ylim()[1]
    assert moved.get_xlim() == (0.0, 1.0)
    (stroke,) = [line for line in page.axes[0].lines if line.get_marker() == "_"]
    assert list(stroke.get_ydata()) == pytest.approx([0.3])


# --- Maps ------------------------------------------------------------------------------------------------------------


def panels_of(page):
    return [axes for axes in page.axes if axes.images]


def test_maps_are_means_over_seeds_beside_the_truth(tmp_path):
    page = draw("maps", map_inputs(tmp_path, SIGMAS), SIGMAS, layer=2)
    shown = [np.asarray(axes.images[0].get_array()) for axes in panels_of(page)]
    layout = grid_layout()
    np.testing.assert_array_equal(shown[0], -layout.distances["grid"])
    np.testing.assert_array_equal(shown[4], layout.relations["neighbours"])
    chosen = ["learned_0_2", "learned_2_0", "grid"]  # the smallest, the largest, the last fixed one
    for place, encoding in enumerate(chosen, start=1):
        cosines, attention = [], []
        for seed in range(2):
            unit = tables_of(encoding, SIGMAS, seed)[0]
            unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
            cosines.append(unit @ unit.T)
            attention.append(attention_of(encoding, seed)[1].mean(axis=0))
        np.testing.assert_allclose(shown[place], np.mean(cosines, axis=0), atol=1e-5)
        np.testing.assert_allclose(shown[4 + place], np.mean(attention, axis=0), atol=1e-6)
    titles = [axes.get_title(loc="left") for axes in panels_of(page)]
    assert titles[:2] == ["Latin squares\ntruth: nearness, grid", "Learned, σ = 0.2"]
    assert titles[4] == "truth: neighbours"


def test_encodings_may_be_chosen_and_one_without_a_table_says_so(tmp_path):
    inputs = map_inputs(tmp_path, SIGMAS)
    page = draw("maps", inputs, SIGMAS, encodings=["none", "learned_1_0", "elsewhere"])
    assert "no table" in words(page)
    assert {"None", "Learned, σ = 1.0"} <= set(words(page))
    with pytest.raises(PoscopeError, match="no cells of these encodings"):
        draw("maps", inputs, SIGMAS, encodings=["elsewhere"])


def test_the_best_known_relation_is_shown_with_how_it_is_known(tmp_path):
    inputs = map_inputs(tmp_path, SIGMAS)
    near = grid_layout().relations["neighbours"]
    layout = Layout(
        relations={"functional_connectivity": near, "fibre_counts": 2 * near},
        basis={"functional_connectivity": "estimate", "fibre_counts": "structure"},
    )
    InitializationCells(tmp_path).layout("squares", layout)
    page = draw("maps", inputs, SIGMAS)
    assert "structure: fibre counts" in words(page)
    inputs[-1].joinpath("layout.json").write_text('{"basis": {}, "coordinates_from": ""}')
    assert "truth: fibre counts" in words(draw("maps", inputs, SIGMAS))


def test_tokens_without_coordinates_are_drawn_by_group(tmp_path):
    inputs = map_inputs(tmp_path, SIGMAS)
    near = grid_layout().relations["neighbours"]
    groups = np.arange(16) % 2
    InitializationCells(tmp_path).layout(
        "squares", Layout(memberships={"modules": groups}, relations={"coupling": near})
    )
    (_, shown, *_) = [
        np.asarray(axes.images[0].get_array()) for axes in panels_of(draw("maps", inputs, SIGMAS))
    ][3:]
    order = np.concatenate([np.flatnonzero(groups == 0), np.flatnonzero(groups == 1)])
    first = np.mean(
        [attention_of("learned_0_2", seed)[0].mean(axis=0) for seed in range(2)], axis=0
    )
    np.testing.assert_allclose(shown, first[np.ix_(order, order)], atol=1e-6)


def test_a_layer_that_is_not_there_and_a_damaged_file_are_named(tmp_path):
    inputs = map_inputs(tmp_path, SIGMAS)
    with pytest.raises(PoscopeError, match=r"layer: found 3; the network of .* has 2 layers"):
        draw("maps", inputs, SIGMAS, layer=3)
    with pytest.raises(PoscopeError, match="not the folder of its data set"):
        draw("maps", inputs[:-1], SIGMAS)
    inputs[0].write_bytes(b"nothing")
    with pytest.raises(PoscopeError, match=r"cannot read .*interpretability\.safetensors"):
        draw("maps", inputs, SIGMAS)


# --- All of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigmas", [SIGMAS[:1], tuple(k / 10 for k in range(1, 21))])
@pytest.mark.parametrize("figure", FIGURES)
def test_text_lies_on_the_page_and_is_never_smaller_than_seven_points(tmp_path, figure, sigmas):
    page = draw(figure, inputs_of(tmp_path, figure, sigmas), sigmas)
    page.draw_without_rendering()
    ticks = {
        label for axes in page.axes for label in axes.get_xticklabels() + axes.get_yticklabels()
    }
    for text in set(page.findobj(Text)) - ticks:
        if text.get_text() and text.get_visible():
            assert text.get_fontsize() >= 7
            box = text.get_window_extent()
            assert box.x0 >= -1 and box.y0 >= -1, text
            assert box.x1 <= page.bbox.x1 + 1 and box.y1 <= page.bbox.y1 + 1, text


@pytest.mark.parametrize("figure", FIGURES)
def test_two_runs_give_the_same_bytes(tmp_path, figure):
    inputs = inputs_of(tmp_path, figure, SIGMAS[:2])
    found = []
    for run in ("one", "two"):
        page = draw(figure, inputs, SIGMAS)
        paths = {ext: tmp_path / f"{run}.{ext}" for ext in ("svg", "png")}
        style.save(page, **paths, dpi=50)
        found.append([path.read_bytes() for path in paths.values()])
    assert found[0] == found[1]


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_say_what_they_lack(tmp_path, figure):
    inputs = inputs_of(tmp_path, figure, SIGMAS)
    with pytest.raises(PoscopeError, match="no label for"):
        draw(figure, inputs, SIGMAS, labels={"other": "Other"})
    with pytest.raises(PoscopeError, match="nothing to draw"):
        draw(figure, [], SIGMAS)
    if figure != "maps":
        write_csv(pd.DataFrame(columns=list(COLUMNS)), inputs[0])
        with pytest.raises(PoscopeError, match="nothing to draw"):
            draw(figure, inputs[:1], SIGMAS)
        write_csv(pd.DataFrame(columns=["model", *COLUMNS[6:]]), inputs[0])
        with pytest.raises(PoscopeError, match="is no table of the initialisation study"):
            draw(figure, inputs[:1], SIGMAS)


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_reaches_no_other_figure_s_code_and_no_torch(figure):
    own = Path(SOURCE_ROOT, "poscope", "reporting", "figures", f"initialization_{figure}.py")
    reached = set(reached_modules(own))
    folder = os.path.join("poscope", "reporting", "figures", "initialization_")  # noqa: PTH118
    assert not {f"{folder}{other}.py" for other in FIGURES if other != figure} & reached
    assert not [file for file in reached if "training" in file or "models" in file]
