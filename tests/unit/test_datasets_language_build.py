"""A corpus from its text: ids, counts, and the same bytes again."""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from poscope.datasets import numbering
from poscope.datasets.language_build import build_language_data
from poscope.datasets.language_data import FILES, block_layout, check_blocks, read_language_data
from poscope.datasets.line_chunks import line_chunks
from poscope.datasets.masking import fixed_masks
from poscope.errors import DataError
from tests.support.mirrored import mirrored

WORDPIECE = {"kind": "wordpiece", "vocabulary_size": 4000, "lowercase": True, "min_frequency": 2}
BPE = {
    "kind": "bpe",
    "vocabulary_size": 4000,
    "lowercase": False,
    "min_frequency": 2,
    "masked": False,
}
TEXT = {"kind": "files", "format": "text", "encoding": "utf-8", "text_column": "text"}


def build(folder: Path, **settings: Any) -> dict[str, Any]:
    """What `counts.json` says of a corpus, by default of Python's documentation."""
    asked = {
        "source": {"kind": "pydocs"},
        "files": {},
        "tokenizer": WORDPIECE,
        "validation_share": 0.1,
        "test_share": 0.1,
    }
    build_language_data(folder, **{**asked, **settings})
    return json.loads((folder / "counts.json").read_bytes())


@pytest.fixture
def words(tmp_path: Path) -> dict[str, str]:
    """A tokenizer of whole words with known ids, as a local one."""
    names = ["<unk>", "<mask>", "<s>", "</s>", "<pad>", "a", "b", "c", "\n"]
    tokenizer = Tokenizer(
        models.WordLevel({name: index for index, name in enumerate(names)}, unk_token="<unk>")
    )
    tokenizer.add_special_tokens(names[:5])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(" ", "removed"), pre_tokenizers.Split("\n", "isolated")]
    )
    path = tmp_path / "words.json"
    tokenizer.save(str(path))
    return {"kind": "local", "path": str(path)}


def write(folder: Path, **texts: str) -> dict[str, Path]:
    for role, text in texts.items():
        (folder / role).write_text(text, encoding="utf-8")
    return {role: folder / role for role in texts}


def test_a_tiny_corpus_is_exact(tmp_path, words):
    files = write(tmp_path, train="a b\n\n c  x\n", validation="b weird<mask>", test="c\nc\n \n")
    counts = build(tmp_path / "corpus", source=TEXT, files=files, tokenizer=words)
    data = read_language_data(tmp_path / "corpus")
    assert {split: tokens.tolist() for split, tokens in data.tokens.items()} == {
        "train": [5, 6, 8, 7, 0, 8],
        "validation": [6, 0, 8],
        "test": [7, 8, 7, 8],
    }
    assert data.tokens["train"].dtype == np.uint16
    assert counts == {
        "blank_lines": {"train": 1, "validation": 0, "test": 1},
        "lines": {"train": 2, "validation": 1, "test": 2},
        "characters": {"train": 8, "validation": 13, "test": 2},
        "tokens": {"train": 6, "validation": 3, "test": 4},
        "unknown_tokens": {"train": 1, "validation": 1, "test": 0},
        "vocabulary": 9,
        "dtype": "uint16",
        "encodings": {"train": "utf-8", "validation": "utf-8", "test": "utf-8"},
        "python_version": None,
        "notes": [],
    }
    assert json.loads((tmp_path / "corpus" / "vocabulary.json").read_bytes()) == {
        "size": 9,
        "mask": 1,
        "first": 2,
        "last": 3,
        "unknown": 0,
        "padding": 4,
        "special": [0, 1, 2, 3, 4],
    }


def test_many_pieces_make_the_same_file_as_one(tmp_path, words, monkeypatch):
    lines = ["a b c", "b", "c c c c c c c c c", "a"] * 50
    files = write(tmp_path, all="\n".join(lines))
    build(tmp_path / "one", source=TEXT, files=files, tokenizer=words)
    monkeypatch.setattr(numbering, "_CHUNK_CHARACTERS", 7)
    build(tmp_path / "many", source=TEXT, files=files, tokenizer=words)
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes()
    assert [list(chunk) for chunk in line_chunks(lines[:5], 7)] == [
        ["a b c", "b", "c c c c c c c c c"],
        ["a", "a b c"],
    ]


