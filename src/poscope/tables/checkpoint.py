"""The tensors of a Hugging Face checkpoint, read by ranges of bytes.

Of a safetensors file only the header and the bytes of the wanted rows are read. A pickle is read only where
the user allowed it; that lives in `poscope.tables.pickled`.
"""

import json
import math
import re
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from poscope.errors import TableError
from poscope.sources.fileset import FileSet, read_all
from poscope.tables.pickled import PickledWeights, find_pickles
from poscope.tables.safetensors_format import (
    Header,
    TensorInfo,
    decode,
    item_bytes,
    matrix_shape,
    read_header,
    truncated,
)

_SINGLE = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_CONFIG = "config.json"
# Configs and indices are kilobytes, at most a few megabytes; anything larger is something else.
_LARGEST_JSON_BYTES = 64 * 1024 * 1024
_OTHER_FORMATS = {
    r"tf_model.*\.h5$|\.ckpt\.index$": "TensorFlow",
    r"flax_model.*\.msgpack": "Flax",
    r"\.onnx$": "ONNX",
    r"\.gguf$": "GGUF",
    r"\.mlmodel$|\.mlpackage/": "Core ML",
    r"rust_model\.ot$": "Rust",
}


class Weights(Protocol):
    """Named tensors in some file format."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all tensors."""
        ...

    def tensor(self, name: str) -> TensorInfo:
        """Return where the tensor `name` is; `name` must be one of `names()`."""
        ...

    def read(self, info: TensorInfo, start_row: int, stop_row: int) -> np.ndarray:
        """Return rows [start_row, stop_row) along the first axis as float32, one axis."""
        ...


class SafetensorsWeights:
    """Weights in one safetensors file, or in several with an index."""

    def __init__(self, files: FileSet, file_of: dict[str, str] | None, single: str) -> None:
        """Use `file_of` (tensor name to file name) if there is an index, else the file `single`."""
        self._files = files
        self._headers: dict[str, Header] = {}
        self._file_of = file_of or dict.fromkeys(self._header(single).tensors, single)

    def names(self) -> tuple[str, ...]:
        """Return the names of all tensors; with an index this reads no shard."""
        return tuple(self._file_of)

    def tensor(self, name: str) -> TensorInfo:
        """Return where the tensor `name` is; reads the header of its file if that is not known yet.

        Raises:
            TableError: the file is missing or damaged, or the index names a tensor that it lacks.
        """
        file = self._file_of[name]
        tensors = self._header(file).tensors
        if name not in tensors:
            raise TableError(f"the index says that {name} is in {file}, and it is not")
        return tensors[name]

    def read(self, info: TensorInfo, start_row: int, stop_row: int) -> np.ndarray:
        """Return rows [start_row, stop_row) along the first axis as float32, one axis."""
        row_bytes = math.prod(info.shape[1:]) * item_bytes(info.dtype, info.file)
        start, stop = info.start + start_row * row_bytes, info.start + stop_row * row_bytes
        data = self._files.open(info.file).read(start, stop)
        if len(data) != stop - start:
            raise truncated(info.file, stop, start + len(data))
        return decode(data, info.dtype)

    def _header(self, file: str) -> Header:
        if file not in self._headers:
            if file not in self._files.names():
                raise TableError(f"the index names the file {file}, which is not there")
            self._headers[file] = read_header(self._files.open(file))
        return self._headers[file]


