"""The whole config: catalogues of what could run, the study of what does."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from poscope.config.base import Name, Section
from poscope.config.faults import unknown
from poscope.config.figures import Figures
from poscope.config.models import AnyModel, table_names
from poscope.config.probes import Probes

Experiment = Literal["probes"]
ProbeName = Literal["absolute", "order", "distance", "similarity", "spectrum", "geometry"]


class Study(Section):
    """What runs. An overlay replaces these lists, so that it holds nothing that it does not name."""

    experiments: list[Experiment] = Field(default=["probes"], min_length=1)
    """The experiments that the target `all` runs; each is also a target of its own."""
    models: list[Name] = Field(min_length=1)
    """Source models whose tables are studied, in the order in which tables and figures show them."""
    probes: list[ProbeName] = Field(
        default=["absolute", "order", "distance", "similarity", "spectrum", "geometry"],
        min_length=1,
    )
    """The probes that run on every table."""
    reference: Name | None = None
    """Table that all others are compared with (`{model}`, or `{model}_encoder` of a model with two sides)."""


class Config(Section):
    """The config as a whole."""

    mirror: str | None = None
    """A folder that answers for URLs, as `{mirror}/{host}/{path}`; else the environment variable POSCOPE_MIRROR."""
    models: dict[Name, AnyModel] = Field(default_factory=dict)
    """Catalogue of source models by name."""
    probes: Probes = Probes()
    """Settings of the probes."""
    figures: Figures = Figures()
    """Settings of the figures; changing one redraws that figure and trains nothing."""
    study: Study
    """What runs."""

    def tables(self) -> dict[str, str]:
        """The study's position tables in its order: table name → name of its source model."""
        return {
            table: name
            for name in self.study.models
            for table in table_names(name, self.models[name])
        }

    def labels(self) -> dict[str, str]:
        """Display label of each of the study's tables."""
        labels = {}
        for table, name in self.tables().items():
            label = self.models[name].label or name
            side = table.removeprefix(name).removeprefix("_")
            labels[table] = f"{label} {side}".rstrip()
        return labels


def cross_checks(raw: dict[str, object]) -> Iterator[str]:
    """Faults between sections, found on the raw config so that they show beside the faults within sections."""
    models, study = raw.get("models"), raw.get("study")
    models = models if isinstance(models, dict) else {}
    if not isinstance(study, dict):
        return
    for key in ("experiments", "models", "probes"):
        yield from _repeated(f"study.{key}", study.get(key))
    chosen = study.get("models")
    names = [name for name in chosen if isinstance(name, str)] if isinstance(chosen, list) else []
    for index, name in enumerate(names):
        if name not in models:
            yield unknown(f"study.models[{index}]", name, models)
    tables = _tables(models, names)
    for table in sorted({table for table in tables if tables.count(table) > 1}):
        yield f"study.models: two of them yield a table named {table!r}; rename one"
    reference = study.get("reference")
    if isinstance(reference, str) and reference not in tables:
        yield unknown("study.reference", reference, tables)


def _repeated(path: str, names: object) -> Iterator[str]:
    if isinstance(names, list):
        for name in sorted({str(name) for name in names if names.count(name) > 1}):
            yield f"{path}: {name!r} stands there {names.count(name)} times; once is enough"


def _tables(models: dict[str, object], names: list[str]) -> list[str]:
    tables = []
    for name in names:
        spec = models.get(name)
        sides = spec.get("sides") if isinstance(spec, dict) else None
        tables.extend(
            [f"{name}_{side}" for side in sides] if isinstance(sides, list) and sides else [name]
        )
    return tables
