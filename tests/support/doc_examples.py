"""Examples in the documentation, taken out of it and put to use."""

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# A line that begins with a file's name and ends in a colon, and the block below it.
_BLOCK = re.compile(r"^`([^`\n]+)`[^\n]*:\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A block of a page.

    Attributes:
        path: of the file that it is, or changes, as the line above it says.
        language: of the block; `diff` is a change.
        text: the block.
    """

    path: str
    language: str
    text: str

    def apply(self, folder: Path) -> None:
        """Write the file, or make the change, under a folder."""
        target = folder / self.path
        if self.language == "diff":
            text = target.read_text(encoding="utf-8")
            for old, new in self._hunks():
                assert text.count(old) == 1, f"{self.path}: {text.count(old)} times\n{old}"
                text = text.replace(old, new)
            target.write_text(text, encoding="utf-8")
        else:
            target.write_text(self.text, encoding="utf-8")

    def _hunks(self) -> Iterable[tuple[str, str]]:
        """What a change finds, and what it leaves in its place."""
        for hunk in self.text.split("@@\n"):
            lines = hunk.splitlines()
            old = [line[1:] for line in lines if not line.startswith("+")]
            new = [line[1:] for line in lines if not line.startswith("-")]
            yield "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)


def examples(page: str, title: str = "") -> list[Example]:
    """The examples of a page, or of one of its sections with what stands below that.

    Args:
        page: Markdown.
        title: of the section, with its hashes; nothing for the whole page.
    """
    text = section(page, title) if title else page
    return [Example(*found) for found in _BLOCK.findall(text)]


def section(page: str, title: str) -> str:
    """The text from a title to the next one of its level or above."""
    level = title.index(" ")
    pattern = rf"^{re.escape(title)}\n(.*?)(?=^#{{1,{level}}} |\Z)"
    found = re.search(pattern, page, re.MULTILINE | re.DOTALL)
    assert found, f"no section {title!r}"
    return found[1]


def copied(checkout: Path, folder: Path, *parts: str) -> Path:
    """A copy of parts of the checkout, to make changes in."""
    for part in parts:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout / part, folder / part, ignore=ignored)
    return folder
