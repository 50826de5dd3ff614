"""Checkpoints in PyTorch's pickle format, read as tensors only.

Torch is imported here alone, and only once a user has allowed a pickle: nothing else of the tables needs it.
"""

import io
import pickle
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poscope.errors import TableError
from poscope.sources.fileset import FileSet, read_all
from poscope.tables.safetensors_format import READABLE_DTYPES, TensorInfo

_SINGLE = "pytorch_model.bin"
_INDEX = "pytorch_model.bin.index.json"
_MODEL_FILE = re.compile(r"[^/]+\.(bin|pt|pth|ckpt)")
# Files of a training run beside the weights.
_NOT_WEIGHTS = re.compile(r"(training_args|optimizer|scheduler|scaler|rng_state).*")
# Where training frameworks put the weights among the rest of a checkpoint.
_NESTED = ("state_dict", "model_state_dict", "model")
_DTYPES = {
    "torch.float16": "F16",
    "torch.bfloat16": "BF16",
    "torch.float32": "F32",
    "torch.float64": "F64",
}


@dataclass(frozen=True)
class Pickles:
    """The file to begin with: the weights themselves, or an index of them."""

    name: str
    is_index: bool


def find_pickles(names: Collection[str]) -> Pickles | None:
    """Return the pickle among the names of a checkpoint's files, if exactly one can be meant."""
    if _INDEX in names:
        return Pickles(_INDEX, is_index=True)
    if _SINGLE in names:
        return Pickles(_SINGLE, is_index=False)
    found = [
        name for name in names if _MODEL_FILE.fullmatch(name) and not _NOT_WEIGHTS.fullmatch(name)
    ]
    return Pickles(found[0], is_index=False) if len(found) == 1 else None


class PickledWeights:
    """Weights in one pickle, or in several with an index; a file is read when it is asked for."""

    def __init__(self, files: FileSet, file_of: dict[str, str] | None, single: str) -> None:
        """Use `file_of` (tensor name to file name) if there is an index, else the file `single`."""
        self._files = files
        self._loaded: dict[str, dict[str, Any]] = {}
        self._file_of = file_of or dict.fromkeys(self._load(single), single)

    def names(self) -> tuple[str, ...]:
        """Return the names of all tensors."""
        return tuple(self._file_of)

    def tensor(self, name: str) -> TensorInfo:
        """Return type and shape of a tensor; its bytes have no place of their own in a pickle."""
        file = self._file_of[name]
        tensors = self._load(file)
        if name not in tensors:
            raise TableError(f"the index says that {name} is in {file}, and it is not")
        value = tensors[name]
        dtype = _DTYPES.get(str(value.dtype), str(value.dtype))
        return TensorInfo(name, dtype, tuple(value.shape), file, 0, 0)

    def read(self, info: TensorInfo, start_row: int, stop_row: int) -> np.ndarray:
        """Return rows [start_row, stop_row) along the first axis as float32, one axis."""
        if info.dtype not in READABLE_DTYPES:
            raise TableError(
                f"{info.file}: numbers of type {info.dtype} cannot be read as a table; "
                f"readable types: {', '.join(READABLE_DTYPES)}"
            )
        tensor = self._load(info.file)[info.name].reshape(info.shape)
        rows = tensor[start_row:stop_row] if info.shape else tensor
        values: np.ndarray = rows.float().contiguous().numpy().ravel()
        return values

    def _load(self, file: str) -> dict[str, Any]:
        if file not in self._loaded:
            if file not in self._files.names():
                raise TableError(f"the index names the file {file}, which is not there")
            self._loaded[file] = _load_tensors(self._files, file)
        return self._loaded[file]


def _load_tensors(files: FileSet, file: str) -> dict[str, Any]:
    try:
        import torch  # slow to import, and needed for pickles alone
    except ImportError as error:
        raise TableError(
            f"{file} is a pickle, and reading it needs torch, which is not installed"
        ) from error
    try:
        content = torch.load(
            io.BytesIO(read_all(files, file)), map_location="cpu", weights_only=True
        )
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TableError(
            f"{file} cannot be read as tensors only; it is damaged or holds other objects: {reason}"
        ) from error
    for key in _NESTED:
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            content = content[key]
    tensors = (
        {str(name): value for name, value in content.items() if isinstance(value, torch.Tensor)}
        if isinstance(content, Mapping)
        else {}
    )
    if not tensors:
        raise TableError(f"{file} holds no named tensors")
    return tensors
