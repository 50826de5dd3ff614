"""Tables that were made up to support, contradict or leave open a claim: rows by path, with means and intervals.

A path is table, keys and metric with slashes between; keys that have a usual value need not be said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from poscope.claims.keys import KEYS, LAST
from poscope.claims.roles import Roles, study_roles
from poscope.reporting.tidy import ALL_BUT_KEYS, EMPTY, tidy_frame

REPEATS = 5
NARROW = 0.001
WIDE = 50.0
"""Half-widths of intervals, relative to the mean or absolute where it is below 1."""

_LAYOUT = {"split": "", "condition": "", "layer": "all"}


@dataclass(frozen=True)
class Exact:
    """A figure without an interval."""

    mean: float


@dataclass(frozen=True)
class Versus:
    """A figure with its table's own test: the difference from a reference."""

    difference: float
    reference: str
    mean: float = 0.5


Value = float | Exact | Versus
Rows = Mapping[str, Value]


def tables(rows: Rows, *, width: float = NARROW, p_value: float = 1e-6) -> dict[str, pd.DataFrame]:
    """Tidy tables that hold these rows.

    Args:
        rows: by path.
        width: of all intervals.
        p_value: of all tests.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for path, value in rows.items():
        table, *keys, metric = path.split("/")
        names = _keys(table, keys, metric)
        row = {**names, "metric": metric, **EMPTY, **_figures(value, width, p_value)}
        found.setdefault(table, []).append(row)
    return {table: tidy_frame(each, (*KEYS[table], *ALL_BUT_KEYS)) for table, each in found.items()}


def roles() -> Roles:
    """Those of a study with three σ, skipped rows, and four pretrained models."""
    return study_roles(
        encodings={
            "learned_0_1": {"kind": "random", "sd": 0.1, "trainable": True},
            "learned_0_2": {"kind": "random", "sd": 0.2, "trainable": True},
            "learned_2_0": {"kind": "random", "sd": 2.0, "trainable": True},
            "learned_1_0": {"kind": "random", "sd": 1.0, "trainable": True},
            "random_fixed": {"kind": "random", "sd": 3.0, "trainable": False},
            "lm_bert_skip": {"kind": "table", "form": "skip"},
            "lm_gpt2_skip": {"kind": "table", "form": "skip"},
            "lm_bert_shuffle": {"kind": "table", "form": "shuffle"},
        },
        tasks={
            "wikitext2_mlm": {"objective": "mlm"},
            "wikitext2_clm": {"objective": "clm"},
            "sst2": {},
        },
        models={
            "clm": {"objective": "clm", "batch_size": 256, "block_lengths": [128]},
            "mlm_32": {"objective": "mlm", "batch_size": 32, "block_lengths": [128]},
            "mlm": {"objective": "mlm", "batch_size": 256, "block_lengths": [128]},
            "mlm_two": {"objective": "mlm", "batch_size": 256, "block_lengths": [128, 512]},
        },
        reference="mlm",
    )


def _keys(table: str, given: list[str], metric: str) -> dict[str, str]:
    """Keys in the table's order; the last ones that are not said have their usual value."""
    keys = dict(zip(KEYS[table], given, strict=False))
    usual = {name: "9" if default == LAST else default for name, default in KEYS[table].items()}
    if table.startswith("initialization") and metric in ("cka", "rsa"):
        usual |= _LAYOUT
    said = {**usual, **keys}
    assert None not in said.values(), f"{table}: {given} are not all its keys"
    return {name: str(value) for name, value in said.items()}


def _figures(value: Value, width: float, p_value: float) -> dict[str, Any]:
    if isinstance(value, Exact):
        return {"mean": value.mean, "sd": None, "n": 1, "low": None, "high": None}
    mean = value.mean if isinstance(value, Versus) else value
    half = width * max(1.0, abs(mean))
    figures: dict[str, Any] = {
        "mean": mean,
        "sd": half,
        "n": REPEATS,
        "low": mean - half,
        "high": mean + half,
    }
    if isinstance(value, Versus):
        figures |= {"reference": value.reference, "difference": value.difference}
        figures |= {"p_value": p_value, "p_adjusted": p_value, "test": "a test, Holm"}
    return figures
