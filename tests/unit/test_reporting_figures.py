"""Figures: what is drawn is what the files hold, and the same files give the same bytes."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from poscope.errors import PoscopeError
from poscope.provenance import SOURCE_ROOT, reached_modules
from poscope.reporting.figures import style
from poscope.tables.position_table import PositionTable, write_position_table

SETTINGS = {
    "similarity_heatmaps": {"columns": 4, "positions": 32},
    "similarity_profile": {"height_in": 2.6, "columns": 4},
    "spectrum": {"height_in": 3.0, "marks": (0.5, 0.9, 0.99)},
    "absolute_position": {"row_height_in": 0.24, "linear_below": 1.0},
    "order": {"row_height_in": 0.3},
    "geometry": {"row_height_in": 0.24},
}
REGRESSORS = ("mae", "mae_svr", "mae_mlp")
PROPERTIES = ("translation_invariance", "monotonicity", "symmetry")
NINE = [f"table_{place}" for place in range(9)]
ROWS = 32


def labels_of(names):
    return {name: name.replace("_", " ").capitalize() for name in names}


def found(metric, mean, half=None):
    low, high = (None, None) if half is None else (mean - half, mean + half)
    sd, n = (None, 1) if half is None else (half, 10)
    entry = {"metric": metric, "mean": mean, "sd": sd, "n": n, "low": low, "high": high}
    return entry | {"values": [], "folds": None, "undefined": None}


def undefined(metric):
    nothing = dict.fromkeys(("mean", "sd", "low", "high", "folds"))
    return {"metric": metric, **nothing, "n": 0, "values": [], "undefined": "a table of zeros"}


def figures_of(figure, place):
    """A probe's figures for the table in `place`, all different."""
    if figure == "absolute_position":
        test = [found(name, 20.0 * (i + 1) + place, 0.5) for i, name in enumerate(REGRESSORS)]
        train = [found(f"{name}_train", 3.0 * (i + 1) + place) for i, name in enumerate(REGRESSORS)]
        return [*test, *train, found("mae_chance", 128.0)]
    if figure == "order":
        sound = found("error_rate", 0.02 * (place + 1), 0.01)
        return [sound, found("error_rate_as_published", 0.03 * (place + 1), 0.005)]
    if figure == "geometry":
        return [found(name, 0.9 - 0.1 * i - 0.05 * place, 0.1) for i, name in enumerate(PROPERTIES)]
    if figure == "similarity_profile":
        return [found("break_position", 16.0) if place == 0 else undefined("break_position")]
    return []


def series_of(figure, place):
    if figure == "similarity_profile":
        offset = list(range(ROWS))
        similarity = [0.9 ** (k * (1 + place)) for k in offset]
        boundary = list(range(4, ROWS - 4))
        score = [0.1 + (b == 16) * (place + 1) for b in boundary]
        return {
            "profile": {"offset": offset, "similarity": similarity, "sd": [0.01] * ROWS},
            "break_score": {"boundary": boundary, "score": score},
        }
    if figure == "spectrum":
        components = np.arange(1, ROWS + 1)
        share = (components / ROWS) ** (1 / (1 + place))
        return {"cumulative_share": {"components": components.tolist(), "share": share.tolist()}}
    return {}


def table_of(place):
    return np.random.default_rng(place).normal(size=(ROWS, 8)).astype(np.float32)


def write_probe(path, name, figures, series):
    content = {"probe": "p", "model": name, "label": name, "table": {}, "settings": {}}
    path.write_text(json.dumps(content | {"figures": figures, "series": series, "notes": []}))
    return path


def inputs_of(folder, figure, names):
    paths = []
    for place, name in enumerate(names):
        if figure == "similarity_heatmaps":
            paths.append(folder / f"{name}.safetensors")
            write_position_table(paths[-1], PositionTable(table_of(place), {}))
        else:
            path = folder / f"{figure}_{name}.json"
            series = series_of(figure, place)
            paths.append(write_probe(path, name, figures_of(figure, place), series))
    return paths


def without_numbers(folder, figure, name):
    """The input of a table for which the probe found nothing."""
    if figure == "similarity_heatmaps":
        path = folder / f"{name}.safetensors"
        write_position_table(path, PositionTable(np.zeros((ROWS, 8), np.float32), {}))
        return path
    figures = [undefined(each["metric"]) for each in figures_of(figure, 0)]
    return write_probe(folder / f"{figure}_{name}.json", name, figures, {})


