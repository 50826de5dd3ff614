"""Labelled texts from data sets on the Hugging Face hub, at a pinned revision."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from poscope.datasets.columns import check_columns, table_rows
from poscope.datasets.examples import Examples, collect, listed
from poscope.errors import DataError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa


def read_hub(
    repo: str,
    config: str | None,
    revision: str,
    *,
    splits: Mapping[str, str],
    text_column: str,
    label_column: str,
) -> dict[str, Examples]:
    """Labelled texts of a hub data set, by the role of its splits.

    The hub's own library fetches the files of that revision (into its cache, once) and knows their formats. It runs
    no code from repositories.

    Args:
        repo: `owner/name`.
        config: the data set's configuration; `None` where it has only one.
        revision: commit id, 40 hex digits.
        splits: role (`train`, `validation`, `test`, or `all`) → name of the split there.
        text_column: name of the column with the text.
        label_column: name of the column with the label.

    Raises:
        SourceError: no such data set, configuration or revision, no access, no network.
        DataError: no such split or column, a text that is no string or has no label.
    """
    loaded = load_splits(repo, config, revision, splits)
    return {
        role: _examples(split, text_column, label_column, place)
        for role, (split, place) in loaded.items()
    }


def load_splits(
    repo: str, config: str | None, revision: str, splits: Mapping[str, str]
) -> dict[str, tuple[Any, str]]:
    """Splits of a hub data set by role, as `datasets.Dataset`, each with the words that name it in messages.

    Arguments and errors as above.
    """
    if not re.fullmatch(r"[0-9a-f]{40}", revision):
        raise SourceError(
            f"{repo}: a revision is pinned by its commit id, 40 lower-case hex digits, not {revision!r}: "
            "branches and tags move"
        )
    place = f"the hub data set {repo}" + (f" ({config})" if config else "")
    loaded = _load(repo, config, revision, place)
    for name in splits.values():
        if name not in loaded:
            raise DataError(
                f"{place} has no split {name!r}; it has {listed(loaded)}: name one of them, or leave the role "
                "out, to cut it from the training split"
            )
    return {role: (loaded[name], f"{place}, split {name}") for role, name in splits.items()}


def split_table(split: Any, columns: Mapping[str, str], place: str) -> "pa.Table":
    """The wanted columns (the setting that names one → its name) of a hub data set's split.

    Raises:
        DataError: one is missing.
    """
    check_columns(split.column_names, columns, place)
    table: pa.Table = split.select_columns(list(columns.values())).with_format("arrow")[:]
    return table


def _examples(split: Any, text_column: str, label_column: str, place: str) -> Examples:
    columns = {"text_column": text_column, "label_column": label_column}
    table = split_table(split, columns, place)
    names = getattr(split.features[label_column], "names", None) or []
    examples, dropped = collect(
        table_rows(table, text_column, label_column, place), place, unit="row"
    )
    label_names = {str(number): name for number, name in enumerate(names)}
    return Examples(place, examples, len(table), dropped, unit="row", label_names=label_names)


def _load(repo: str, config: str | None, revision: str, place: str) -> Any:
    # Imported here: it takes most of a second, and only data sets from the hub need it.
    from datasets import load_dataset_builder

    with _explained(repo, revision):
        builder = load_dataset_builder(repo, config, revision=revision)
    # Where the hub is out of reach, the library takes whatever revision its cache has.
    if builder.hash != revision:
        raise SourceError(
            f"{place} cannot be had at revision {revision}: the hub is out of reach, and the cache holds another "
            "revision: check the network, HF_ENDPOINT and HF_HUB_OFFLINE"
        )
    # Where no configuration is named, the library takes the first.
    if config is None and len(builder.builder_configs) > 1:
        raise DataError(
            f"{place} has the configurations {listed(builder.builder_configs)}: set config to one of them"
        )
    with _explained(repo, revision):
        builder.download_and_prepare()
        return builder.as_dataset()


@contextmanager
def _explained(repo: str, revision: str) -> Iterator[None]:
    """Translate the errors of the hub's libraries while the block runs."""
    import httpx2
    from datasets.exceptions import DatasetNotFoundError, DatasetsError

    try:
        yield
    except DatasetNotFoundError as error:
        raise SourceError(f"{error} (set HF_TOKEN if it is private or gated)") from error
    # ValueError: no such configuration; RuntimeError: a data set that consists of code; OSError: network and disk.
    except (DatasetsError, ValueError, RuntimeError, OSError, httpx2.HTTPError) as error:
        raise SourceError(
            f"the hub data set {repo} at revision {revision} cannot be had: {type(error).__name__}: {error}"
        ) from error
