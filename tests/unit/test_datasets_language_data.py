"""A corpus on disk, and how blocks lie in it."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.language_data import (
    BlockLayout,
    LanguageData,
    Vocabulary,
    block_layout,
    check_blocks,
    read_language_data,
    token_dtype,
)
from poscope.errors import DataError

BERT = Vocabulary(size=30, mask=4, first=2, last=3, unknown=1, padding=0, special=(0, 1, 2, 3, 4))
GPT2 = Vocabulary(
    size=30, mask=None, first=None, last=None, unknown=None, padding=None, special=(29,)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split, count in (("train", 100), ("validation", 20), ("test", 10)):
        np.save(tmp_path / f"{split}.npy", (5 + np.arange(count) % 25).astype(np.uint16))
    (tmp_path / "vocabulary.json").write_text(json.dumps(BERT.to_json()))
    return tmp_path


def test_a_corpus_is_read_without_being_loaded(folder):
    data = read_language_data(folder)
    assert data.vocabulary == BERT
    assert data.folder == folder
    assert {split: len(tokens) for split, tokens in data.tokens.items()} == {
        "train": 100,
        "validation": 20,
        "test": 10,
    }
    assert data.tokens["test"].tolist() == list(range(5, 15))
    assert all(isinstance(tokens, np.memmap) for tokens in data.tokens.values())


def test_ids_for_text():
    assert GPT2.ordinary().tolist() == list(range(29))
    assert BERT.ordinary().tolist() == list(range(5, 30))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocabulary.json", b"{", "vocabulary.json: Expecting"),
        ("vocabulary.json", b"{}", "vocabulary.json: 'special'"),
        ("vocabulary.json", b'{"special": []}', "vocabulary.json: .*missing"),
        ("train.npy", b"", "train.npy"),
        ("train.npy", b"no array at all, but text", "train.npy"),
        ("test.npy", None, "test.npy: .*No such file"),
    ],
)
def test_a_damaged_file_is_named_with_its_remedy(folder, name, content, message):
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(DataError, match=f"cannot read .*{message}.*delete its folder"):
        read_language_data(folder)


def test_a_truncated_file_is_damaged(folder):
    path = folder / "train.npy"
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(DataError, match=r"train\.npy.*delete its folder"):
        read_language_data(folder)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (np.zeros(5, dtype=np.int64), "found int64 with 1 dimensions where uint16 with 1 belongs"),
        (np.zeros((5, 2), dtype=np.uint16), "found uint16 with 2 dimensions"),
        (np.array([5, 30], dtype=np.uint16), "it holds the id 30, and ids are below 30"),
    ],
)
def test_tokens_that_do_not_fit_the_vocabulary_are_damaged(folder, tokens, message):
    np.save(folder / "validation.npy", tokens)
    with pytest.raises(DataError, match=f"validation.npy: {message}"):
        read_language_data(folder)


@pytest.mark.parametrize(
    ("size", "name"),
    [(1, "uint16"), (65536, "uint16"), (65537, "uint32"), (2**32, "uint32")],
)
def test_the_smallest_type_that_holds_all_ids(size, name):
    assert token_dtype(size).name == name


def test_a_vocabulary_that_fits_no_type_is_refused():
    with pytest.raises(DataError, match="has 4294967297 ids; token files hold at most 4294967296"):
        token_dtype(2**32 + 1)


def test_masked_blocks_are_enclosed_and_others_are_text_throughout():
    assert block_layout(BERT, "mlm", 128) == BlockLayout(128, 2, 3)
    assert block_layout(BERT, "clm", 128) == BlockLayout(128, None, None)
    assert (block_layout(BERT, "mlm", 128).content, block_layout(BERT, "mlm", 128).offset) == (
        126,
        1,
    )
    assert (block_layout(BERT, "clm", 128).content, block_layout(BERT, "clm", 128).offset) == (
        128,
        0,
    )
    no_ends = Vocabulary(30, 4, None, 3, None, None, (3, 4))
    assert (block_layout(no_ends, "mlm", 9).content, block_layout(no_ends, "mlm", 9).offset) == (
        8,
        0,
    )


@pytest.mark.parametrize(
    ("vocabulary", "objective", "block_length", "message"),
    [
        (GPT2, "mlm", 128, r"neither a \[MASK\] nor a <mask> token; take one of kind wordpiece"),
        (BERT, "mlm", 3, "found 3; for mlm with this tokenizer it must be at least 4: 2 special"),
        (GPT2, "clm", 1, "found 1; for clm with this tokenizer it must be at least 2: 0 special"),
        (BERT, "plm", 128, "no objective 'plm'; there are mlm, clm"),
        (Vocabulary(2, 0, 1, 1, None, None, (0, 1)), "mlm", 128, "special tokens alone"),
    ],
)
def test_what_no_block_can_be(vocabulary, objective, block_length, message):
    with pytest.raises(DataError, match=message):
        block_layout(vocabulary, objective, block_length)


@given(
    count=st.integers(0, 300),
    block_length=st.integers(4, 40),
    objective=st.sampled_from(["mlm", "clm"]),
)
def test_packing_loses_the_remainder_alone(count, block_length, objective):
    layout = block_layout(BERT, objective, block_length)
    tokens = np.arange(count, dtype=np.uint16)
    contents = layout.contents(tokens)
    assert layout.blocks(count) * layout.content + layout.remainder(count) == count
    assert 0 <= layout.remainder(count) < layout.content
    assert contents.shape == (layout.blocks(count), layout.content)
    assert contents.ravel().tolist() == tokens[: count - layout.remainder(count)].tolist()
    special = (layout.first is not None) + (layout.last is not None)
    assert layout.content + special == block_length


def test_a_split_shorter_than_a_block_is_refused():
    tokens = {"train": np.zeros(126), "validation": np.zeros(125), "test": np.zeros(126)}
    data = LanguageData(tokens, BERT, Path("results/datasets/mine"))
    layout = block_layout(BERT, "mlm", 128)
    message = "mine: the validation split has 125 tokens, and one block of 128 needs 126 of text"
    with pytest.raises(DataError, match=message):
        check_blocks(data, layout)
    tokens["validation"] = np.zeros(126)
    check_blocks(data, layout)