def draw(figure, paths, labels, **settings):
    module = importlib.import_module(f"poscope.reporting.figures.{figure}")
    return module.draw(paths, labels=labels, width_in=6.3, **(SETTINGS[figure] | settings))


def drawn(tmp_path, figure, names):
    return draw(figure, inputs_of(tmp_path, figure, names), labels_of(names))


def panels(page):
    """Axes that show data: no colour bar, no cell left empty."""
    return [axes for axes in page.axes if axes.axison and axes.get_label() != "<colorbar>"]


def texts(page):
    return [each for each in page.findobj(Text) if each.get_text() and each.get_visible()]


def words(page):
    return [each.get_text() for each in texts(page)]


def marked(axes):
    """Where each dot of a dot plot is, as (x, row), with its colour and whether it is filled."""
    dots = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    return {
        (float(dot.get_xdata()[0]), float(dot.get_ydata()[0])): (
            to_hex(dot.get_markeredgecolor()),
            to_hex(dot.get_markerfacecolor()) != "#ffffff",
        )
        for dot in dots
    }


def spans(axes):
    """Horizontal lines between two points, as (left, right, row)."""
    lines = [line for line in axes.lines if line.get_marker() in ("None", "")]
    return {
        (*map(float, line.get_xdata()), float(line.get_ydata()[0]))
        for line in lines
        if line.get_ydata()[0] == line.get_ydata()[1]
    }


def same(values, expected):
    return sorted(values) == [pytest.approx(each) for each in sorted(expected)]


# --- What is drawn ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 9])
@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("similarity_heatmaps", lambda count: count),
        ("similarity_profile", lambda count: count + 1),
        ("spectrum", lambda count: 1),
        ("absolute_position", lambda count: 3),
        ("order", lambda count: 1),
        ("geometry", lambda count: 3),
    ],
)
def test_every_figure_has_its_panels_for_one_table_and_for_nine(tmp_path, figure, expected, count):
    page = drawn(tmp_path, figure, NINE[:count])
    assert len(panels(page)) == expected(count)
    for label in labels_of(NINE[:count]).values():
        assert label in words(page)


def test_heatmaps_show_each_cosine_matrix_on_one_scale(tmp_path):
    page = drawn(tmp_path, "similarity_heatmaps", NINE)
    least = 1.0
    for place, axes in enumerate(panels(page)):
        unit = table_of(place).astype(float)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        picture = axes.images[0]
        np.testing.assert_allclose(picture.get_array(), unit @ unit.T, atol=1e-12)
        assert picture.norm is panels(page)[0].images[0].norm
        least = min(least, (unit @ unit.T).min())
    assert picture.norm.vmax == 1.0
    assert least - 0.1 < picture.norm.vmin <= least
    assert picture.norm.vmin * 10 == pytest.approx(round(picture.norm.vmin * 10))


def test_lighter_is_more_alike():
    map_ = matplotlib.colormaps["viridis"](np.linspace(0, 1, 64))[:, :3]
    luminance = map_ @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) > 0).all()


@pytest.mark.parametrize(
    ("rows", "ticks"), [(512, [0, 128, 256, 384]), (300, [0, 128, 256]), (10, [0, 4, 8])]
)
def test_heatmaps_have_ticks_at_multiples_of_a_power_of_two(tmp_path, rows, ticks):
    table = np.random.default_rng(0).normal(size=(rows, 4)).astype(np.float32)
    write_position_table(tmp_path / "a.safetensors", PositionTable(table, {}))
    page = draw("similarity_heatmaps", [tmp_path / "a.safetensors"], {"a": "A"}, positions=512)
    assert list(panels(page)[0].get_xticks()) == ticks
    assert list(panels(page)[0].get_yticks()) == ticks


def test_heatmaps_show_the_first_positions_and_short_tables_whole(tmp_path):
    for name, rows in (("a", 32), ("b", 8)):
        table = np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)
        write_position_table(tmp_path / f"{name}.safetensors", PositionTable(table, {}))
    paths = [tmp_path / "a.safetensors", tmp_path / "b.safetensors"]
    page = draw("similarity_heatmaps", paths, {"a": "A", "b": "B"}, positions=20)
    assert [axes.images[0].get_array().shape for axes in panels(page)] == [(20, 20), (8, 8)]


