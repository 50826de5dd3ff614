"""Settings of the probes. Their names are the names of the modules in `poscope.probes`."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from poscope.config.base import Section


class Probe(Section):
    """What every probe is told."""

    positions: int = Field(default=512, ge=2)
    """The first so many rows of a table are probed; a shorter table is probed whole."""
    repeats: int = Field(default=10, ge=1)
    """Repeats with new folds, pairs or subsets."""
    seed: int = Field(default=0, ge=0)
    """Seed of the first repeat; the others follow from it."""


class CrossValidatedProbe(Probe):
    """What every cross-validated probe is told."""

    folds: int = Field(default=5, ge=2)
    """Folds of the cross-validation."""


class Svr(Section):
    """Support vector regression."""

    kernel: Literal["rbf", "linear", "poly"] = "rbf"
    """Its kernel."""
    c: PositiveFloat = 1000.0
    """Weight of the loss against the penalty. The common default of 1 cannot even fit the training positions."""
    epsilon: NonNegativeFloat = 0.1
    """Errors up to this many positions cost nothing."""


class Mlp(Section):
    """Multi-layer perceptron."""

    hidden: list[PositiveInt] = Field(default=[100], min_length=1)
    """Width of each hidden layer."""
    alpha: NonNegativeFloat = 0.0001
    """Weight of the penalty on its weights."""
    iterations: PositiveInt = 100
    """Most iterations of its optimiser, L-BFGS on all training rows at once."""


class Absolute(CrossValidatedProbe):
    """Regression from row to position (paper §4.1.1): mean absolute error in positions."""

    regressors: list[Literal["linear", "svr", "mlp"]] = Field(
        default=["linear", "svr", "mlp"], min_length=1
    )
    """What is fitted: linear regression is the probe; the others are there to see whether they overfit."""
    svr: Svr = Svr()
    """Support vector regression."""
    mlp: Mlp = Mlp()
    """Multi-layer perceptron."""
    mlp_repeats: PositiveInt = 1
    """Repeats of the perceptron, which takes seconds each."""


class Order(CrossValidatedProbe):
    """Which of two positions comes first (paper §4.1.2): share of wrong answers."""

    pairs: int = Field(default=10_000, ge=10)
    """Pairs of a fold in the sound protocol: four fifths of them (with 5 folds) to fit on, the rest to score on."""
    published_pairs: int = Field(default=512, ge=10)
    """Ordered pairs of the published protocol, which holds out pairs and not positions."""
    c: PositiveFloat = 1.0
    """Weight of the logistic loss against the penalty ½‖w‖²."""


class Distance(CrossValidatedProbe):
    """Regression from two rows to their distance, which the paper found too hard (§4.1.2), over all pairs of a fold."""


class ResampledProbe(Probe):
    """What every probe is told that nothing random enters: its intervals are the jackknife's."""

    left_out: float = Field(default=0.2, gt=0, lt=1)
    """Share of the positions that each of the jackknife's subsets leaves out."""


class Similarity(ResampledProbe):
    """Cosine similarity by offset, and breaks such as BERT's at 128 (paper §4.2.1)."""

    window: PositiveInt = 8
    """Positions on either side of a boundary that the detector of breaks looks at."""
    threshold: PositiveFloat = 6.0
    """Score from which a boundary is a break, in robust standard deviations."""


class Spectrum(ResampledProbe):
    """Number of eigenvalues for 50, 90 and 99 % of the variance (paper §4.2.2)."""

    center: bool = True
    """Subtract the rows' mean; without it the first component is mostly the mean itself."""


class Geometry(ResampledProbe):
    """Translation invariance, monotonicity and symmetry of the similarity (Wang et al., ICLR 2021)."""

    window: PositiveInt = 20
    """Largest offset of `monotonicity_window`."""


class Probes(Section):
    """Settings of each probe by name."""

    absolute: Absolute = Absolute()
    order: Order = Order()
    distance: Distance = Distance()
    similarity: Similarity = Similarity()
    spectrum: Spectrum = Spectrum()
    geometry: Geometry = Geometry()
