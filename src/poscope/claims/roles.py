"""Who plays which part in a study: claims speak of small σ, of masked models, of skipped rows, and not of names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SMALL_SIGMA = 0.5
LARGE_SIGMA = 1.0
"""A learned table starts small up to the first σ, and large from the second (Ito et al. go from 0.1 to 2.0)."""

Facts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Roles:
    """The study's names by role.

    Attributes:
        members: by role, names in the order of preference.
        numbers: by name, the number that goes with it: an encoding's σ.
        prefer_reference: roles of which a table's reference is taken first, as tests are against that one.
    """

    members: Mapping[str, list[str]] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    prefer_reference: frozenset[str] = frozenset({"small_sigma"})


def study_roles(
    *, encodings: Facts, tasks: Facts, models: Facts, reference: str | None = None
) -> Roles:
    """Find the roles in what the config says.

    Args:
        encodings: by name, `kind`, `sd`, `trainable` and `form` as far as it has them.
        tasks: by name, `objective` (`mlm` or `clm`) as far as it has one.
        models: by name, those that the study pretrains: `objective`, `batch_size`, `block_lengths`.
        reference: the pretrained model that others are compared with; it is the masked one if it is masked.
    """
    sigmas = {
        name: float(facts["sd"])
        for name, facts in encodings.items()
        if facts.get("kind") == "random" and facts.get("trainable", True) and facts.get("sd")
    }
    rising = sorted(sigmas, key=lambda name: sigmas[name])
    members = {
        "sigmas": rising,
        "small_sigma": [name for name in rising if sigmas[name] <= SMALL_SIGMA],
        "large_sigma": [name for name in reversed(rising) if sigmas[name] >= LARGE_SIGMA],
        "skipped": [name for name, facts in encodings.items() if facts.get("form") == "skip"],
        "masked_tasks": _with_objective(tasks, "mlm"),
        "autoregressive_tasks": _with_objective(tasks, "clm"),
        **_pretrained(models, reference),
    }
    return Roles(members, sigmas)


def _with_objective(facts: Facts, objective: str) -> list[str]:
    return [name for name, each in facts.items() if each.get("objective") == objective]


def _pretrained(models: Facts, reference: str | None) -> dict[str, list[str]]:
    masked = _with_objective(models, "mlm")
    masked.sort(key=lambda name: name != reference)
    roles = {"masked": masked[:1], "autoregressive": _with_objective(models, "clm")[:1]}
    for name in masked[1:]:
        first, other = models[masked[0]], models[name]
        same_blocks = first.get("block_lengths") == other.get("block_lengths")
        if same_blocks and other.get("batch_size", 0) < first.get("batch_size", 0):
            roles.setdefault("masked_smaller_batch", [name])
        if len(set(other.get("block_lengths", ()))) > 1:
            roles.setdefault("masked_two_lengths", [name])
    return roles
