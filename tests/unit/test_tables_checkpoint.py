"""Checkpoints: which bytes are read, how numbers are converted, and what is refused."""

import io
import json
import pickle
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from poscope.errors import TableError
from poscope.tables.checkpoint import Checkpoint
from poscope.tables.safetensors_format import BytesFile, decode, matrix_shape, read_header
from tests.support.memory_files import MemoryFiles, checkpoint_files

WORDS = np.arange(60, dtype=np.float32).reshape(20, 3)
POSITIONS = np.arange(24, dtype=np.float32).reshape(8, 3) / 3


def raw_file(header: Any, data: bytes = b"") -> bytes:
    """A safetensors file with any header at all."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def single(data: bytes) -> MemoryFiles:
    return MemoryFiles({"model.safetensors": data})


def sharded(shards: dict[str, dict[str, np.ndarray]], **extra: str) -> MemoryFiles:
    """A checkpoint of several files with an index; `extra` adds entries to the index."""
    index = {name: file for file, tensors in shards.items() for name in tensors} | extra
    content = {file: save(tensors) for file, tensors in shards.items()}
    content["model.safetensors.index.json"] = json.dumps({"weight_map": index}).encode()
    return MemoryFiles(content)


def test_only_the_wanted_rows_are_read() -> None:
    big = np.zeros((1000, 64), np.float32)  # more than the first read
    files = checkpoint_files({"words": big, "positions": POSITIONS}, {"model_type": "bert"})
    checkpoint = Checkpoint(files, allow_pickle=False)
    header_bytes = files.bytes_read
    assert header_bytes == 64 * 1024
    np.testing.assert_array_equal(checkpoint.read("positions", slice(2, 7)), POSITIONS[2:7])
    assert files.bytes_read - header_bytes == 5 * 3 * 4
    info = checkpoint.tensor("positions")
    assert files.reads[-1] == ("model.safetensors", info.start + 24, info.start + 84)
    assert checkpoint.config == {"model_type": "bert"}


def test_tensors_are_described() -> None:
    files = checkpoint_files({"w": WORDS.astype(np.float16), "p": POSITIONS})
    checkpoint = Checkpoint(files, allow_pickle=False)
    assert checkpoint.config == {}
    info = checkpoint.tensors["w"]
    assert (info.dtype, info.shape, info.file) == ("F16", (20, 3), "model.safetensors")
    data = files.content["model.safetensors"][info.start : info.stop]
    assert data == WORDS.astype("<f2").tobytes()
    assert set(checkpoint.tensors) == {"w", "p"}


@pytest.mark.parametrize(
    "rows", [slice(None), slice(3, None), slice(0, 2), slice(5, 2), slice(9, 12)]
)
def test_rows_are_sliced_as_numpy_does(rows: slice) -> None:
    checkpoint = Checkpoint(checkpoint_files({"p": POSITIONS}), allow_pickle=False)
    np.testing.assert_array_equal(checkpoint.read("p", rows), POSITIONS[rows])


def test_shapes_with_one_leading_axis() -> None:
    files = checkpoint_files(
        {"p": POSITIONS[None], "b": POSITIONS[0], "s": np.array(3, np.float32)}
    )
    checkpoint = Checkpoint(files, allow_pickle=False)
    np.testing.assert_array_equal(checkpoint.read("p", slice(1, 3)), POSITIONS[1:3])
    assert checkpoint.read("p", None).shape == (1, 8, 3)
    assert checkpoint.read("s", None) == np.float32(3)
    with pytest.raises(TableError, match=r"b is no table: its shape is \(3,\)"):
        checkpoint.read("b", slice(None))


def test_matrix_shape_keeps_two_axes() -> None:
    assert matrix_shape((1, 1, 77, 512)) == (77, 512)
    assert matrix_shape((1, 5)) == (1, 5)
    assert matrix_shape((1, 3, 4, 5)) == (3, 4, 5)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_bfloat16_is_the_upper_half_of_a_float32(value: float) -> None:
    upper = struct.pack("<f", value)[2:]
    expected = struct.unpack("<f", b"\0\0" + upper)[0]
    assert decode(upper, "BF16")[0] == expected


@pytest.mark.parametrize(
    ("dtype", "name"), [(np.float16, "F16"), (np.float32, "F32"), (np.float64, "F64")]
)
def test_floats_are_converted(dtype: type, name: str) -> None:
    values = np.array([[0.1, -2.5], [6e-8, 65504.0]], dtype)
    checkpoint = Checkpoint(checkpoint_files({"p": values}), allow_pickle=False)
    assert checkpoint.tensor("p").dtype == name
    result = checkpoint.read("p", None)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, values.astype(np.float32))


def test_other_types_are_refused() -> None:
    files = checkpoint_files({"p": np.zeros((2, 2), np.int64)})
    with pytest.raises(
        TableError, match=r"type I64 cannot be read as a table; readable types: F16"
    ):
        Checkpoint(files, allow_pickle=False).read("p", None)


def test_long_headers_are_read_to_their_end() -> None:
    names = {f"layer.{number:04d}.weight": POSITIONS for number in range(1200)}
    files = checkpoint_files(names)
    checkpoint = Checkpoint(files, allow_pickle=False)
    assert len(checkpoint.names) == 1200
    # Two reads, each byte once.
    (_, _, first), (_, second, end) = files.reads
    assert first == second < end < files.open("model.safetensors").size


SHARDS = {"a-1.safetensors": {"w": WORDS}, "a-2.safetensors": {"p": POSITIONS}}


def test_shards_are_opened_when_they_are_needed() -> None:
    files = sharded(SHARDS)
    checkpoint = Checkpoint(files, allow_pickle=False)
    assert checkpoint.names == ("w", "p")
    np.testing.assert_array_equal(checkpoint.read("p", slice(1, None)), POSITIONS[1:])
    assert {name for name, _, _ in files.reads} == {
        "model.safetensors.index.json",
        "a-2.safetensors",
    }
    assert checkpoint.tensors["w"].file == "a-1.safetensors"


def test_index_and_shards_must_agree() -> None:
    checkpoint = Checkpoint(
        sharded(SHARDS, q="a-1.safetensors", r="a-3.safetensors"), allow_pickle=False
    )
    with pytest.raises(TableError, match=r"index says that q is in a-1\.safetensors, and it is"):
        checkpoint.tensor("q")
    with pytest.raises(TableError, match=r"names the file a-3\.safetensors, which is not there"):
        checkpoint.tensor("r")
    with pytest.raises(TableError, match="memory has no parameter s"):
        checkpoint.tensor("s")


@pytest.mark.parametrize("index", [{}, {"weight_map": []}, {"weight_map": {"a": 1}}])
def test_damaged_index(index: dict) -> None:
    files = MemoryFiles({"model.safetensors.index.json": json.dumps(index).encode()})
    with pytest.raises(TableError, match="weight_map"):
        Checkpoint(files, allow_pickle=False)


def test_truncated_file_names_itself_and_both_sizes() -> None:
    data = save({"p": POSITIONS})
    for length in (len(data) - 1, len(data) - POSITIONS.nbytes, 40):
        words = rf"model\.safetensors is truncated: it should have \d+ bytes and has {length};"
        with pytest.raises(TableError, match=words):
            Checkpoint(single(data[:length]), allow_pickle=False)
    with pytest.raises(TableError, match=f"should have {len(data)} bytes and has {len(data) - 1};"):
        Checkpoint(single(data[:-1]), allow_pickle=False)
    with pytest.raises(TableError, match="should have 8 bytes and has 3;"):
        Checkpoint(single(data[:3]), allow_pickle=False)


def entry(**changes: Any) -> dict[str, Any]:
    return {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]} | changes


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (raw_file(b"{no json"), "its header is not JSON"),
        (raw_file(b"\xff\xfe"), "its header is not JSON"),
        (raw_file([1]), "not a JSON object"),
        (b"<html>not found</html>" * 10, "announces a header of"),
        (raw_file({"p": entry(shape=[2, 3])}, bytes(16)), "entry for p"),
        (raw_file({"p": entry(shape=[-2, -2])}, bytes(16)), "entry for p"),
        (raw_file({"p": entry(shape=[2.0, 2])}, bytes(16)), "entry for p"),
        (raw_file({"p": entry(data_offsets=[16, 0])}, bytes(16)), "entry for p"),
        (raw_file({"p": entry(data_offsets=[-16, 0])}, bytes(16)), "entry for p"),
        (raw_file({"p": entry(data_offsets=[0])}, bytes(16)), "entry for p"),
        (raw_file({"p": {"dtype": "F32"}}, bytes(16)), "entry for p"),
        (raw_file({"p": 3}, bytes(16)), "entry for p"),
        (raw_file({"p": entry()}, bytes(17)), "accounts for"),
    ],
)
def test_damaged_headers(data: bytes, words: str) -> None:
    with pytest.raises(TableError, match=words):
        Checkpoint(single(data), allow_pickle=False)


@given(st.data())
def test_no_header_leads_outside_the_file(data: st.DataObject) -> None:
    """Whatever a header says, its tensors lie inside the file, or there is an error."""
    numbers = st.integers(-3, 40)
    tensors = data.draw(
        st.dictionaries(
            st.text(max_size=2),
            st.fixed_dictionaries(
                {
                    "dtype": st.sampled_from(["F32", "F16", "U8", "F4"]),
                    "shape": st.lists(numbers, max_size=2),
                    "data_offsets": st.lists(numbers, min_size=2, max_size=2),
                }
            ),
            max_size=2,
        )
    )
    file = BytesFile("f", raw_file(tensors, bytes(data.draw(st.integers(0, 40)))))
    try:
        header = read_header(file)
    except TableError:
        return
    for info in header.tensors.values():
        assert 8 <= info.start <= info.stop <= file.size


@pytest.mark.parametrize("config", [b"[]", b"{", b"\xff"])
def test_damaged_config(config: bytes) -> None:
    files = checkpoint_files({"p": POSITIONS})
    files.content["config.json"] = config
    with pytest.raises(TableError, match=r"config\.json"):
        _ = Checkpoint(files, allow_pickle=False).config


def test_single_file_of_another_name() -> None:
    content = {"encoder.safetensors": save({"p": POSITIONS}), "adapter_model.safetensors": b""}
    checkpoint = Checkpoint(MemoryFiles(content), allow_pickle=False)
    np.testing.assert_array_equal(checkpoint.read("p", None), POSITIONS)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a.safetensors", "b.safetensors"], r"several safetensors files .* a\.saf.*, b\.saf"),
        (["tf_model.h5", "config.json"], r"weights for TensorFlow \(tf_model\.h5\)"),
        (["flax_model.msgpack"], r"weights for Flax \(flax_model\.msgpack\)"),
        (["onnx/model.onnx"], r"weights for ONNX \(onnx/model\.onnx\)"),
        (["model-q4.gguf"], "weights for GGUF"),
        (["adapter_config.json", "adapter_model.safetensors"], "holds an adapter"),
        (["0_Transformer/model.safetensors"], "weights in a folder .*: name that folder"),
        (["README.md"], r"its files: README\.md"),
        ([], "its files: none"),
    ],
)
def test_words_on_missing_weights(names: list[str], words: str) -> None:
    with pytest.raises(TableError, match=words):
        Checkpoint(MemoryFiles(dict.fromkeys(names, b"{}")), allow_pickle=True)


class Evil:
    """Its pickle makes a file when it is loaded without care."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise AssertionError('a pickle ran code')",)


