"""Data of the experiment `initialization`: puzzles, a simulated network, parcellated series."""

from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from poscope.config.base import Name, Section, Sha256
from poscope.config.texts import DataFile

Step = Literal["same", "next"]


class PuzzleFiles(Section):
    """Published Latin square puzzles, in the format of Hearne et al."""

    source: Literal["puzzle_files"]
    """Where the examples come from."""
    files: dict[Name, DataFile] = Field(min_length=1)
    """CSV files by name, with the columns condition, puzzles, solutions."""
    scored: list[Name] = Field(default=["human"])
    """Files that are test splits of their own; the puzzles of all others are pooled and divided."""
    side: int = Field(default=4, ge=2)
    """Rows, columns and symbols of the grid."""
    heldout: PositiveInt = 1000
    """Pooled puzzles that are held out for test, in all conditions together."""

    @model_validator(mode="after")
    def _something_to_learn_from(self) -> Self:
        if not set(self.files) - set(self.scored):
            raise ValueError("scored: every file is for test alone, and none is left to learn from")
        return self


class GeneratedPuzzles(Section):
    """Latin square puzzles of this project's own generator."""

    source: Literal["puzzles"]
    """Where the examples come from."""
    side: int = Field(default=4, ge=2)
    """Rows, columns and symbols of the grid."""
    per_complexity: PositiveInt = 3000
    """Puzzles of each complexity."""
    vectors: list[PositiveInt] = Field(default=[1, 2, 3], min_length=1)
    """Complexities: how many rows and columns must be joined to find the target."""
    heldout: PositiveInt = 1000
    """Puzzles that are held out for test, in all complexities together."""
    distance: float = Field(default=0.6, ge=0, le=1)
    """Least Jaccard distance of a held-out puzzle from every training puzzle, as sets of cells with symbols."""
    search_steps: PositiveInt = 100000
    """Steps that the proof of one puzzle may take."""


class SimulatedNetwork(Section):
    """A recurrent network of modules, driven by noise; time is in units of a node's time constant."""

    source: Literal["network"]
    """Where the examples come from."""
    nodes: int = Field(default=30, ge=2)
    """Nodes, each of which is a token."""
    modules: PositiveInt = 3
    """Modules, as equal in size as can be."""
    within: NonNegativeFloat = 1.2
    """Sum of the weights that reach a node from its own module."""
    between: float = 0.03
    """Sum of those that reach it from all others; may be negative."""
    density: float = Field(default=0.5, gt=0, le=1)
    """Share of the possible links that exist."""
    gain: PositiveFloat = 1.0
    """Slope of the nonlinearity at 0."""
    noise: PositiveFloat = 0.5
    """Standard deviation of what noise adds in one unit of time."""
    time_step: float = Field(default=0.1, gt=0, le=1)
    """Of the integration."""
    samples: int = Field(default=1000, ge=2)
    """Kept samples of a run."""
    every: PositiveInt = 20
    """Steps from one kept sample to the next."""
    discard: NonNegativeInt = 1000
    """Steps at the beginning of a run that are thrown away."""
    runs: int = Field(default=5, ge=2)
    """Runs: one coupling, different noise."""
    folds: int = Field(default=5, ge=2)
    """Folds of runs: seed s is tested on fold s mod folds."""
    ordered: bool = False
    """Whether nodes of a module follow each other; else nodes are shuffled."""
    step: Step = "same"
    """Predict hidden nodes at the same sample, or at the next."""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.modules > self.nodes:
            raise ValueError(
                f"modules: found {self.modules}; {self.nodes} nodes make at most as many"
            )
        if self.runs < self.folds:
            raise ValueError(f"runs: found {self.runs}; {self.folds} folds need at least as many")
        return self


class Series(Section):
    """What all parcellated series may say."""

    key: str | None = None
    """Name of the series within MAT and HDF5 files; found by itself where a file holds one alone."""
    coordinates_key: str | None = None
    """The same of coordinates."""
    fibre_counts_key: str | None = None
    """The same of fibre counts."""
    fibre_lengths_key: str | None = None
    """The same of fibre lengths."""
    homologues: Literal["alternating"] | None = None
    """`alternating`: left and right take turns in the regions' order, as in the AAL atlas."""
    transposed: bool = False
    """Whether files hold time × regions."""
    drop_bad_regions: bool = False
    """Drop regions that are constant or not finite in any person, in all people; else they are an error."""
    every: PositiveInt = 1
    """Take each so-manieth time point."""
    step: Step = "same"
    """Predict hidden regions at the same time point, or at the next."""
    folds: int = Field(default=5, ge=2)
    """Folds of people: seed s is tested on fold s mod folds."""


class SeriesFiles(Series):
    """Anyone's own series: a file of regions × time for each person (CSV, NPY, MAT, HDF5)."""

    source: Literal["series_files"]
    """Where the examples come from."""
    series: list[DataFile] = Field(min_length=1)
    """A file for each person."""
    coordinates: DataFile | None = None
    """Regions × 3, in millimetres; classical scaling of fibre lengths where absent."""
    fibre_counts: DataFile | None = None
    """Regions × regions."""
    fibre_lengths: DataFile | None = None
    """Regions × regions, in millimetres."""
    names: DataFile | None = None
    """A region's name in each line."""
    pairs: DataFile | None = None
    """Homologues: two columns of names, or of numbers from 1."""

    @property
    def has_places(self) -> bool:
        """Whether regions have coordinates, or get some."""
        return self.coordinates is not None or self.fibre_lengths is not None


class SeriesWheel(Series):
    """Series inside a package of the Python package index; the wheel is read, never installed."""

    source: Literal["series_wheel"]
    """Where the examples come from."""
    package: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name of the package."""
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!_-]*$")
    """Exact version."""
    sha256: Sha256
    """Digest of the wheel file."""
    size_mb: PositiveFloat | None = None
    """Size of the download in megabytes: shown by `make plan`, used for nothing else."""

    series: str
    """Files of the series inside the wheel, one for each person: a pattern with `*` in it."""
    coordinates: str | None = None
    """The same of coordinates; classical scaling of fibre lengths where absent."""
    fibre_counts: str | None = None
    """The same of fibre counts: one file, or one for each person, of which the mean is taken."""
    fibre_lengths: str | None = None
    """The same of fibre lengths."""
    names: str | None = None
    """The file with a region's name in each line."""

    @property
    def has_places(self) -> bool:
        """Whether regions have coordinates, or get some."""
        return self.coordinates is not None or self.fibre_lengths is not None


AnyArrangement = Annotated[
    PuzzleFiles | GeneratedPuzzles | SimulatedNetwork | SeriesFiles | SeriesWheel,
    Field(discriminator="source"),
]
