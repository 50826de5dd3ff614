"""The whole config: catalogues of what could run, the study of what does."""

from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import Field

from poscope.config.base import Name, Section
from poscope.config.encodings import AnyEncoding
from poscope.config.faults import unknown
from poscope.config.figures import Figures
from poscope.config.models import AnyModel, table_names
from poscope.config.probes import Probes
from poscope.config.tasks import AnyTask, Buckets

Experiment = Literal["probes", "classification"]
ProbeName = Literal["absolute", "order", "distance", "similarity", "spectrum", "geometry"]


class ClassificationStudy(Section):
    """Which cells of the experiment `classification` run: every task with every encoding, bucket and seed."""

    tasks: list[Name] = Field(min_length=1)
    """Tasks."""
    encodings: list[Name] = Field(min_length=1)
    """Encodings, in the order of tables and figures."""
    buckets: list[Name] = Field(default=["all"], min_length=1)
    """Length buckets to train on: `all`, or names of a task's buckets. Each cell is scored on all of them."""
    seeds: int = Field(default=5, ge=1)
    """Seeds of each cell: 0 … seeds - 1."""
    reference: Name | None = "random"
    """Encoding that all others are compared with."""


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
    classification: ClassificationStudy | None = None
    """Cells of the experiment `classification`."""
    reference: Name | None = None
    """Table that all others are compared with (`{model}`, or `{model}_encoder` of a model with two sides)."""


class Config(Section):
    """The config as a whole."""

    mirror: str | None = None
    """A folder that answers for URLs, as `{mirror}/{host}/{path}`; else the environment variable POSCOPE_MIRROR."""
    models: dict[Name, AnyModel] = Field(default_factory=dict)
    """Catalogue of source models by name."""
    encodings: dict[Name, AnyEncoding] = Field(default_factory=dict)
    """Catalogue of encodings by name."""
    tasks: dict[Name, AnyTask] = Field(default_factory=dict)
    """Catalogue of tasks by name."""
    probes: Probes = Probes()
    """Settings of the probes."""
    figures: Figures = Figures()
    """Settings of the figures; changing one redraws that figure and trains nothing."""
    study: Study
    """What runs."""

    def tables(self) -> dict[str, str]:
        """The study's position tables in its order: table name → name of its source model."""
        return self._tables_of(self.study.models)

    def all_tables(self) -> dict[str, str]:
        """Every position table of the catalogue: table name → name of its source model."""
        return self._tables_of(list(self.models))

    def table_label(self, table: str) -> str:
        """Display label of a position table."""
        name = self.all_tables()[table]
        label = self.models[name].label or name
        side = table.removeprefix(name).removeprefix("_")
        return f"{label} {side}".rstrip()

    def labels(self) -> dict[str, str]:
        """Display label of each of the study's position tables, in its order."""
        return {table: self.table_label(table) for table in self.tables()}

    def encoding_label(self, name: str) -> str:
        """Display label of an encoding."""
        encoding = self.encodings[name]
        if encoding.label is not None:
            return encoding.label
        return self.table_label(encoding.table) if encoding.kind == "table" else name

    def _tables_of(self, models: list[str]) -> dict[str, str]:
        return {table: name for name in models for table in table_names(name, self.models[name])}


def cross_checks(raw: dict[str, object]) -> Iterator[str]:
    """Faults between sections, found on the raw config so that they show beside the faults within sections."""
    models, study = _section(raw, "models"), raw.get("study")
    if not isinstance(study, dict):
        return
    for key in ("experiments", "models", "probes"):
        yield from _repeated(f"study.{key}", study.get(key))
    names = _names(study.get("models"))
    yield from _unknown_names("study.models", names, models)
    tables = _tables(models, names)
    for table in sorted({table for table in tables if tables.count(table) > 1}):
        yield f"study.models: two of them yield a table named {table!r}; rename one"
    reference = study.get("reference")
    if isinstance(reference, str) and reference not in tables:
        yield unknown("study.reference", reference, tables)
    yield from _encoding_checks(raw, _tables(models, list(models)))
    yield from _classification_checks(raw, study)


def _encoding_checks(raw: dict[str, object], tables: list[str]) -> Iterator[str]:
    for name, encoding in _section(raw, "encodings").items():
        table = encoding.get("table") if isinstance(encoding, dict) else None
        if isinstance(table, str) and table not in tables:
            yield unknown(f"encodings.{name}.table", table, tables)


def _classification_checks(raw: dict[str, object], study: dict[str, object]) -> Iterator[str]:
    chosen = study.get("classification")
    experiments = study.get("experiments")
    if not isinstance(chosen, dict):
        if isinstance(experiments, list) and "classification" in experiments:
            yield "study.classification: missing; the experiment needs its tasks and encodings"
        return
    here = "study.classification"
    for key in ("tasks", "encodings", "buckets"):
        yield from _repeated(f"{here}.{key}", chosen.get(key))
    for key in ("tasks", "encodings"):
        yield from _unknown_names(f"{here}.{key}", chosen.get(key), _section(raw, key))
    tasks = [_section(raw, "tasks").get(name) for name in _names(chosen.get("tasks"))]
    buckets = {"all"}.union(*(_bucket_names(task) for task in tasks if isinstance(task, dict)))
    yield from _unknown_names(f"{here}.buckets", chosen.get("buckets"), buckets)
    reference = chosen.get("reference", "random")
    if isinstance(reference, str) and reference not in _names(chosen.get("encodings")):
        yield unknown(f"{here}.reference", reference, _names(chosen.get("encodings")))


def _bucket_names(task: dict[str, object]) -> list[str]:
    buckets = task.get("buckets")
    names = buckets.get("names") if isinstance(buckets, dict) else None
    return _names(names) if names is not None else Buckets().names


def _section(raw: dict[str, object], key: str) -> dict[str, object]:
    section = raw.get(key)
    return section if isinstance(section, dict) else {}


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _unknown_names(path: str, names: object, allowed: Iterable[str]) -> Iterator[str]:
    for index, name in enumerate(_names(names)):
        if name not in allowed:
            yield unknown(f"{path}[{index}]", name, allowed)


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
