"""Faults between tasks whose tokens lie in space and encodings: found once all sections are right by themselves."""

from collections.abc import Iterator

from poscope.config.initialization import InitializationTask
from poscope.config.study import ArrangementStudy, Config

# Encodings that other networks than those of this experiment do not know.
_OF_INITIALIZATION = ("uniform", "sinusoid", "rotary", "relative", "causal")


def placement_faults(config: Config) -> Iterator[str]:
    """What is wrong with the cells of the experiment `initialization`, and with its encodings in other experiments."""
    yield from _foreign_encodings(config)
    study = config.study.initialization
    if study is None or "initialization" not in config.study.experiments:
        return
    for family, section in study.families().items():
        here = f"study.initialization.{family}"
        yield from _family_faults(config, section, family, here)
        yield from _encoding_faults(config, section, here)


def _family_faults(
    config: Config, section: ArrangementStudy, family: str, here: str
) -> Iterator[str]:
    if section.seeds % section.seeds_per_block:
        yield (
            f"{here}.seeds: found {section.seeds}; blocks of {section.seeds_per_block} seeds train together: "
            f"give a multiple of seeds_per_block, or lower that"
        )
    for name in section.tasks:
        task = config.tasks[name]
        assert isinstance(task, InitializationTask)
        if task.family != family:
            yield f"{here}.tasks: {name!r} is of the family {task.family!r}, by its data"


def _encoding_faults(config: Config, section: ArrangementStudy, here: str) -> Iterator[str]:
    for name in section.encodings:
        encoding = config.encodings[name]
        if getattr(encoding, "combine", "sum") != "sum":
            yield (
                f"{here}.encodings: {name!r} combines by {encoding.combine}, and these networks only add"  # type: ignore[union-attr]
            )
        if encoding.kind != "sinusoid":
            continue
        for task_name in section.tasks:
            task = config.tasks[task_name]
            assert isinstance(task, InitializationTask)
            if encoding.dimensions > task.axes:
                yield (
                    f"{here}.encodings: {name!r} needs coordinates in {encoding.dimensions} dimensions, "
                    f"and of the tokens of {task_name!r} {_known(task.axes)} known"
                )


def _known(axes: int) -> str:
    return "the number alone is" if axes == 1 else f"{axes} are"


def _foreign_encodings(config: Config) -> Iterator[str]:
    for here, names in _other_encodings(config).items():
        for name in names:
            kind = config.encodings[name].kind
            if kind in _OF_INITIALIZATION:
                yield f"{here}: {name!r} is of the kind {kind!r}, which the experiment initialization alone has"


def _other_encodings(config: Config) -> dict[str, list[str]]:
    """Where other experiments of the study name encodings, and which."""
    study = config.study
    found: dict[str, list[str]] = {}
    if study.classification is not None:
        found["study.classification.encodings"] = study.classification.encodings
    if study.language_modeling is not None:
        found["study.language_modeling.encodings"] = study.language_modeling.encodings
    if study.translation is not None:
        names = [name for pair in study.translation.pairs for name in pair.split("--")]
        found["study.translation.pairs"] = list(dict.fromkeys(names))
    if study.composition is not None:
        for experiment in ("classification", "language_modeling"):
            section = getattr(study.composition, experiment)
            if section is not None:
                found[f"study.composition.{experiment}.encodings"] = section.encodings
    return found
