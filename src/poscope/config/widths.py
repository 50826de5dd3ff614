"""Faults between encodings and the networks that they are given to: found once all sections are right by themselves."""

from collections.abc import Iterator

from poscope.config.classification import ClassificationTask
from poscope.config.language_modeling import LanguageModelingTask
from poscope.config.study import Config


def combination_faults(config: Config) -> Iterator[str]:
    """Encodings of the study whose way of combining does not fit a network that would get them."""
    for here, task, name in _meetings(config):
        encoding = config.encodings[name]
        combine = getattr(encoding, "combine", "sum")
        width = getattr(encoding, "position_dim", None) or 0
        dim, heads = _sizes(config, task)
        if combine == "concat" and width >= dim:
            yield (
                f"{here}: {name!r} gives positions a width of {width}, which leaves no room for words in the "
                f"network of {task!r}, {dim} wide; lower encodings.{name}.position_dim"
            )
        if combine == "concat_wide" and (dim + width) % heads:
            yield (
                f"{here}: {name!r} makes the network of {task!r} {dim} + {width} wide, which its {heads} heads do "
                f"not divide; set encodings.{name}.position_dim to a multiple of {heads}"
            )
    yield from _translation_faults(config)


def _translation_faults(config: Config) -> Iterator[str]:
    study = config.study.translation
    for pair in study.pairs if study else []:
        for name in pair.split("--"):
            combine = getattr(config.encodings[name], "combine", "sum")
            if combine != "sum":
                yield (
                    f"study.translation.pairs: {name!r} of {pair!r} combines by {combine}, and translators only add"
                )


def _meetings(config: Config) -> Iterator[tuple[str, str, str]]:
    """Where a task meets an encoding: the path of the encodings, the task, the encoding."""
    study = config.study
    composition = study.composition
    found = {
        "study.classification": study.classification,
        "study.language_modeling": study.language_modeling,
        "study.composition.classification": composition and composition.classification,
        "study.composition.language_modeling": composition and composition.language_modeling,
    }
    for here, section in found.items():
        for task in section.tasks if section else []:
            for name in section.encodings if section else []:
                yield f"{here}.encodings", task, name


def _sizes(config: Config, name: str) -> tuple[int, int]:
    """Width and heads of a task's network."""
    task = config.tasks[name]
    if isinstance(task, ClassificationTask):
        return task.training.dim, task.training.heads
    assert isinstance(task, LanguageModelingTask)
    return task.network.dim, task.network.heads
