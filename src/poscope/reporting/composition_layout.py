"""How the table of the composition study is laid out for reading: a block of headline figures for each question."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pandas as pd

from poscope.reporting.labels import TERM_TITLES


@dataclass(frozen=True)
class Block:
    """Some rows of the table.

    Attributes:
        name: short.
        title: what they are about.
        frame: the rows, with the keys that this block's rows and columns are by.
    """

    name: str
    title: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class _Layout:
    """Which rows make a block.

    Attributes:
        name: of the block.
        title: of the block.
        analysis: that they are of.
        metrics: in the order of the columns.
        parts: pattern that their part matches.
        keys: what subject and part are in this block.
    """

    name: str
    title: str
    analysis: str
    metrics: tuple[str, ...]
    parts: str = ""
    keys: dict[str, str] = field(default_factory=lambda: {"subject": "model"})

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of the block, by metric."""
        chosen = (frame["analysis"] == self.analysis) & frame["metric"].isin(self.metrics)
        mine = frame[chosen & frame["part"].str.contains(self.parts)]
        return mine.sort_values(
            "metric", key=lambda names: names.map(self.metrics.index), kind="stable"
        )


_LAYOUTS = (
    _Layout(
        "identity",
        "Adding is concatenating with tied weights: largest relative difference in single precision",
        "identity",
        ("tied_difference", "split_difference"),
        ", float32$",
    ),
    _Layout(
        "coordinates",
        "Coordinates that move, and the words' variance in them",
        "coordinates",
        (
            *("moving_coordinates", "moving_share", "effective_rank"),
            *("word_variance_in_moving", "word_variance_expected", "variance_correlation"),
        ),
        "^length ",
    ),
    _Layout(
        "subspaces",
        "Overlap of the subspaces of words and of positions",
        "subspaces",
        (
            *("word_dimensions", "position_dimensions"),
            *("overlap", "overlap_expected", "smallest_angle"),
        ),
        "^share ",
    ),
    _Layout(
        "cosines",
        "Cosines between words and positions",
        "subspaces",
        ("cosine_mean", "cosine_sd", "cosine_low", "cosine_high", "cosine_sd_random"),
        "^(?:as they are|centred)$",
    ),
    _Layout(
        "attention_variance",
        "What each term has of the variance of attention logits",
        "attention_terms",
        tuple(f"variance_share_{term}" for term in TERM_TITLES),
        "^all heads$",
    ),
    _Layout(
        "attention_removal",
        "How far attention moves without a term",
        "attention_terms",
        tuple(f"removal_{term}" for term in TERM_TITLES),
        "^all heads$",
    ),
    _Layout(
        "training",
        "Networks trained with positions put to words in other ways",
        "training",
        ("accuracy", "perplexity", "parameters"),
        keys={"subject": "encoding", "part": "task"},
    ),
)


def headlines(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that any block shows, in the order of the table."""
    shown = {index for layout in _LAYOUTS for index in layout.of(frame).index}
    return frame[frame.index.isin(shown)]


def blocks(frame: pd.DataFrame) -> Iterator[Block]:
    """The blocks that have rows; a part that is the same for all of them stands in the title."""
    for layout in _LAYOUTS:
        mine = layout.of(frame)
        if mine.empty:
            continue
        parts = set(mine["part"]) if "part" not in layout.keys else set()
        title = f"{layout.title}, {parts.pop()}" if len(parts) == 1 else layout.title
        yield Block(layout.name, title, mine.drop(columns="analysis").rename(columns=layout.keys))


def called_alike(frame: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Encodings under their labels: each experiment has encodings of its own, that combine in the same ways."""
    columns = [name for name in ("encoding", "reference") if name in frame.columns]
    names = {
        name: labels.get(name, name)
        for column in columns
        for name in set(frame[column])
        if "encoding" in columns
    }
    return frame.replace(dict.fromkeys(columns, names)) if names else frame
