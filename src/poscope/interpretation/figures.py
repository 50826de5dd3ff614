"""Figures as JSON holds them: one for each layer, and their mean."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poscope.datasets.layout import Basis
from poscope.evaluation.classification import ALL
from poscope.interpretation.permutation import permutation_test


@dataclass(frozen=True, eq=False)
class Measured:
    """A figure of all networks.

    Attributes:
        metric: its name.
        values: by seed, layer and order of the tokens, their own first, shape (S, L, 1 + permutations); NaN where it is
            not defined. Without permutations there is nothing that it is held against.
        basis: how that is known which it is held against.
        smaller_is_better: whether a smaller figure agrees better.
    """

    metric: str
    values: np.ndarray
    basis: Basis = "truth"
    smaller_is_better: bool = False


def figures(measured: Measured) -> list[dict[str, Any]]:
    """A figure for each layer, and for the mean over layers of each seed; that is undefined where one of them is."""
    layers = measured.values.shape[1]
    by_layer = [
        _figure(measured, str(layer + 1), measured.values[:, layer]) for layer in range(layers)
    ]
    return [*by_layer, _figure(measured, ALL, measured.values.mean(axis=1))]


def _figure(measured: Measured, layer: str, values: np.ndarray) -> dict[str, Any]:
    """One figure, from values of shape (S, 1 + permutations)."""
    own = [float(value) if np.isfinite(value) else None for value in values[:, 0]]
    chance, p_value = None, None
    defined = values[np.isfinite(values).all(axis=1)]
    if len(defined) and values.shape[1] > 1:
        means = defined.mean(axis=0)  # over seeds
        chance, p_value = permutation_test(means, smaller_is_better=measured.smaller_is_better)
    return {
        "metric": measured.metric,
        "layer": layer,
        "values": own,
        "chance": chance,
        "p_value": p_value,
        "basis": measured.basis,
    }
