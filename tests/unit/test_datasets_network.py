"""The simulated network: its coupling, its dynamics, and what an oracle finds in its examples."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import brentq
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from poscope.datasets import stochastic_network
from poscope.datasets.layout import read_layout
from poscope.datasets.network_build import build_network, network_layout
from poscope.datasets.stochastic_network import (
    StochasticNetwork,
    coupling_weights,
    module_of_nodes,
    simulate,
)
from poscope.errors import DataError

SMALL = {"nodes": 6, "modules": 2, "samples": 40, "discard": 50, "every": 5, "runs": 4, "folds": 2}


def build(folder: Path, *, seed: int = 0, **settings: Any) -> Path:
    build_network(source={"kind": "network", **SMALL, **settings}, output_folder=folder, seed=seed)
    return folder


def rows(folder: Path, column: str) -> np.ndarray:
    """A column of lists as (examples, tokens)."""
    return np.array(pq.read_table(folder / "examples.parquet").column(column).to_pylist())


def column(folder: Path, name: str) -> np.ndarray:
    return pq.read_table(folder / "examples.parquet").column(name).to_numpy()


@settings(max_examples=30, deadline=None)
@given(
    nodes=st.integers(2, 20),
    modules=st.integers(1, 5),
    density=st.floats(0.05, 1.0),
    seed=st.integers(0, 1000),
)
def test_weights_of_a_node_sum_to_what_was_asked(
    nodes: int, modules: int, density: float, seed: int
) -> None:
    network = StochasticNetwork(
        nodes=nodes, modules=min(modules, nodes), within=0.9, between=-0.2, density=density
    )
    module = module_of_nodes(network, seed)
    weights = coupling_weights(network, module, seed)
    sizes = np.bincount(module, minlength=network.modules)
    assert sizes.max() - sizes.min() <= 1
    assert np.all(np.diag(weights) == 0)
    for node in range(nodes):
        same = (module == module[node]) & (np.arange(nodes) != node)
        for candidates, total in ((same, 0.9), (module != module[node], -0.2)):
            links = np.count_nonzero(weights[node, candidates])
            assert links == (max(1, round(density * candidates.sum())) if candidates.any() else 0)
            assert weights[node, candidates].sum() == pytest.approx(total if links else 0.0)


def test_modules_are_shuffled_unless_they_are_to_be_ordered() -> None:
    ordered = module_of_nodes(StochasticNetwork(nodes=7, modules=3, ordered=True), seed=0)
    assert ordered.tolist() == [0, 0, 0, 1, 1, 2, 2]
    shuffled = module_of_nodes(StochasticNetwork(), seed=0)
    assert np.count_nonzero(np.diff(shuffled)) > 2


def test_lone_nodes_are_ornstein_uhlenbeck_processes() -> None:
    # x ← (1 − h) x + s √h ξ has the variance s² / (2 − h), and (1 − h)^k as correlation over k steps.
    network = StochasticNetwork(
        nodes=40, within=0.0, between=0.0, noise=0.7, time_step=0.2, every=2, samples=4000
    )
    kept = simulate(network, np.zeros((40, 40)), seed=1, run=0)
    assert kept.var() == pytest.approx(0.7**2 / 1.8, rel=0.02)
    assert (kept[1:] * kept[:-1]).mean() / kept.var() == pytest.approx(0.8**2, abs=0.01)
    assert np.corrcoef(kept.T)[0, 1] == pytest.approx(0.0, abs=0.05)


def test_a_quiet_network_settles_where_leak_and_input_balance() -> None:
    network = StochasticNetwork(
        nodes=8, modules=1, within=1.5, gain=1.3, noise=1e-7, discard=4000, samples=2
    )
    weights = coupling_weights(network, module_of_nodes(network, 3), 3)
    state = simulate(network, weights, seed=3, run=0)[-1]
    balance = brentq(lambda x: 1.5 * np.tanh(1.3 * x) - x, 0.5, 2.0)
    assert np.abs(state) == pytest.approx(np.full(8, balance), abs=1e-5)
    assert len(set(np.sign(state))) == 1


def test_kept_samples_are_those_of_a_plain_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    network = StochasticNetwork(nodes=5, modules=2, samples=6, discard=4, every=3)
    weights = coupling_weights(network, module_of_nodes(network, 0), 0)
    whole = simulate(network, weights, seed=0, run=2)
    monkeypatch.setattr(stochastic_network, "_STEPS_AT_ONCE", 7)
    assert np.array_equal(simulate(network, weights, seed=0, run=2), whole)

    generator = np.random.Generator(np.random.PCG64([0, stochastic_network._NOISE_STREAM, 2]))
    states = [np.zeros(5)]
    for _ in range(4 + 6 * 3):
        x = states[-1]
        noise = 0.5 * np.sqrt(0.1) * generator.standard_normal(5)
        states.append(x + 0.1 * (-x + weights @ np.tanh(x)) + noise)
    assert whole == pytest.approx(np.array(states[4 + 3 :: 3]))


@pytest.mark.parametrize("seed", [0, 1])
def test_an_oracle_recovers_modules_and_predicts_nodes(tmp_path: Path, seed: int) -> None:
    build_network(source={"kind": "network"}, output_folder=tmp_path, seed=seed)
    values, fold = rows(tmp_path, "values"), column(tmp_path, "fold")
    modules = read_layout(tmp_path).memberships["modules"]
    correlation = np.corrcoef(values.T)
    np.fill_diagonal(correlation, 1.0)
    tree = linkage(squareform(1 - correlation, checks=False), "average")
    assert adjusted_rand_score(modules, fcluster(tree, 3, "maxclust")) == 1.0
    train, test = values[fold != 0], values[fold == 0]
    same = (modules[:, None] == modules) & ~np.eye(30, dtype=bool)
    other = modules[:, None] != modules
    assert _explained(train, test, same) > 0.4
    assert _explained(train, test, other) < _explained(train, test, same) - 0.15


def _explained(train: np.ndarray, test: np.ndarray, seen: np.ndarray) -> float:
    """R² of held-out values of each node, regressed on the mean of the nodes that it sees."""
    errors = 0.0
    for node, others in enumerate(seen):
        mean = train[:, others].mean(axis=1)
        slope = mean @ train[:, node] / (mean @ mean)
        errors += np.square(test[:, node] - slope * test[:, others].mean(axis=1)).sum()
    return 1.0 - errors / np.square(test).sum()


def test_examples_are_standardised_by_node_and_run(tmp_path: Path) -> None:
    folder = build(tmp_path)
    values, run, fold = rows(folder, "values"), column(folder, "run"), column(folder, "fold")
    assert values.shape == (4 * 40, 6)
    for name in ("run0", "run1", "run2", "run3"):
        own = values[run == name]
        assert own.mean(axis=0) == pytest.approx(np.zeros(6), abs=1e-6)
        assert own.std(axis=0) == pytest.approx(np.ones(6), abs=1e-6)
        assert len(set(fold[run == name])) == 1
    assert np.bincount(fold).tolist() == [80, 80]
    assert column(folder, "id").tolist() == list(range(160))
    said = json.loads((folder / "task.json").read_bytes())
    assert said["family"] == "network"
    assert (said["tokens"], said["folds"], said["step"]) == (6, 2, "same")
    assert said["splits"] == {"fold0": 80, "fold1": 80}
    assert said["token_names"][0] == "node_1"
    schema = pq.read_schema(folder / "examples.parquet")
    assert str(schema.field("values").type) == "fixed_size_list<element: float>[6]"


def test_the_next_step_is_the_target(tmp_path: Path) -> None:
    folder, same = build(tmp_path / "next", step="next"), build(tmp_path / "same")
    values, targets, run = rows(folder, "values"), rows(folder, "targets"), column(folder, "run")
    whole, whole_run = rows(same, "values"), column(same, "run")
    for name in set(run):
        assert np.array_equal(values[run == name], whole[whole_run == name][:-1])
        assert np.array_equal(targets[run == name], whole[whole_run == name][1:])
    counts = json.loads((folder / "counts.json").read_bytes())
    assert counts["read"] == 4 * (50 + 40 * 5)
    assert counts["read"] - sum(counts["dropped"].values()) == counts["kept"] == 4 * 39


def test_same_settings_give_the_same_bytes(tmp_path: Path) -> None:
    one, two, other = build(tmp_path / "1"), build(tmp_path / "2"), build(tmp_path / "3", seed=1)
    for file in sorted(one.iterdir()):
        assert file.read_bytes() == (two / file.name).read_bytes()
    assert not np.array_equal(rows(one, "values"), rows(other, "values"))


def test_more_runs_leave_the_others_as_they_are(tmp_path: Path) -> None:
    few, many = build(tmp_path / "few"), build(tmp_path / "many", runs=6)
    assert np.array_equal(rows(few, "values"), rows(many, "values")[: 4 * 40])


def test_layout_knows_modules_and_coupling() -> None:
    weights = np.array([[0.0, 0.4, 0.0], [0.8, 0.0, 0.0], [0.0, -0.6, 0.0]])
    layout = network_layout(np.array([0, 0, 1]), weights)
    expected = np.array([[0, 0.6, 0], [0.6, 0, 0.3], [0, 0.3, 0]])
    assert layout.relations["coupling"] == pytest.approx(expected)
    distance = np.array([[0, 0, 1], [0, 0, 0.5], [1, 0.5, 0]])
    assert layout.distances["coupling"] == pytest.approx(distance)
    assert layout.memberships["modules"].dtype == np.int64
    assert layout.relations["coupling"].dtype == np.float32
    assert layout.how_known("coupling") == "truth"
    assert layout.coordinates is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"modules": 7}, "modules is 7; 1 to 6"),
        ({"nodes": 1}, "nodes is 1; at least 2"),
        ({"noise": 0.0}, "noise is 0.0"),
        ({"density": 0.0}, "density is 0.0"),
        ({"time_step": 2.5}, "time_step is 2.5"),
        ({"gain": -1.0}, "gain is -1.0"),
        ({"samples": 1}, "samples is 1"),
        ({"between": float("nan")}, "between is nan"),
        ({"runs": 1}, "there are 1 runs and 2 folds.*more runs"),
        ({"folds": 5}, "there are 4 runs and 5 folds.*lower folds, to 4"),
        ({"folds": 1}, "folds is 1"),
    ],
)
def test_settings_without_meaning_are_refused(
    tmp_path: Path, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        build(tmp_path / "task", **settings)
    assert not (tmp_path / "task").exists()
