"""Digests of code: what changes them and what does not."""

from pathlib import Path

import pytest

from poscope.provenance import code_digest, file_digest, reached_modules


@pytest.fixture
def tree(tmp_path):
    """A small package: the script reaches a, a reaches shared inside a function; b stands alone."""
    package = tmp_path / "src" / "poscope"
    files = {
        "__init__.py": '"""Package."""\n',
        "a.py": '"""A."""\n\n\ndef run(x: int) -> int:\n    """Run."""\n    from poscope.part import shared\n\n'
        "    return shared.twice(x)\n",
        "b.py": "VALUE = 1\n",
        "config/__init__.py": "OPTION = 1\n",
        "part/__init__.py": "",
        "part/shared.py": "from ..b import VALUE\n\n\ndef twice(x):\n    return x * 2 * VALUE\n",
        "alone.py": "X = 1\n",
    }
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = tmp_path / "script.py"
    script.write_text(
        "import poscope.a\nfrom poscope.config import OPTION\n\nprint(poscope.a, OPTION)\n"
    )
    return tmp_path


def digest(tree: Path, *modules: str, **options) -> str:
    return code_digest(tree / "script.py", *modules, source_root=tree / "src", **options)


def edit(path: Path, old: str, new: str) -> None:
    """Edit a file; the nanosecond age of a file is part of the cache's key, so it must differ."""
    import os

    text = path.read_text()
    assert old in text
    age = path.stat().st_mtime_ns
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(age + 1_000_000, age + 1_000_000))


def test_it_reaches_modules_through_functions_packages_and_relative_imports(tree):
    assert reached_modules(tree / "script.py", source_root=tree / "src") == [
        "poscope/__init__.py",
        "poscope/a.py",
        "poscope/b.py",
        "poscope/part/__init__.py",
        "poscope/part/shared.py",
        "script.py",
    ]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("src/poscope/a.py", '"""Run."""', '"""Run it."""\n    # and say why'),
        ("src/poscope/part/shared.py", "x * 2 * VALUE", "(x  *  2)*VALUE"),
        ("src/poscope/alone.py", "X = 1", "X = 2"),
        ("src/poscope/config/__init__.py", "OPTION = 1", "OPTION = 2"),
        ("src/poscope/__init__.py", '"""Package."""', ""),
    ],
)
def test_words_layout_and_unreached_code_change_nothing(tree, name, old, new):
    before = digest(tree)
    edit(tree / name, old, new)
    assert digest(tree) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("src/poscope/a.py", "twice(x)", "twice(x + 1)"),
        ("src/poscope/part/shared.py", "x * 2", "x * 3"),
        ("src/poscope/b.py", "VALUE = 1", "VALUE = 2"),
        ("src/poscope/part/__init__.py", "", "SIDE_EFFECT = 1\n"),
        ("script.py", "print(", "repr("),
    ],
)
def test_a_real_change_in_reached_code_changes_it(tree, name, old, new):
    before = digest(tree)
    edit(tree / name, old, new)
    assert digest(tree) != before


def test_modules_imported_by_a_computed_name_count_when_named(tree):
    before = digest(tree, "poscope.alone")
    assert before != digest(tree)
    edit(tree / "src/poscope/alone.py", "X = 1", "X = 2")
    assert digest(tree, "poscope.alone") != before


def test_a_named_module_that_does_not_exist_is_an_error(tree):
    with pytest.raises(FileNotFoundError, match=r"no module poscope\.missing"):
        digest(tree, "poscope.missing")


def test_data_files_count_by_their_bytes_not_their_age(tree):
    data = tree / "template.html"
    data.write_text("a")
    before = digest(tree, data=(data,))
    data.touch()
    assert digest(tree, data=(data,)) == before
    data.write_text("b")
    assert digest(tree, data=(data,)) != before


def test_file_digest_is_that_of_the_bytes(tmp_path):
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").write_text("2")
    assert file_digest(tmp_path / "one") != file_digest(tmp_path / "two")
    assert len(file_digest(tmp_path / "one", tmp_path / "two")) == 16


def test_the_place_of_the_checkout_does_not_matter(tree, tmp_path_factory):
    import shutil

    other = tmp_path_factory.mktemp("elsewhere") / "copy"
    shutil.copytree(tree, other)
    assert digest(other) == digest(tree)
