"""The study's one probe on generated tables: from its settings to a table and a figure, in the working directory."""

import importlib
import json
import sys
from pathlib import Path

from poscope.config import Config
from poscope.probes.runner import probe_table_file
from poscope.reporting.contents import FIGURE_TITLES, TABLE_TITLES
from poscope.reporting.figures.style import save
from poscope.reporting.labels import describe
from poscope.reporting.render import write_tables
from poscope.reporting.tables import probe_table
from poscope.tables.formulas import build_formula
from poscope.tables.position_table import write_position_table
from tests.support.followed.config import config_with


def main(overlay: str) -> None:
    """Write the table and the figure, and print what is in them."""
    config = config_with(overlay)
    (name,) = config.study.probes
    settings = getattr(config.probes, name).model_dump(mode="json")
    results = {model: _result(config, name, model, settings) for model in config.study.models}
    frame = probe_table(
        list(results.values()),
        reference=config.study.reference,
        published="resources/published.csv",
        table=name,
    )
    write_tables(
        frame,
        **{ext: f"{name}.{ext}" for ext in ("csv", "md", "tex")},
        labels=config.labels(),
        title=TABLE_TITLES[name],
    )
    _draw(config, name, list(results.values()))
    means = {
        model: {each["metric"]: each["mean"] for each in json.loads(path.read_text())["figures"]}
        for model, path in results.items()
    }
    columns = [describe(metric).title for metric in frame["metric"].unique()]
    title = FIGURE_TITLES[name]
    print(json.dumps({"means": means, "settings": settings, "columns": columns, "figure": title}))


def _result(config: Config, name: str, model: str, settings: dict[str, object]) -> Path:
    described = config.models[model]
    table, result = Path(f"{model}.safetensors"), Path(f"{model}.json")
    write_position_table(table, build_formula(described.formula, **described.arguments()))
    probe = importlib.import_module(f"poscope.probes.{name}")
    probe_table_file(table, result, probe=probe, name=name, model=model, settings=settings)
    return result


def _draw(config: Config, name: str, results: list[Path]) -> None:
    settings = getattr(config.figures, name).model_dump(mode="json")
    dpi = settings.pop("dpi")
    module = importlib.import_module(f"poscope.reporting.figures.{name}")
    figure = module.draw(results, labels=config.labels(), **settings)
    save(figure, svg=f"{name}.svg", png=f"{name}.png", dpi=dpi)


if __name__ == "__main__":
    main(*sys.argv[1:])