@pytest.fixture
def pickles() -> dict[str, bytes]:
    """Tensors in PyTorch's format: whole, nested as a training framework does, and with code."""
    torch = pytest.importorskip("torch")

    def saved(content: Any) -> bytes:
        stream = io.BytesIO()
        torch.save(content, stream)
        return stream.getvalue()

    tensors = {
        "p": torch.from_numpy(POSITIONS),
        "h": torch.from_numpy(POSITIONS).to(torch.bfloat16),
        "n": torch.arange(4).reshape(2, 2),
    }
    return {
        "plain": saved(tensors),
        "nested": saved({"epoch": 3, "state_dict": tensors}),
        "evil": saved({"p": Evil()}),
        "number": saved({"epoch": 3}),
        "words": saved({"w": torch.from_numpy(WORDS)}),
    }


@pytest.mark.parametrize("name", ["pytorch_model.bin", "best.ckpt", "weights.pt"])
def test_pickles_are_refused_unread(name: str) -> None:
    files = MemoryFiles({name: b"never looked at", "config.json": b"{}", "training_args.bin": b""})
    with pytest.raises(TableError, match=rf"only as a pickle \({name}\).*`allow_pickle: true`"):
        Checkpoint(files, allow_pickle=False)
    assert files.bytes_read == 0


