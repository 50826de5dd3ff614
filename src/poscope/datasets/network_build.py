"""From a simulated network of modules to a task on disk (Ito et al.)."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from poscope.datasets.layout import Layout
from poscope.datasets.series_examples import Run, SeriesTask, check_folds, write_series_task
from poscope.datasets.stochastic_network import (
    StochasticNetwork,
    coupling_weights,
    module_of_nodes,
    simulate,
)

_RUNS = 5


def build_network(
    *, source: Mapping[str, Any], output_folder: str | os.PathLike[str], seed: int
) -> None:
    """Simulate a network and write the task's folder; the same settings and seed give the same bytes.

    All runs have one coupling and differ in their noise. An example is one kept sample, standardised by node and run.
    The layout knows the truth: the modules, the relation `coupling` (absolute weights, mean of both directions) and the
    distance `coupling`, 1 − relation / its largest, which is 1 where two nodes are not linked.

    Args:
        source: settings of `stochastic_network.StochasticNetwork`, and `runs` (5), `folds` (5) and `step` (`same`).
        output_folder: where the files go.
        seed: of coupling, noise and folds.

    Raises:
        DataError: a setting has no meaning, or there are fewer runs than folds.
        PoscopeError: the folder cannot be written.
    """
    network = StochasticNetwork.of(source)
    count, folds = source.get("runs", _RUNS), source.get("folds", _RUNS)
    check_folds(count, folds, unit="runs")
    modules = module_of_nodes(network, seed)
    weights = coupling_weights(network, modules, seed)
    runs = [
        Run(f"run{number}", simulate(network, weights, seed=seed, run=number))
        for number in range(count)
    ]
    task = SeriesTask(
        family="network",
        runs=runs,
        token_names=[f"node_{number}" for number in range(1, network.nodes + 1)],
        folds=folds,
        step=source.get("step", "same"),
        layout=network_layout(modules, weights),
    )
    write_series_task(output_folder, task, _counts(network, count), seed=seed)


def network_layout(modules: np.ndarray, weights: np.ndarray) -> Layout:
    """What is known of nodes by construction.

    Args:
        modules: int64, shape (nodes,).
        weights: shape (nodes, nodes), zero diagonal.
    """
    coupling = (np.abs(weights) + np.abs(weights.T)) / 2
    largest = coupling.max()
    distance = 1.0 - coupling / largest if largest > 0 else np.ones_like(coupling)
    np.fill_diagonal(distance, 0.0)
    return Layout(
        memberships={"modules": modules},
        distances={"coupling": distance.astype(np.float32)},
        relations={"coupling": coupling.astype(np.float32)},
        basis={"modules": "truth", "coupling": "truth"},
    )


def _counts(network: StochasticNetwork, runs: int) -> dict[str, Any]:
    """What was simulated, and what of it is not kept."""
    steps = network.discard + network.samples * network.every
    return {
        "read": runs * steps,
        "dropped": {
            "before the network had settled": runs * network.discard,
            "between kept samples": runs * (steps - network.discard - network.samples),
        },
        "notes": [
            f"{runs} runs of {steps} steps of {network.time_step:g} time constants of a node; one sample is kept every "
            f"{network.every} steps after the first {network.discard}"
        ],
    }