def test_profiles_show_mean_band_scores_and_the_called_break(tmp_path):
    page = drawn(tmp_path, "similarity_profile", NINE)
    *scores, profile = panels(page)
    bands = [each for each in profile.collections if isinstance(each, PolyCollection)]
    assert len(profile.lines) == len(bands) == 9
    for place, (line, band) in enumerate(zip(profile.lines, bands, strict=True)):
        expected = series_of("similarity_profile", place)["profile"]
        assert list(line.get_xdata()) == expected["offset"]
        assert list(line.get_ydata()) == expected["similarity"]
        edges = band.get_paths()[0].vertices
        assert edges[:, 1].max() == pytest.approx(1.01)
        assert edges[:, 1].min() == pytest.approx(expected["similarity"][-1] - 0.01)
    for place, axes in enumerate(scores):
        expected = series_of("similarity_profile", place)["break_score"]
        assert list(axes.lines[0].get_xdata()) == expected["boundary"]
        assert list(axes.lines[0].get_ydata()) == expected["score"]
        breaks = [line.get_xdata()[0] for line in axes.lines[1:]]
        assert breaks == ([16.0] if place == 0 else [])
        assert [text.get_text() for text in axes.texts] == (["16"] if place == 0 else [])


def test_spectra_show_each_curve_and_mark_where_it_reaches_the_shares(tmp_path):
    page = drawn(tmp_path, "spectrum", NINE)
    (axes,) = panels(page)
    curves = [line for line in axes.lines if len(line.get_xdata()) == ROWS]
    assert len(curves) == 9
    assert axes.get_xscale() == "log"
    for place, line in enumerate(curves):
        expected = series_of("spectrum", place)["cumulative_share"]
        assert list(line.get_xdata()) == expected["components"]
        assert list(line.get_ydata()) == expected["share"]
    # The first table's share is components / 32: it reaches 50 % at 16 components, 90 % at 29, 99 % at 32.
    assert [line.get_xdata()[at] for line in curves[:1] for at in line.get_markevery()] == [
        16,
        29,
        32,
    ]
    assert {0.5, 0.9, 0.99} <= set(axes.get_yticks())


def test_absolute_position_shows_test_and_train_error_of_each_regressor(tmp_path):
    page = drawn(tmp_path, "absolute_position", NINE)
    colours = [look.colour.lower() for look in style.looks(labels_of(NINE)).values()]
    titles = [axes.get_title(loc="left") for axes in panels(page)]
    assert titles == ["Linear regression", "SVR", "MLP"]
    for which, axes in enumerate(panels(page)):
        test = {(20.0 * (which + 1) + row, row): (colours[row], True) for row in range(9)}
        train = {(3.0 * (which + 1) + row, row): (colours[row], False) for row in range(9)}
        assert marked(axes) == test | train
        gaps = {(3.0 * (which + 1) + row, 20.0 * (which + 1) + row, row) for row in range(9)}
        bars = {(x - 0.5, x + 0.5, row) for x, row in test}
        assert spans(axes) == gaps | bars
        chance = [line for line in axes.lines if list(line.get_xdata()) == [128.0, 128.0]]
        assert len(chance) == 9
        assert axes.get_xscale() == "symlog"
        assert axes.get_xlim()[0] < 0.0 and axes.get_xlim()[1] > 128.0


def test_order_shows_both_protocols_and_chance(tmp_path):
    page = drawn(tmp_path, "order", NINE)
    (axes,) = panels(page)
    dots = marked(axes)
    sound = [x for (x, _), (_, filled) in dots.items() if filled]
    published = [x for (x, _), (_, filled) in dots.items() if not filled]
    assert sound == pytest.approx([0.02 * (row + 1) for row in range(9)])
    assert published == pytest.approx([0.03 * (row + 1) for row in range(9)])
    assert {round(row) for _, row in dots} == set(range(9))
    bars = [(left, right) for left, right, _ in spans(axes)]
    assert same([right - left for left, right in bars], [0.02] * 9 + [0.01] * 9)
    assert [0.5, 0.5] in [list(line.get_xdata()) for line in axes.lines]


def test_geometry_shows_three_properties_with_their_intervals(tmp_path):
    page = drawn(tmp_path, "geometry", NINE)
    for which, axes in enumerate(panels(page)):
        expected = [0.9 - 0.1 * which - 0.05 * row for row in range(9)]
        assert [x for x, _ in marked(axes)] == pytest.approx(expected)
        assert [row for _, row in marked(axes)] == list(range(9))
        bars = sorted(spans(axes), key=lambda bar: bar[2])
        assert [bar[0] for bar in bars] == pytest.approx([x - 0.1 for x in expected])
        assert [bar[1] for bar in bars] == pytest.approx([x + 0.1 for x in expected])
        low, high = axes.get_xlim()
        assert low < 0.9 - 0.2 - 0.4 - 0.1 and high > 1.0