@pytest.mark.parametrize(
    ("kind", "name"), [("plain", "pytorch_model.bin"), ("nested", "best.ckpt")]
)
def test_allowed_pickles_are_read(pickles: dict[str, bytes], kind: str, name: str) -> None:
    checkpoint = Checkpoint(MemoryFiles({name: pickles[kind]}), allow_pickle=True)
    assert checkpoint.names == ("p", "h", "n")
    np.testing.assert_array_equal(checkpoint.read("p", slice(2, 5)), POSITIONS[2:5])
    assert checkpoint.tensor("h").dtype == "BF16"
    halves = checkpoint.read("h", None)
    assert not (halves.view(np.uint32) & 0xFFFF).any()
    np.testing.assert_allclose(halves, POSITIONS, rtol=2**-8)
    with pytest.raises(TableError, match=r"torch\.int64 cannot be read as a table"):
        checkpoint.read("n", None)


def test_sharded_pickles(pickles: dict[str, bytes]) -> None:
    index = {"weight_map": {"p": "m-1.bin", "w": "m-2.bin"}}
    content = {"m-1.bin": pickles["plain"], "m-2.bin": pickles["words"]}
    content["pytorch_model.bin.index.json"] = json.dumps(index).encode()
    files = MemoryFiles(content)
    checkpoint = Checkpoint(files, allow_pickle=True)
    np.testing.assert_array_equal(checkpoint.read("w", slice(18, None)), WORDS[18:])
    assert "m-1.bin" not in {name for name, _, _ in files.reads}


def test_pickles_never_run_code(pickles: dict[str, bytes]) -> None:
    with pytest.raises(AssertionError, match="ran code"):
        pickle.loads(pickle.dumps(Evil()))
    with pytest.raises(TableError, match=r"pytorch_model\.bin cannot be read as tensors only"):
        Checkpoint(MemoryFiles({"pytorch_model.bin": pickles["evil"]}), allow_pickle=True)


@pytest.mark.parametrize("kind", ["number", "truncated", "empty"])
def test_useless_pickles(pickles: dict[str, bytes], kind: str) -> None:
    content = {"truncated": pickles["plain"][:-200], "empty": b""}.get(kind, pickles["number"])
    with pytest.raises(TableError, match=r"pytorch_model\.bin (cannot be read|holds no named)"):
        Checkpoint(MemoryFiles({"pytorch_model.bin": content}), allow_pickle=True)


def test_safetensors_win_over_a_pickle() -> None:
    files = checkpoint_files({"p": POSITIONS})
    files.content["pytorch_model.bin"] = b"never looked at"
    checkpoint = Checkpoint(files, allow_pickle=True)
    np.testing.assert_array_equal(checkpoint.read("p", None), POSITIONS)
