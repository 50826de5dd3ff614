"""Scores of one seed's network, from what it gave for the held-out examples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poscope.training.initialization_data import ALL, HELDOUT, Puzzles

Scores = dict[str, dict[str, dict[str, Any]]]
"""By metric (and `n`, the examples), split and condition."""


def puzzle_scores(puzzles: Puzzles, rows: np.ndarray, predicted: np.ndarray) -> Scores:
    """Accuracy by split and condition.

    Args:
        puzzles: of which rows are scored.
        rows: shape (M,).
        predicted: symbols, 1 … n, shape (M,).
    """
    right = predicted == puzzles.gold[rows]
    splits, conditions = puzzles.splits[rows], puzzles.conditions[rows]
    accuracy: dict[str, dict[str, float]] = {}
    counts: dict[str, dict[str, int]] = {}
    for split in puzzles.scored:
        inside = splits == split
        chosen = {ALL: inside, **{kind: inside & (conditions == kind) for kind in puzzles.kinds}}
        chosen = {name: mask for name, mask in chosen.items() if mask.any()}
        accuracy[split] = {
            name: int(right[mask].sum()) / int(mask.sum()) for name, mask in chosen.items()
        }
        counts[split] = {name: int(mask.sum()) for name, mask in chosen.items()}
    return {"accuracy": accuracy, "n": counts}


def series_scores(squares: np.ndarray, spreads: np.ndarray) -> Scores:
    """Mean squared error, and R² = 1 − Σ errors² / Σ (targets − training mean)².

    Args:
        squares: mean squared error of each example's hidden tokens, shape (M,); all hide as many.
        spreads: mean square of these tokens about the training mean, shape (M,).
    """
    total = float(spreads.sum())
    explained = 1 - float(squares.sum()) / total if total > 0 else float("nan")
    return {
        "mse": {HELDOUT: {ALL: float(squares.mean())}},
        "r2": {HELDOUT: {ALL: explained}},
        "n": {HELDOUT: {ALL: len(squares)}},
    }


def flattened(scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, float]:
    """Scores as columns of a history: `heldout_all_accuracy` …, or `heldout_mse` where there is one condition alone."""
    return {
        f"{split}_{condition}_{metric}" if metric == "accuracy" else f"{split}_{metric}": value
        for metric, by_split in scores.items()
        if metric != "n"
        for split, by_condition in by_split.items()
        for condition, value in by_condition.items()
    }