def test_ids_beyond_65536_take_four_bytes(tmp_path):
    vocabulary = {f"w{index}": index for index in range(70_000)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    files = write(tmp_path, train="w69999 w1", validation="w65536", test="w2")
    source = {"kind": "local", "path": str(tmp_path)}
    counts = build(tmp_path / "corpus", source=TEXT, files=files, tokenizer=source)
    tokens = read_language_data(tmp_path / "corpus").tokens
    assert tokens["train"].dtype == np.uint32
    assert (tokens["train"].tolist(), tokens["validation"].tolist()) == ([69999, 1], [65536])
    assert (counts["vocabulary"], counts["dtype"]) == (70_000, "uint32")


@pytest.mark.parametrize("tokenizer", [WORDPIECE, BPE])
def test_python_documents_itself_the_same_way_again(tmp_path, tokenizer):
    counts = build(tmp_path / "first", tokenizer=tokenizer)
    assert build(tmp_path / "again", tokenizer=tokenizer) == counts
    for name in FILES:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert counts["vocabulary"] == 4000
    assert counts["tokens"]["train"] > 70_000
    assert counts["notes"][1].startswith("test is cut from the end of all: ")


def test_the_tokenizer_is_trained_on_the_training_text_alone(tmp_path):
    train = "the cat sat on the mat\n" * 30
    first = write(tmp_path, train=train, validation="zebra " * 50, test="zebra")
    build(tmp_path / "one", source=TEXT, files=first, tokenizer=WORDPIECE)
    other = write(tmp_path, train=train, validation="mat", test="cat")
    build(tmp_path / "two", source=TEXT, files=other, tokenizer=WORDPIECE)
    one, two = ((tmp_path / name / "tokenizer.json").read_bytes() for name in ("one", "two"))
    assert one == two
    counts = json.loads((tmp_path / "one" / "counts.json").read_bytes())
    assert counts["unknown_tokens"] == {"train": 0, "validation": 50, "test": 1}


def test_the_log_says_what_a_person_should_hear(tmp_path, words, caplog):
    files = write(tmp_path, train="a b\n", validation="b\n", test="x y\nc")
    with caplog.at_level(logging.INFO, logger="poscope"):
        build(tmp_path / "corpus", source=TEXT, files=files, tokenizer=words)
    assert "train: 1 lines, 3 characters, 3 tokens" in caplog.messages
    assert (
        "test: 2 tokens (40.0 %) are unknown to the tokenizer: it fits this text badly"
        in caplog.messages
    )


def test_text_of_which_no_token_is_made_is_refused(tmp_path):
    files = write(tmp_path, train="the cat\n" * 9, validation="the", test="\u200b\n\u200b")
    with pytest.raises(DataError, match="the test text has 2 lines, of which the tokenizer makes"):
        build(tmp_path / "corpus", source=TEXT, files=files)


def test_masks_and_blocks_of_a_built_corpus_fit_together(tmp_path):
    build(tmp_path / "corpus")
    data = read_language_data(tmp_path / "corpus")
    layout = block_layout(data.vocabulary, "mlm", 128)
    check_blocks(data, layout)
    tokens = data.tokens["test"]
    masks = fixed_masks(tokens, layout, data.vocabulary, share=0.15, seed=0)
    assert masks.positions.shape == (len(tokens) // 126, 19)
    assert masks.replacements.max() < 4000
    assert np.mean(masks.replacements == data.vocabulary.mask) == pytest.approx(0.8, abs=0.05)


BASE = "https://raw.githubusercontent.com/pytorch/examples/77f55b912142e11fcfdf5b530231fb9c52f181e8/word_language_model/data/wikitext-2/"
WIKITEXT = {
    "validation": (
        BASE + "valid.txt",
        "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
    ),
    "test": (
        BASE + "test.txt",
        "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
    ),
}


@pytest.mark.real
@pytest.mark.parametrize(
    ("tokenizer", "tokens"),
    [
        (WORDPIECE, {"train": 232_975, "validation": 29_259, "test": 315_679}),
        (BPE, {"train": 238_486, "validation": 30_418, "test": 326_548}),
    ],
)
def test_a_tenth_of_wikitext_2(tmp_path, tokenizer, tokens):
    files = {"train": mirrored(*WIKITEXT["validation"]), "test": mirrored(*WIKITEXT["test"])}
    tokenizer = {**tokenizer, "vocabulary_size": 8000}
    counts = build(tmp_path / "corpus", source=TEXT, files=files, tokenizer=tokenizer)
    assert counts["blank_lines"] == {"train": 1299, "test": 1467}
    assert counts["lines"] == {"train": 2212, "validation": 249, "test": 2891}
    assert counts["characters"] == {"train": 1_003_467, "validation": 111_666, "test": 1_249_193}
    assert counts["tokens"] == tokens