class Checkpoint:
    """The config and the tensors of one model."""

    def __init__(self, files: FileSet, *, allow_pickle: bool) -> None:
        """Find the weights among `files`; of the weights themselves at most a header is read.

        Raises:
            TableError: no weights in a format that may be read, or they are damaged.
        """
        self.files = files
        self._weights = find_weights(files, allow_pickle=allow_pickle)

    @cached_property
    def config(self) -> dict[str, Any]:
        """The content of config.json; empty where there is none."""
        return read_json(self.files, _CONFIG) if _CONFIG in self.files.names() else {}

    @property
    def source(self) -> str:
        """The name of the model's source, for messages."""
        return self.files.origin().get("source", "") or "the model"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tensors."""
        return self._weights.names()

    @cached_property
    def tensors(self) -> dict[str, TensorInfo]:
        """All tensors by name; of a sharded checkpoint this reads the header of every shard."""
        return {name: self.tensor(name) for name in self.names}

    def tensor(self, name: str) -> TensorInfo:
        """Return type, shape and place of one tensor; reads the header of its shard alone.

        Raises:
            TableError: there is no such tensor, or its file is damaged.
        """
        if name not in self.names:
            raise TableError(f"{self.source} has no parameter {name}")
        return self._weights.tensor(name)

    def read(self, name: str, rows: slice | None) -> np.ndarray:
        """Read a tensor, or some rows of it, and convert it to float32.

        Args:
            name: the tensor's name.
            rows: which rows, without a step; leading axes of length one are dropped, and two must remain:
                (1, n, d) is read like (n, d). With None the whole tensor is read in its own shape.

        Returns:
            float32; shape (rows, dim) if `rows` was given.

        Raises:
            TableError: no such tensor, a type that is not a float, not two axes, or a damaged file.
        """
        info = self.tensor(name)
        if rows is None:
            length = info.shape[0] if info.shape else 1
            return self._weights.read(info, 0, length).reshape(info.shape)
        shape = matrix_shape(info.shape)
        if len(shape) != 2:
            raise TableError(f"{name} is no table: its shape is {info.shape}, not (positions, dim)")
        flat = TensorInfo(info.name, info.dtype, shape, info.file, info.start, info.stop)
        start, stop, step = rows.indices(shape[0])
        if step != 1:
            raise ValueError("rows are read without a step")
        stop = max(start, stop)
        return self._weights.read(flat, start, stop).reshape(stop - start, shape[1])


def read_json(files: FileSet, name: str) -> dict[str, Any]:
    """Read a file of one JSON object.

    Raises:
        TableError: it is too large, not JSON, or not an object.
    """
    if files.open(name).size > _LARGEST_JSON_BYTES:
        raise TableError(f"{name} is too large to be what its name says")
    try:
        content = json.loads(read_all(files, name))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TableError(f"{name} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise TableError(f"{name} should be a JSON object, and is a {type(content).__name__}")
    return content


def read_index(files: FileSet, name: str) -> dict[str, str]:
    """Read which tensor lies in which file of a sharded checkpoint.

    Raises:
        TableError: the index is damaged or names no tensor.
    """
    file_of = read_json(files, name).get("weight_map")
    if not isinstance(file_of, dict) or not file_of:
        raise TableError(f"{name} has no `weight_map`")
    if not all(isinstance(file, str) for file in file_of.values()):
        raise TableError(f"{name}: `weight_map` should map names of tensors to names of files")
    folder = name.rpartition("/")[0]
    return {tensor: f"{folder}/{file}" if folder else file for tensor, file in file_of.items()}


def find_weights(files: FileSet, *, allow_pickle: bool) -> Weights:
    """Find a checkpoint's weights: safetensors if there are any, else a pickle if that is allowed.

    Raises:
        TableError: nothing that may be read; the message says what there is.
    """
    names = set(files.names())
    if _SINGLE in names:
        return SafetensorsWeights(files, None, _SINGLE)
    if _INDEX in names:
        return SafetensorsWeights(files, read_index(files, _INDEX), _INDEX)
    source = files.origin().get("source", "") or "the model"
    tensors = sorted(name for name in names if _is_model_file(name))
    if len(tensors) == 1:
        return SafetensorsWeights(files, None, tensors[0])
    if tensors:
        raise TableError(
            f"{source} has several safetensors files and no {_INDEX} to say which is the model: "
            f"{', '.join(tensors)}"
        )
    pickles = find_pickles(names)
    if pickles is None:
        raise TableError(f"{source}: {_what_there_is(names)}")
    if not allow_pickle:
        raise TableError(
            f"{source} has its weights only as a pickle ({pickles.name}), which can run code when it is read; "
            "choose a revision with safetensors, or set `allow_pickle: true` in the model's "
            "config: it is then read as tensors only"
        )
    file_of = read_index(files, pickles.name) if pickles.is_index else None
    return PickledWeights(files, file_of, pickles.name)


def _is_model_file(name: str) -> bool:
    return name.endswith(".safetensors") and "/" not in name and not name.startswith("adapter_")


def _what_there_is(names: set[str]) -> str:
    """Say why a set of files without readable weights has none."""
    wanted = f"no {_SINGLE} among its files"
    if any(name.startswith("adapter_") for name in names):
        return f"{wanted}; it holds an adapter: use the model that the adapter was made for"
    for pattern, title in _OTHER_FORMATS.items():
        found = sorted(name for name in names if re.search(pattern, name))
        if found:
            return (
                f"{wanted}; there are weights for {title} ({found[0]}), which poscope does not "
                "read: convert them to safetensors"
            )
    nested = sorted(name for name in names if name.endswith(".safetensors"))
    if nested:
        return f"{wanted}; there are weights in a folder ({nested[0]}): name that folder"
    listed = ", ".join(sorted(names)[:10]) or "none"
    return f"{wanted}; its files: {listed}"
