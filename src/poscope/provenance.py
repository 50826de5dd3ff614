"""What a result was made from: digests of the code that it reaches.

Snakemake sees that a script file changed, not that a module behind it did, and it takes a fresh checkout for a change.
Each rule therefore carries a digest of its script and of every poscope module that the script reaches, taken over the
syntax tree without docstrings: comments, formatting and documentation change nothing, a changed statement does.
"""

import ast
import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = "poscope"
SOURCE_ROOT = Path(__file__).resolve().parent.parent

# Values of the config reach a job as params, so that a new option elsewhere in the schema does not rerun anything.
LEFT_OUT = f"{PACKAGE}.config"


def code_digest(
    script: str | os.PathLike[str],
    *modules: str,
    data: tuple[str | os.PathLike[str], ...] = (),
    source_root: Path = SOURCE_ROOT,
) -> str:
    """Digest of a script, of `modules`, and of every poscope module that they reach by import.

    Args:
        script: path of a Python file.
        modules: dotted names that the script imports by a computed name, which its text does not show.
        data: files that the code reads beside its inputs (templates, published figures); their bytes count.
        source_root: the folder that holds the package.

    Returns:
        16 hexadecimal digits.

    Raises:
        FileNotFoundError: a file or a named module does not exist.
    """
    root = str(source_root)
    todo = [Path(script).resolve()]
    for module in modules:
        todo.extend(_files_of(module, root, required=True))
    files = _reached(todo, root)
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda file: _place(file, root)):
        digest.update(f"{_place(path, root)}\0{_essence(path, path.stat().st_mtime_ns)}\0".encode())
    for file in data:
        digest.update(hashlib.sha256(Path(file).read_bytes()).digest())
    return digest.hexdigest()[:16]


def reached_modules(
    script: str | os.PathLike[str], *modules: str, source_root: Path = SOURCE_ROOT
) -> list[str]:
    """Names of the package files that the script and `modules` reach, relative to the source root."""
    root = str(source_root)
    todo = [Path(script).resolve()]
    for module in modules:
        todo.extend(_files_of(module, root, required=True))
    return sorted(_place(file, root) for file in _reached(todo, root))


def file_digest(*paths: str | os.PathLike[str]) -> str:
    """Digest of the bytes of small committed files, for rules that must not rerun when a checkout touches them."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()[:16]


def _reached(todo: list[Path], root: str) -> set[Path]:
    files: set[Path] = set()
    while todo:
        path = todo.pop()
        if path in files:
            continue
        files.add(path)
        for module in _imports(path, path.stat().st_mtime_ns, root):
            todo.extend(_files_of(module, root))
    return files


def _place(path: Path, root: str) -> str:
    """A file's name in the digest: the same on every machine."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name


@cache
def _essence(path: Path, mtime_ns: int) -> str:
    """The code without comments, formatting and docstrings.

    Unparsed rather than dumped: the dump of a syntax tree differs between Python versions far more often.
    """
    del mtime_ns
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_text(node: ast.stmt) -> bool:
    """Docstrings, of attributes too."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@cache
def _imports(path: Path, mtime_ns: int, root: str) -> tuple[str, ...]:
    """Dotted names inside the package that a file imports, at its top or inside a function."""
    del mtime_ns  # part of the cache's key: an edited file is read anew
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    package = ".".join(Path(_place(path, root)).with_suffix("").parts[:-1])
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        for name in _names(node, package):
            if name == PACKAGE or name.startswith(f"{PACKAGE}."):
                found[name] = None
    return tuple(found)


def _names(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = package.split(".")
        above = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
        base = ".".join(filter(None, [above, node.module or ""]))
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


@cache
def _files_of(module: str, root: str, required: bool = False) -> tuple[Path, ...]:
    """The files that importing a dotted name executes: its own and those of the packages above it."""
    if module == LEFT_OUT or module.startswith(f"{LEFT_OUT}."):
        return ()
    parts = module.split(".")
    files = [Path(root, *parts[:depth], "__init__.py") for depth in range(1, len(parts) + 1)]
    own = Path(root, *parts).with_suffix(".py")
    files.append(own)
    if required and not own.is_file() and not files[-2].is_file():
        raise FileNotFoundError(f"no module {module} under {root}")
    return tuple(file.resolve() for file in files if file.is_file())
