"""Many lines, a handful at a time."""

from collections.abc import Iterator, Sequence


def line_chunks(lines: Sequence[str], characters: int) -> Iterator[Sequence[str]]:
    """All lines in their order, in pieces of whole lines, each the shortest that holds so many characters."""
    start = size = 0
    for index, line in enumerate(lines):
        size += len(line)
        if size >= characters:
            yield lines[start : index + 1]
            start, size = index + 1, 0
    if start < len(lines):
        yield lines[start:]
