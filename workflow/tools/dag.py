"""Write the rule graph and the job graph of a study as Mermaid text, and as SVG where Graphviz is installed.

python workflow/tools/dag.py FOLDER [arguments of snakemake, such as --configfile config/demo.yaml]
"""

import shutil
import subprocess
import sys
from pathlib import Path

# Graphviz lays out a graph of thousands of arrows for many minutes, and no one can read it.
MOST_ARROWS = 3000
GRAPHS = {"rules": "--rulegraph", "jobs": "--dag"}


def graph(option: str, language: str, arguments: list[str]) -> str:
    """One graph in `mermaid-js` or `dot`, as Snakemake prints it.

    Raises:
        SystemExit: Snakemake cannot build the graph; its words were printed.
    """
    command = [sys.executable, "-m", "snakemake", option, language, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return _without_preamble(done.stdout, "digraph" if language == "dot" else "---")


def _without_preamble(text: str, first: str) -> str:
    """The graph alone: a Snakefile may print before it."""
    lines = text.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if line.startswith(first)), 0)
    return "".join(lines[start:])


def write_graphs(folder: Path, arguments: list[str]) -> list[Path]:
    """Write every graph; returns the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    dot = shutil.which("dot")
    written = []
    for name, option in GRAPHS.items():
        text = folder / f"{name}.mmd"
        text.write_text(graph(option, "mermaid-js", arguments), encoding="utf-8")
        written.append(text)
        if dot:
            picture = folder / f"{name}.svg"
            source = graph(option, "dot", arguments)
            arrows = source.count(" -> ")
            if arrows > MOST_ARROWS:
                print(
                    f"No {picture}: {arrows} arrows are too many to draw. Draw fewer, of one experiment for example: "
                    f"python workflow/tools/dag.py {folder} probes"
                )
                picture.unlink(missing_ok=True)  # of an earlier study
                continue
            subprocess.run([dot, "-Tsvg", "-o", str(picture)], input=source, text=True, check=True)
            written.append(picture)
    return written


def main() -> None:
    """Write the graphs and say where they are."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    for path in write_graphs(Path(sys.argv[1]), sys.argv[2:]):
        print(path)
    if not shutil.which("dot"):
        print("No SVG: Graphviz is not installed (its program `dot` was not found on the PATH).")
        print(
            "Mermaid text is complete without it: any Mermaid viewer and most code hosts draw it."
        )


if __name__ == "__main__":
    main()
