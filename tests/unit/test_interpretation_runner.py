"""From cells to the file of figures."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from poscope.datasets.latin_square_layout import grid_layout
from poscope.datasets.layout import Layout, write_layout
from poscope.errors import DataError
from poscope.interpretation.runner import interpret
from poscope.interpretation.truth import reference_table, true_distance
from poscope.tables.formulas import sinusoid_2d

SETTINGS = {"permutations": 99, "seed": 0, "clusters": None}
GRID = grid_layout(4)
MEMBERSHIPS = [
    f"{metric}_{name}"
    for metric in ("silhouette", "adjusted_rand", "modularity")
    for name in ("rows", "columns")
]


class Study:
    """Writes a data set and cells, and interprets them."""

    def __init__(self, folder):
        self.folder, self.cells = folder, []
        self.data = folder / "data"
        self.data.mkdir()
        (self.data / "task.json").write_text(json.dumps({"family": "latin_square"}))
        write_layout(GRID, self.data)

    def cell(self, tables=None, starts=None, attention=None):
        """Write the next seed's arrays; tables did not train where there are no starts."""
        cell = self.folder / f"seed{len(self.cells)}"
        cell.mkdir()
        self.cells.append(cell)
        tensors = {
            "attention": noise(len(self.cells), 2, 1, 16, 16) if attention is None else attention
        }
        if tables is not None:
            tensors |= {"tables": tables, "starts": tables if starts is None else starts}
        tensors = {name: np.ascontiguousarray(each, np.float32) for name, each in tensors.items()}
        save_file(tensors, cell / "interpretability.safetensors")

    def interpret(self, **settings):
        """The file's content, and its figures by metric and layer."""
        output = self.folder / "out" / "e.json"
        interpret(
            data_folder=self.data,
            cell_folders=[str(cell) for cell in self.cells],
            output=output,
            settings=SETTINGS | settings,
            encoding="e",
            task="t",
        )
        content = json.loads(output.read_text())
        return content, {(each["metric"], each["layer"]): each for each in content["figures"]}


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path)


def noise(seed, *shape):
    return np.random.default_rng(seed).random(shape)


def true_tables(dim=16):
    """The truth in both layers, turned another way in the second."""
    table = sinusoid_2d(4, 4, dim)
    return np.stack([table, table[:, ::-1]])


def test_tables_that_are_the_truth_score_best(study):
    attention = np.tile(GRID.relations["neighbours"], (2, 1, 1, 1))
    for _ in range(3):
        study.cell(true_tables(), 0.5 * true_tables(), attention)
    content, figures = study.interpret()
    assert {key: content[key] for key in ("task", "encoding", "family", "settings", "seeds")} == {
        "task": "t",
        "encoding": "e",
        "family": "latin_square",
        "settings": SETTINGS,
        "seeds": [0, 1, 2],
    }
    metrics = {"cka", "procrustes", "rsa", *MEMBERSHIPS, "attention_neighbours"}
    metrics |= {"moved", "turned", "norm"}
    assert set(figures) == {(name, layer) for name in metrics for layer in ("1", "2", "all")}
    for layer in ("1", "2", "all"):
        assert figures["cka", layer]["values"] == pytest.approx([1, 1, 1])
        assert figures["procrustes", layer]["values"] == pytest.approx([0, 0, 0], abs=1e-5)
        assert figures["attention_neighbours", layer]["values"] == pytest.approx([1, 1, 1])
        assert figures["moved", layer]["values"] == pytest.approx([1, 1, 1])
        assert figures["turned", layer]["values"] == pytest.approx([0, 0, 0], abs=1e-6)
        assert figures["norm", layer]["values"] == pytest.approx([0.5**0.5] * 3)
        for name in ("cka", "procrustes", "rsa", "attention_neighbours"):
            assert figures[name, layer]["p_value"] == 1 / 100
            assert figures[name, layer]["basis"] == "truth"
        assert 0.1 < figures["cka", layer]["chance"] < 0.3
        assert figures["procrustes", layer]["chance"] > 0.2
        assert figures["moved", layer]["chance"] is None
        assert figures["moved", layer]["p_value"] is None


def test_the_mean_over_layers_is_by_seed_and_permutation(study):
    for seed in range(3):
        study.cell(noise(seed, 2, 16, 8), noise(9, 2, 16, 8))
    _, figures = study.interpret()
    for metric in ("cka", "procrustes", "rsa", "silhouette_rows", "attention_neighbours", "moved"):
        one, two, both = (figures[metric, layer] for layer in ("1", "2", "all"))
        assert both["values"] == pytest.approx(np.mean([one["values"], two["values"]], axis=0))
        if metric != "moved":
            assert both["chance"] == pytest.approx((one["chance"] + two["chance"]) / 2)


def test_it_says_the_same_every_time(study):
    for seed in range(2):
        study.cell(noise(seed, 2, 16, 8))
    first = study.interpret()
    assert study.interpret() == first
    assert study.interpret(seed=1)[0]["figures"] != first[0]["figures"]


def test_a_table_that_did_not_train_has_not_moved(study):
    study.cell(noise(0, 2, 16, 8))
    _, figures = study.interpret()
    metrics = {metric for metric, _ in figures}
    assert metrics == {"cka", "procrustes", "rsa", *MEMBERSHIPS, "attention_neighbours", "norm"}


def test_without_tables_there_is_attention_alone(study):
    study.cell()
    _, figures = study.interpret()
    assert {metric for metric, _ in figures} == {"attention_neighbours"}


