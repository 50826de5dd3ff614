"""Settings of the figures. Their names are the names of the modules in `poscope.reporting.figures`."""

from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt

from poscope.config.base import Name, Section

Share = Annotated[float, Field(gt=0, lt=1)]


class Figure(Section):
    """What every figure is told."""

    dpi: int = Field(default=200, ge=50, le=1200)
    """Resolution of the PNG."""
    width_in: PositiveFloat = 6.3
    """Width in inches; 6.3 is the text width of a common paper."""


class Heatmaps(Figure):
    """Similarity of all pairs of positions (the paper's Figure 1)."""

    columns: PositiveInt = 4
    """At most so many panels side by side."""
    positions: PositiveInt = 512
    """The first so many positions are drawn."""


class Profile(Figure):
    """Mean similarity by offset, and the score of each boundary as a break."""

    height_in: PositiveFloat = 2.6
    """Height of the upper panel in inches."""
    columns: PositiveInt = 4
    """At most so many of the lower panels side by side."""


class Spectrum(Figure):
    """Cumulative share of the eigenvalues (the paper's Figure 2)."""

    height_in: PositiveFloat = 3.0
    """Height in inches."""
    marks: list[Share] = Field(default=[0.5, 0.9, 0.99])
    """Shares at which lines are ruled and curves marked."""


class Dots(Figure):
    """Figures with their intervals, one row for each table."""

    row_height_in: PositiveFloat = 0.24
    """Height of a row in inches."""


class AbsolutePosition(Dots):
    """Error of reading off a position, on positions fitted and held out."""

    linear_below: PositiveFloat = 1.0
    """The logarithmic axis is linear below this, so that it reaches nought."""


class Classification(Dots):
    """Scores of each encoding on each task (the paper's Tables 3 and 5)."""

    columns: PositiveInt = 4
    """At most so many panels side by side."""


class ClassificationByLength(Figure):
    """Scores by length bucket (the paper's Figure 4 and Table 6)."""

    height_in: PositiveFloat = 2.2
    """Height of a row of panels in inches."""
    columns: PositiveInt = 3
    """At most so many panels side by side."""


class LanguageModeling(Dots):
    """Perplexity of each encoding on each task (Wang & Chen 2020, §5.2)."""

    columns: PositiveInt = 2
    """At most so many panels side by side."""


class LanguageModelingByPosition(Figure):
    """Loss by position in the block."""

    height_in: PositiveFloat = 2.4
    """Height of a row of panels in inches."""
    columns: PositiveInt = 2
    """At most so many panels side by side."""
    smoothing: float = Field(default=0.2, ge=0, lt=1)
    """Each point is the mean over slots nearer to its own than this share of its number; 0 smooths nothing."""


class AlongPretraining(Figure):
    """Probes of the position table, and perplexity, by training step."""

    height_in: PositiveFloat = 2.4
    """Height in inches."""


class Terms(Figure):
    """The four terms of first-layer attention, by head."""

    height_in: PositiveFloat = 1.5
    """Height of a row of panels in inches: one for each model."""


class BySigma(Figure):
    """Accuracy by the standard deviation σ that learned tables start from (Ito et al.)."""

    height_in: PositiveFloat = 2.6
    """Height of a task's panels in inches, without the names of encodings below."""


class Layouts(Figure):
    """What tables hold of the true layout, by the standard deviation σ that they start from (Ito et al.)."""

    height_in: PositiveFloat = 1.45
    """Height of a task's panels in inches."""
    metrics: list[Name] = Field(
        default=["cka", "procrustes", "rsa", "silhouette", "moved"], min_length=1
    )
    """A panel for each; `silhouette`, `adjusted_rand` and `modularity` show all memberships that a task has."""


class Maps(Figure):
    """Similarity of a table's rows and attention, beside the truth (Ito et al.)."""

    encodings: list[Name] | None = None
    """Encodings that maps are drawn of; where absent the smallest and the largest σ, and the last fixed table."""
    layer: PositiveInt = 1
    """Layer whose attention is drawn."""


class Figures(Section):
    """Settings of each figure by name."""

    similarity_heatmaps: Heatmaps = Heatmaps()
    similarity_profile: Profile = Profile()
    spectrum: Spectrum = Spectrum()
    absolute_position: AbsolutePosition = AbsolutePosition()
    order: Dots = Dots(row_height_in=0.3)
    geometry: Dots = Dots()
    classification: Classification = Classification()
    classification_by_length: ClassificationByLength = ClassificationByLength()
    pretraining: AlongPretraining = AlongPretraining()
    language_modeling: LanguageModeling = LanguageModeling()
    language_modeling_skip_ratio: LanguageModeling = LanguageModeling(row_height_in=0.3)
    language_modeling_by_position: LanguageModelingByPosition = LanguageModelingByPosition()
    translation: Classification = Classification(columns=2)
    translation_by_length: ClassificationByLength = ClassificationByLength(columns=2)
    composition_coordinates: Dots = Dots(row_height_in=0.36)
    composition_subspaces: Dots = Dots(row_height_in=0.36)
    composition_attention_terms: Terms = Terms()
    composition_training: Classification = Classification(columns=3)
    initialization_latin_square: BySigma = BySigma()
    initialization_network: Classification = Classification(columns=2)
    initialization_fmri: Classification = Classification(columns=2)
    initialization_layouts: Layouts = Layouts()
    initialization_maps: Maps = Maps()