@pytest.mark.parametrize("figure", SETTINGS)
def test_the_order_is_the_study_s_whatever_the_order_of_the_inputs(tmp_path, figure):
    paths = inputs_of(tmp_path, figure, NINE[:3])
    labels = labels_of(NINE[:3])
    assert words(draw(figure, paths, labels)) == words(draw(figure, paths[::-1], labels))


# --- What is undefined -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", SETTINGS)
def test_a_table_without_numbers_is_marked_as_undefined(tmp_path, figure):
    paths = inputs_of(tmp_path, figure, NINE[:2])
    paths.append(without_numbers(tmp_path, figure, "zeros"))
    page = draw(figure, paths, labels_of([*NINE[:2], "zeros"]))
    assert any("undefined" in word for word in words(page))
    assert any("Zeros" in word for word in words(page))
    assert not any("undefined" in word for word in words(drawn(tmp_path, figure, NINE[:2])))


@pytest.mark.parametrize("figure", SETTINGS)
def test_a_figure_may_have_nothing_but_undefined_tables(tmp_path, figure):
    page = draw(figure, [without_numbers(tmp_path, figure, "zeros")], {"zeros": "Zeros"})
    style.save(page, svg=tmp_path / "a.svg", png=tmp_path / "a.png", dpi=50)
    assert "undefined" in words(page)


def test_a_regressor_that_was_not_run_for_one_table_is_marked_and_for_none_has_no_panel(tmp_path):
    first = write_probe(tmp_path / "a", "a", [found("mae", 1.0), found("mae_svr", 2.0)], {})
    second = write_probe(tmp_path / "b", "b", [found("mae", 1.0)], {})
    page = draw("absolute_position", [first, second], {"a": "A", "b": "B"})
    assert [axes.get_title(loc="left") for axes in panels(page)] == ["Linear regression", "SVR"]
    assert words(page).count("not run") == 1


def test_nulls_in_a_series_are_gaps(tmp_path):
    series = {"cumulative_share": {"components": [1, 2, 3], "share": [0.5, None, 1.0]}}
    path = write_probe(tmp_path / "a.json", "a", [], series)
    (axes,) = panels(draw("spectrum", [path], {"a": "A"}))
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [0.5, np.nan, 1.0])


# --- How it looks ----------------------------------------------------------------------------------------------------


def test_the_first_tables_all_look_different():
    looks = style.looks(labels_of([str(number) for number in range(180)]))
    assert len({(look.colour, look.line, look.marker) for look in looks.values()}) == 180
    assert len({look.colour for look in list(looks.values())[:9]}) == 9
    assert len({(look.line, look.marker) for look in list(looks.values())[:12]}) == 12  # in grey


def test_a_table_keeps_its_colour_in_every_figure_and_where_others_are_missing(tmp_path):
    labels = labels_of(NINE)
    colour = style.looks(labels)[NINE[4]].colour.lower()
    for figure in ("similarity_profile", "spectrum", "absolute_position", "order", "geometry"):
        page = draw(figure, [inputs_of(tmp_path, figure, NINE)[4]], labels)
        last = panels(page)[-1]
        found_colours = {to_hex(line.get_color()) for line in last.lines}
        found_colours |= {edge for edge, _ in marked(last).values()}
        assert colour in found_colours, figure
        others = {look.colour.lower() for look in style.looks(labels).values()} - {colour}
        assert not found_colours & (others - {"#000000"}), figure


@pytest.mark.parametrize("figure", SETTINGS)
def test_text_is_never_smaller_than_seven_points_and_lies_on_the_page(tmp_path, figure):
    page = drawn(tmp_path, figure, NINE)
    page.draw_without_rendering()
    for text in texts(page):
        assert text.get_fontsize() >= 7
    ticks = {
        label for axes in page.axes for label in axes.get_xticklabels() + axes.get_yticklabels()
    }
    for text in set(texts(page)) - ticks:  # a tick beyond the axis has a label, which is not drawn
        box = text.get_window_extent()
        assert box.x0 >= -1 and box.y0 >= -1, text
        assert box.x1 <= page.bbox.x1 + 1 and box.y1 <= page.bbox.y1 + 1, text


def test_lines_are_named_beside_them_where_there_is_room(tmp_path):
    page = drawn(tmp_path, "spectrum", NINE[:3])
    (axes,) = panels(page)
    assert axes.get_legend() is None
    assert sorted(text.get_text() for text in axes.texts) == ["Table 0", "Table 1", "Table 2"]
    page.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
        for line in axes.lines[:3]:
            assert not line.get_path().transformed(axes.transData).intersects_bbox(box, False)