def test_what_is_not_defined_is_null_and_spares_other_seeds(study):
    constant, broken = noise(0, 2, 16, 8), noise(1, 2, 16, 8)
    constant[0] = 1.0
    broken[1, 3, 3] = np.nan
    study.cell(constant)
    study.cell(broken)
    study.cell(noise(2, 2, 16, 8), attention=np.full((2, 1, 16, 16), 1 / 16))
    _, figures = study.interpret()
    for metric in ("cka", "procrustes", "rsa", *MEMBERSHIPS):
        gaps = {
            layer: [value is None for value in figures[metric, layer]["values"]]
            for layer in ("1", "2", "all")
        }
        assert gaps["1"] == [True, False, False], metric
        assert gaps["2"] == [False, True, False], metric
        assert gaps["all"] == [True, True, False], metric
        assert 0 < figures[metric, "all"]["p_value"] <= 1
    assert figures["attention_neighbours", "1"]["values"][2] is None


def test_where_nothing_is_defined_there_is_no_p_value(study):
    study.cell(np.ones((2, 16, 8)))
    _, figures = study.interpret()
    found = figures["cka", "all"]
    assert (found["values"], found["chance"], found["p_value"]) == ([None], None, None)


def test_groups_of_rows_can_be_asked_for(study):
    study.cell(true_tables())
    by_four, by_two = (study.interpret(clusters=count)[1] for count in (4, 2))
    assert by_four["adjusted_rand_rows", "1"] == study.interpret()[1]["adjusted_rand_rows", "1"]
    assert by_two["adjusted_rand_rows", "1"] != by_four["adjusted_rand_rows", "1"]
    assert by_two["modularity_rows", "1"] == by_four["modularity_rows", "1"]


def test_figures_say_how_their_truth_is_known(study):
    rng = np.random.default_rng(0)
    apart = np.abs(np.subtract.outer(np.arange(16), np.arange(16))).astype(np.float32)
    layout = Layout(
        rng.normal(size=(16, 3)).astype(np.float32),
        "fibre lengths",
        {"hemispheres": np.arange(16) % 2},
        {"fibre_lengths": apart},
        {"functional_connectivity": apart, "fibre_counts": apart},
        {
            "coordinates": "derived",
            "hemispheres": "structure",
            "fibre_lengths": "structure",
            "functional_connectivity": "estimate",
        },
    )
    write_layout(layout, study.data)
    study.cell(noise(0, 2, 16, 8))
    _, figures = study.interpret()
    assert {metric: each["basis"] for (metric, layer), each in figures.items() if layer == "1"} == {
        "cka": "derived",
        "procrustes": "derived",
        "rsa": "structure",
        "silhouette_hemispheres": "structure",
        "adjusted_rand_hemispheres": "structure",
        "modularity_hemispheres": "structure",
        "attention_functional_connectivity": "estimate",
        "attention_fibre_counts": "truth",
        "norm": "truth",
    }


def test_a_layout_of_other_tokens_is_refused(study):
    write_layout(grid_layout(3), study.data)
    study.cell(noise(0, 2, 16, 8))
    with pytest.raises(DataError, match=r"layout of t: coordinates is of 9 tokens.*trained on 16"):
        study.interpret()


def test_a_missing_cell_is_named(study):
    study.cell()
    study.cells.append(study.folder / "seed1")
    with pytest.raises(DataError, match=r"seed1/interpretability\.safetensors"):
        study.interpret()


def test_cells_of_different_networks_are_refused(study):
    study.cell(noise(0, 2, 16, 8))
    study.cell(noise(0, 2, 16, 6))
    with pytest.raises(DataError, match=r"different shapes: \[\(2, 16, 6\), \(2, 16, 8\)\]"):
        study.interpret()


def test_tables_of_another_network_than_attention_are_refused(study):
    study.cell(noise(0, 3, 16, 8))
    with pytest.raises(DataError, match="not of the same network"):
        study.interpret()


def test_tables_without_their_starts_are_refused(study):
    study.cell()
    tensors = {name: noise(0, 2, 16, 16)[:, None] for name in ("attention", "tables")}
    save_file(tensors, study.cells[0] / "interpretability.safetensors")
    with pytest.raises(DataError, match="one of tables and starts, is not there"):
        study.interpret()


def test_a_folder_of_no_seed_is_refused(study):
    study.cell()
    study.cells = [study.cells[0].rename(study.folder / "best")]
    with pytest.raises(DataError, match="best is no cell"):
        study.interpret()


def test_no_cells_are_refused(study):
    with pytest.raises(DataError, match="at least one seed"):
        study.interpret()


def test_the_reference_is_a_sinusoid_of_coordinates():
    known = reference_table(GRID, 16)
    assert np.array_equal(known.values, sinusoid_2d(4, 4, 16))
    assert np.array_equal(true_distance(GRID).values, GRID.distances["grid"])


def test_without_coordinates_the_reference_is_groups():
    layout = Layout(
        memberships={"modules": np.array([5, 5, 8]), "sides": np.array([0, 1, 1])},
        basis={"sides": "derived"},
    )
    known = reference_table(layout, 16)
    assert known.values.tolist() == [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1]]
    assert known.basis == "derived"
    assert true_distance(layout) is None


@pytest.mark.parametrize("layout", [Layout(), Layout(np.zeros((4, 3), np.float32))])
def test_where_nothing_is_known_there_is_no_reference(layout):
    assert reference_table(layout, 16) is None
