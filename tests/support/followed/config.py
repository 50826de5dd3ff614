"""The config of the copy, with an overlay merged as Snakemake merges it."""

from pathlib import Path

import yaml
from snakemake.utils import update_config

from poscope.config import Config, load_config


def config_with(overlay: str) -> Config:
    """Of the working directory.

    Args:
        overlay: YAML.
    """
    raw = yaml.safe_load(Path("config/config.yaml").read_text(encoding="utf-8"))
    update_config(raw, yaml.safe_load(overlay))
    return load_config(raw)