def test_lines_on_top_of_each_other_are_named_in_a_legend(tmp_path):
    series = series_of("spectrum", 0)
    paths = [write_probe(tmp_path / name, name, [], series) for name in ("a", "b")]
    (axes,) = panels(draw("spectrum", paths, {"a": "A", "b": "B"}))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["A", "B"]
    assert not axes.texts


# --- Files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", SETTINGS)
def test_two_runs_give_the_same_bytes_whatever_the_user_s_matplotlib_looks_like(tmp_path, figure):
    paths = inputs_of(tmp_path, figure, NINE[:3])
    bytes_ = []
    for run in range(2):
        with matplotlib.rc_context({"font.size": 10 + 5 * run, "axes.grid": bool(run)}):
            page = draw(figure, paths, labels_of(NINE[:3]))
            style.save(page, svg=tmp_path / f"{run}.svg", png=tmp_path / f"{run}.png", dpi=80)
        bytes_.append([(tmp_path / f"{run}.{kind}").read_bytes() for kind in ("svg", "png")])
    assert bytes_[0] == bytes_[1]
    svg = bytes_[0][0].decode()
    assert "<text" not in svg and "dc:date" not in svg and "Matplotlib v" not in svg
    assert imread(tmp_path / "0.png").shape[1] == int(page.get_figwidth() * 80)
    assert page.get_figwidth() == pytest.approx(6.3)


def test_another_process_gives_the_same_bytes(tmp_path):
    paths = inputs_of(tmp_path, "spectrum", NINE[:3])
    settings = {"labels": labels_of(NINE[:3]), "width_in": 6.3, **SETTINGS["spectrum"]}
    program = (
        "from poscope.reporting.figures import spectrum, style\n"
        f"page = spectrum.draw({[str(path) for path in paths]!r}, **{settings!r})\n"
        f"style.save(page, svg={str(tmp_path / 'b.svg')!r}, png={str(tmp_path / 'b.png')!r}, dpi=80)"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(SOURCE_ROOT)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    page = draw("spectrum", paths, labels_of(NINE[:3]))
    style.save(page, svg=tmp_path / "a.svg", png=tmp_path / "a.png", dpi=80)
    for kind in ("svg", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_a_failure_leaves_no_files(tmp_path, monkeypatch):
    save = Figure.savefig

    def fail_on_png(self, target, *, format, **options):
        save(self, target, format=format, **options)
        if format == "png":
            raise OSError("no space left")

    page = drawn(tmp_path, "order", NINE[:1])
    monkeypatch.setattr(Figure, "savefig", fail_on_png)
    out = tmp_path / "out"
    with pytest.raises(OSError, match="no space left"):
        style.save(page, svg=out / "a.svg", png=out / "a.png", dpi=50)
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"model": "a", "figures": [{}], "series": {}}', ""]
)
def test_what_is_no_probe_s_result_is_a_clear_error(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(PoscopeError, match=r"a\.json is no probe's result"):
        draw("order", [path], {"a": "A"})


def test_missing_inputs_and_labels_are_clear_errors(tmp_path):
    with pytest.raises(PoscopeError, match=r"cannot read .*a\.json: No such file"):
        draw("order", [tmp_path / "a.json"], {"a": "A"})
    paths = inputs_of(tmp_path, "order", NINE[:2])
    with pytest.raises(PoscopeError, match="no label for table_1; the figure's tables are table_0"):
        draw("order", paths, labels_of(NINE[:1]))
    with pytest.raises(PoscopeError, match="nothing to draw"):
        draw("order", [], labels_of(NINE[:1]))


FROM_TABLES = (
    *("classification", "classification_by_length", "pretraining"),
    *("language_modeling", "language_modeling_skip_ratio", "language_modeling_by_position"),
    *("translation", "translation_by_length"),
    *("composition_coordinates", "composition_subspaces"),
    *("composition_attention_terms", "composition_training"),
)


@pytest.mark.parametrize("figure", [*SETTINGS, *FROM_TABLES])
def test_a_figure_reaches_no_other_figure_s_code(figure):
    own = Path(SOURCE_ROOT, "poscope", "reporting", "figures", f"{figure}.py")
    folder = f"{Path('poscope', 'reporting', 'figures')}{os.sep}"
    reached = {Path(file).stem for file in reached_modules(own) if file.startswith(folder)}
    assert figure in reached
    assert not reached & ({*SETTINGS, *FROM_TABLES} - {figure})
