"""Settings of the probes. Their names are the names of the modules in `poscope.probes`."""


from pydantic import Field

from poscope.config.base import Section


class Probe(Section):
    """What every probe is told."""

    positions: int = Field(default=512, ge=2)
    """The first so many rows of a table are probed; a shorter table is probed whole."""
    repeats: int = Field(default=10, ge=1)
    """Repeats with new folds, pairs or subsets."""
    seed: int = Field(default=0, ge=0)
    """Seed of the first repeat; the others follow from it."""


class Probes(Section):
    """Settings of each probe by name."""

    absolute: Probe = Probe()
    order: Probe = Probe()
    distance: Probe = Probe()
    similarity: Probe = Probe()
    spectrum: Probe = Probe()
    geometry: Probe = Probe()
