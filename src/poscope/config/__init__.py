"""The config: pydantic models are the one source of its schema, defaults, documentation and cross-checks."""

from typing import Any

from pydantic import ValidationError

from poscope.config.cross_checks import cross_checks
from poscope.config.faults import sentences
from poscope.config.placements import placement_faults
from poscope.config.study import Config
from poscope.config.widths import combination_faults
from poscope.errors import ConfigError

__all__ = ["Config", "load_config"]


def load_config(raw: dict[str, Any]) -> Config:
    """Check a config as YAML gave it, overlays merged.

    Raises:
        ConfigError: with every fault at once, each naming the key's path, what was found and what is allowed.
    """
    faults: list[str] = []
    config = None
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        faults.extend(sentences(error, Config))
    faults.extend(fault for fault in cross_checks(raw) if fault not in faults)
    if config is not None and not faults:
        faults.extend(dict.fromkeys([*combination_faults(config), *placement_faults(config)]))
    if faults or config is None:
        listed = "\n".join(f"  - {fault}" for fault in faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise ConfigError(f"the config has {count}:\n{listed}")
    return config
