"""Faults between encodings and the networks that they are given to: found once all sections are right by themselves."""

from collections.abc import Iterator

from poscope.config.classification import ClassificationTask
from poscope.config.language_modeling import LanguageModelingTask
from poscope.config.study import ClassificationStudy, Comparison, Config, LanguageModelingStudy


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
    study = config.study.translation if "translation" in config.study.experiments else None
    for pair in study.pairs if study else []:
        for name in pair.split("--"):
            combine = getattr(config.encodings[name], "combine", "sum")
            if combine != "sum":
                yield (
                    f"study.translation.pairs: {name!r} of {pair!r} combines by {combine}, and translators only add"
                )


def _meetings(config: Config) -> Iterator[tuple[str, str, str]]:
    """Where a task meets an encoding in an experiment that runs: path of the encodings, task, encoding."""
    study = config.study
    found: dict[str, ClassificationStudy | LanguageModelingStudy | Comparison | None] = {
        "classification": study.classification,
        "language_modeling": study.language_modeling,
    }
    if study.composition is not None:
        found["composition.classification"] = study.composition.classification
        found["composition.language_modeling"] = study.composition.language_modeling
    for here, section in found.items():
        # An overlay that changes a task need not mend experiments that it does not run.
        if section is None or here.split(".")[0] not in study.experiments:
            continue
        for task in section.tasks:
            for name in section.encodings:
                yield f"study.{here}.encodings", task, name


def _sizes(config: Config, name: str) -> tuple[int, int]:
    """Width and heads of a task's network."""
    task = config.tasks[name]
    if isinstance(task, ClassificationTask):
        return task.training.dim, task.training.heads
    assert isinstance(task, LanguageModelingTask)
    return task.network.dim, task.network.heads
