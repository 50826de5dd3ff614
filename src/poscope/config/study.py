"""The whole config: catalogues of what could run, the study of what does."""

from typing import Literal

from pydantic import Field, PositiveInt

from poscope.config.base import Name, PairName, Section
from poscope.config.composition import AnalysisName, Composition
from poscope.config.corpora import Corpus
from poscope.config.encodings import AnyEncoding
from poscope.config.figures import Figures
from poscope.config.interpretation import Interpretation
from poscope.config.models import AnyModel, table_names
from poscope.config.probes import Probes
from poscope.config.tasks import AnyTask

Experiment = Literal[
    "probes",
    "pretraining",
    "classification",
    "language_modeling",
    "translation",
    "composition",
    "initialization",
]
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


class PretrainingStudy(Section):
    """Which source models of the source `pretrain` the experiment `pretraining` trains and probes along the way."""

    models: list[Name] = Field(min_length=1)
    """Source models, in the order of tables and figures."""
    seeds: int = Field(default=1, ge=1)
    """Seeds of each: 0 … seeds - 1."""
    reference: Name | None = None
    """Model that all others are compared with, at the end of training."""


class LanguageModelingStudy(Section):
    """Which cells of the experiment `language_modeling` run: every task with every encoding and seed."""

    tasks: list[Name] = Field(min_length=1)
    """Tasks."""
    encodings: list[Name] = Field(min_length=1)
    """Encodings, in the order of tables and figures; one in a form is set beside the same encoding without."""
    seeds: int = Field(default=3, ge=1)
    """Seeds of each cell: 0 … seeds - 1."""
    task_seeds: dict[Name, int] = Field(default={})
    """Task → seeds, where a task has others; tasks that are not in the study are passed over."""
    reference: Name | None = None
    """Encoding that all others are compared with."""


class TranslationStudy(Section):
    """Which cells of the experiment `translation` run: every task with every pair of encodings and seed."""

    tasks: list[Name] = Field(min_length=1)
    """Tasks."""
    pairs: list[PairName] = Field(min_length=1)
    """`{encoder}--{decoder}`: the encodings of both sides, in the order of tables and figures."""
    seeds: int = Field(default=3, ge=1)
    """Seeds of each cell: 0 … seeds - 1."""
    reference: PairName | None = None
    """Pair that all others are compared with."""


class Comparison(Section):
    """Cells of one experiment in which ways of combining words and positions are compared."""

    tasks: list[Name] = Field(min_length=1)
    """Tasks of that experiment."""
    encodings: list[Name] = Field(min_length=1)
    """Encodings that differ in how positions meet words, in the order of tables and figures."""
    seeds: int = Field(default=3, ge=1)
    """Seeds of each cell: 0 … seeds - 1."""
    reference: Name | None = None
    """Encoding that all others are compared with."""


class CompositionStudy(Section):
    """What the experiment `composition` analyses, and which cells of other experiments it compares."""

    models: list[Name] = Field(min_length=1)
    """Source models whose tables are analysed; those without words or layers take part where they can."""
    analyses: list[AnalysisName] = Field(
        default=["identity", "coordinates", "subspaces", "attention_terms"], min_length=1
    )
    """The analyses."""
    classification: Comparison | None = None
    """Ways of combining, compared in classifiers."""
    language_modeling: Comparison | None = None
    """Ways of combining, compared in language models."""


class ArrangementStudy(Section):
    """Which cells of one family of tasks run: every task with every encoding and seed."""

    tasks: list[Name] = Field(min_length=1)
    """Tasks of that family."""
    encodings: list[Name] = Field(min_length=1)
    """Encodings, in the order of tables and figures."""
    seeds: int = Field(default=15, ge=1)
    """Seeds of each cell: 0 … seeds - 1."""
    seeds_per_block: PositiveInt = 5
    """Seeds that train together in one process. `seeds` is a multiple of it, so that more leave blocks alone."""
    reference: Name | None = None
    """Encoding that all others are compared with."""


class InitializationStudy(Section):
    """Which cells of the experiment `initialization` run; an overlay leaves a family out by `null`."""

    latin_square: ArrangementStudy | None = None
    """Latin square puzzles."""
    network: ArrangementStudy | None = None
    """Nonlinear stochastic networks."""
    fmri: ArrangementStudy | None = None
    """Parcellated series of real brains."""

    def families(self) -> dict[str, ArrangementStudy]:
        """What runs, by family."""
        found = {"latin_square": self.latin_square, "network": self.network, "fmri": self.fmri}
        return {name: section for name, section in found.items() if section is not None}


class Study(Section):
    """What runs. An overlay's lists replace these; what it leaves out stays, and `null` takes a section out."""

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
    pretraining: PretrainingStudy | None = None
    """Cells of the experiment `pretraining`."""
    language_modeling: LanguageModelingStudy | None = None
    """Cells of the experiment `language_modeling`."""
    translation: TranslationStudy | None = None
    """Cells of the experiment `translation`."""
    composition: CompositionStudy | None = None
    """What the experiment `composition` looks at."""
    initialization: InitializationStudy | None = None
    """Cells of the experiment `initialization`."""
    reference: Name | None = None
    """Table that all others are compared with (`{model}`, or `{model}_encoder` of a model with two sides)."""


# What two encodings that differ in their form alone may differ in besides.
_NEUTRAL = {"factor": 4, "label": None}


class Config(Section):
    """The config as a whole."""

    mirror: str | None = None
    """A folder that answers for URLs, as `{mirror}/{host}/{path}`; else the environment variable POSCOPE_MIRROR."""
    models: dict[Name, AnyModel] = Field(default_factory=dict)
    """Catalogue of source models by name."""
    encodings: dict[Name, AnyEncoding] = Field(default_factory=dict)
    """Catalogue of encodings by name."""
    corpora: dict[Name, Corpus] = Field(default_factory=dict)
    """Catalogue of corpora by name: what language models read."""
    tasks: dict[Name, AnyTask] = Field(default_factory=dict)
    """Catalogue of tasks by name."""
    probes: Probes = Probes()
    """Settings of the probes."""
    composition: Composition = Composition()
    """Settings of the analyses of how words and positions are composed."""
    interpretation: Interpretation = Interpretation()
    """Settings of what is asked of learned tables and attention in the experiment `initialization`."""
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
        label = self.table_label(encoding.table) if encoding.kind == "table" else name
        form = getattr(encoding, "form", "rows")
        return label if form == "rows" else f"{label} ({form})"

    def pair_label(self, pair: str) -> str:
        """Display label of an encoder's and a decoder's encoding."""
        return " → ".join(self.encoding_label(name) for name in pair.split("--"))

    def plain_encoding(self, name: str, among: list[str]) -> str | None:
        """The encoding among some that differs from this one in its form alone; None where there is none."""
        own = self.encodings[name]
        if getattr(own, "form", "rows") == "rows":
            return None
        plain = own.model_copy(update={"form": "rows", **_NEUTRAL})
        for other in among:
            found = self.encodings[other]
            if type(found) is type(own) and found.model_copy(update=_NEUTRAL) == plain:
                return other
        return None

    def _tables_of(self, models: list[str]) -> dict[str, str]:
        return {table: name for name in models for table in table_names(name, self.models[name])}
