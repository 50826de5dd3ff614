"""Settings of the figures. Their names are the names of the modules in `poscope.reporting.figures`."""

from pydantic import Field, PositiveInt

from poscope.config.base import Section


class Figure(Section):
    """What every figure is told."""

    dpi: PositiveInt = Field(default=200, ge=50, le=1200)
    """Resolution of the PNG, and of pictures inside the SVG."""


class Figures(Section):
    """Settings of each figure by name."""

    similarity_heatmaps: Figure = Figure()
    similarity_profile: Figure = Figure()
    spectrum: Figure = Figure()
    absolute_position: Figure = Figure()
    order: Figure = Figure()
    geometry: Figure = Figure()
