"""A translation task from its pairs: ids, lengths, buckets, counts, and the same bytes again."""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from poscope.datasets.parallel_build import build_parallel_data
from poscope.datasets.parallel_data import FILES, read_parallel_data
from poscope.datasets.parallel_numbering import (
    number_sentences,
    train_joint_tokenizer,
    vocabulary_of_pairs,
)
from poscope.datasets.ragged import Ragged
from poscope.errors import DataError
from tests.support.mirrored import mirrored

FROM_FILES = {"kind": "files", "encoding": "utf-8"}
GENERATED = {
    "kind": "generated",
    "grammar": "reordering",
    "train": 1500,
    "validation": 100,
    "test": 200,
    "longest": 20,
}
ASKED = {
    "source": GENERATED,
    "files": {},
    "seed": 0,
    "vocabulary_size": 600,
    "min_frequency": 2,
    "max_tokens": 128,
    "max_ratio": 3.0,
    "bucket_edges_sd": [1.0, 2.0],
    "bucket_names": ["short", "long", "very_long"],
    "validation_share": 0.1,
    "test_share": 0.1,
    "lowercase": False,
}


def build(folder: Path, **settings: Any) -> dict[str, Any]:
    """What `counts.json` says of a task."""
    build_parallel_data(folder, **{**ASKED, **settings})
    return json.loads((folder / "counts.json").read_bytes())


def write(folder: Path, **pairs: list[tuple[str, str]]) -> dict[str, Path]:
    """Files of pairs by role."""
    files = {}
    for role, found in pairs.items():
        for side, texts in zip(("source", "target"), zip(*found, strict=True), strict=True):
            path = files[f"{role}_{side}"] = folder / f"{role}.{side}"
            path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return files


def rows(ids: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    return [found.tolist() for found in np.split(ids, offsets[1:-1])]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Pairs whose words are all single tokens in training: `aa` and `bb`, for they are frequent."""
    train = [("aa aa", "bb bb")] * 8 + [
        ("aa", "bb"),
        ("", "bb"),
        ("aa " * 9, "bb " * 9),
        ("aa " * 7, "bb"),
    ]
    return write(
        tmp_path, train=train, validation=[(" aa", "bb")], test=[("AA aa", "Bb"), ("aa", "cc")]
    )


def test_a_tiny_task_is_exact(tmp_path, files):
    counts = build(
        tmp_path / "task",
        source=FROM_FILES,
        files=files,
        vocabulary_size=264,
        max_tokens=9,
        lowercase=True,
    )
    data = read_parallel_data(tmp_path / "task")
    tokenizer = Tokenizer.from_file(str(data.tokenizer_path))
    ids = tokenizer.get_vocab()
    aa, bb, end = ids["Ġaa"], ids["Ġbb"], ids["</s>"]
    train, test = data.splits["train"], data.splits["test"]
    assert (data.vocabulary.padding, data.vocabulary.start, end, data.vocabulary.unknown) == (
        0,
        1,
        2,
        3,
    )
    assert data.vocabulary.end == end
    assert rows(train.source_ids, train.source_offsets) == [[aa, aa, end]] * 8 + [[aa, end]]
    assert rows(train.target_ids, train.target_offsets) == [[bb, bb, end]] * 8 + [[bb, end]]
    assert rows(test.source_ids, test.source_offsets) == [[aa, aa, end], [aa, end]]
    assert train.lengths.tolist() == [2] * 8 + [1]
    assert train.row_ids.tolist() == list(range(9))
    assert (data.splits["validation"].row_ids.tolist(), test.row_ids.tolist()) == ([12], [13, 14])
    assert (list(test.sources), list(test.references)) == (["AA aa", "aa"], ["Bb", "cc"])
    assert data.splits["validation"].sources[0] == " aa"
    assert counts["read"] == {"train": 12, "validation": 1, "test": 2}
    assert counts["dropped"] == {"empty": 1, "too_long": 1, "too_unequal": 1}
    assert counts["sizes"] == {"train": 9, "validation": 1, "test": 2}
    assert counts["tokens"]["train"] == {"source": 26, "target": 26}
    assert counts["longest"]["test"] == {"source": 3, "target": 4}  # `cc` is two tokens
    assert counts["unknown_tokens"] == {"train": 0, "validation": 0, "test": 0}
    assert counts["duplicates_within"] == {"train": 7, "validation": 0, "test": 0}
    assert counts["duplicates_across"] == {
        "train/validation": 1,
        "train/test": 0,
        "validation/test": 0,
    }
    assert counts["source_duplicates_across"] == {
        "train/validation": 1,
        "train/test": 2,
        "validation/test": 1,
    }
    assert (counts["lowercase"], counts["vocabulary"]) == (True, data.vocabulary.size)


def test_buckets_are_those_of_the_training_sentences(tmp_path):
    build(tmp_path)
    data = read_parallel_data(tmp_path)
    lengths = data.splits["train"].lengths
    edges = lengths.mean() + np.array([1, 2]) * lengths.std()
    assert data.buckets.edges == pytest.approx(tuple(edges))
    found = json.loads((tmp_path / "buckets.json").read_bytes())
    for split, pairs in data.splits.items():
        assert np.array_equal(pairs.buckets, np.searchsorted(edges, pairs.lengths))
        assert list(found["counts"][split].values()) == np.bincount(pairs.buckets).tolist()


def test_a_generated_task_has_one_token_a_word(tmp_path):
    counts = build(tmp_path)
    data = read_parallel_data(tmp_path)
    for split, pairs in data.splits.items():
        words = [len(text.split()) for text in pairs.sources]
        assert pairs.lengths.tolist() == words
        assert np.array_equal(np.diff(pairs.target_offsets), np.array(words) + 1)
        assert counts["longest"][split] == {"source": 21, "target": 21}
    assert counts["duplicates_across"] == counts["source_duplicates_across"]
    assert not any(counts["duplicates_across"].values())


def test_ids_turn_back_into_text(tmp_path):
    build(tmp_path)
    data = read_parallel_data(tmp_path)
    tokenizer = Tokenizer.from_file(str(data.tokenizer_path))
    pairs = data.splits["test"]
    ids = rows(pairs.target_ids, pairs.target_offsets)
    assert tokenizer.decode_batch(ids) == list(pairs.references)


def test_the_same_input_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        build(tmp_path / name)
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_tokenizer_learns_from_both_sides_of_training_alone(tmp_path, files):
    build(tmp_path / "one", source=FROM_FILES, files=files)
    test = [("zebra zebra", "bb")] * 9
    (tmp_path / "other").mkdir()
    other = {**files, **write(tmp_path / "other", test=test)}
    build(tmp_path / "two", source=FROM_FILES, files=other)
    one, two = ((tmp_path / name / "tokenizer.json").read_bytes() for name in ("one", "two"))
    assert one == two
    ids = Tokenizer.from_str(one.decode()).get_vocab()
    assert {"Ġaa", "Ġbb"} <= set(ids)
    assert "ze" not in ids


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_tokens": 2}, r"test.source and .*test.target, line 2: the longest test pair has 2 "),
        ({"max_tokens": 2}, r"max_positions is 2 \(exceeded by 2 pairs\).*to at least 4"),
        (
            {"max_tokens": 1},
            "no training pair is left: of 11, 11 have more than 1 tokens on a side",
        ),
        ({"vocabulary_size": 260}, "vocabulary_size: found 260; 4 special tokens"),
    ],
)
def test_what_cannot_be_built(tmp_path, files, settings, message):
    asked = {"source": FROM_FILES, "files": files, "vocabulary_size": 264, "lowercase": True}
    with pytest.raises(DataError, match=message):
        build(tmp_path / "task", **{**asked, **settings})


def test_unequal_pairs_alone_leave_nothing_to_train_on(tmp_path):
    files = write(
        tmp_path, train=[("a b c d e f g", "a")] * 3, validation=[("a", "a")], test=[("a", "a")]
    )
    with pytest.raises(DataError, match=r"of 3, 0 have .*, and 3 are more than 3 times as long"):
        build(tmp_path / "task", source=FROM_FILES, files=files, vocabulary_size=300)


def test_the_log_says_what_a_person_should_hear(tmp_path, files, caplog):
    with caplog.at_level(logging.INFO, logger="poscope"):
        build(tmp_path / "task", source=FROM_FILES, files=files, max_tokens=9)
    assert "training pairs dropped: empty 1, too_long 1, too_unequal 1" in caplog.messages
    assert "pairs of the second that also stand in the first: train/validation 1" in caplog.messages
    assert any(line.startswith("train: 9 pairs, 26 and 26 tokens") for line in caplog.messages)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    texts = ["the cat sat on the mat", "die katze saß auf der matte"] * 5
    return train_joint_tokenizer(
        texts, texts, vocabulary_size=320, lowercase=False, min_frequency=2
    )


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=5))
def test_any_text_comes_back_as_it_was(tokenizer, texts):
    numbered = number_sentences(texts, tokenizer)
    end = vocabulary_of_pairs(tokenizer).end
    assert len(numbered) == len(texts)
    for text, ids in zip(
        texts, rows(numbered.values, numbered.offsets) if texts else [], strict=True
    ):
        assert ids[-1] == end
        assert end not in ids[:-1]
        assert tokenizer.decode(ids) == text.strip()


def test_what_is_written_like_a_special_token_is_text(tokenizer):
    ids = number_sentences(["the </s> <pad>"], tokenizer).values
    assert np.count_nonzero(ids < 4) == 1
    assert tokenizer.decode(ids.tolist()) == "the </s> <pad>"


def test_a_word_is_the_same_token_wherever_it_stands(tokenizer):
    ids = number_sentences(["the cat the"], tokenizer).values
    assert ids[0] == ids[2]
    assert len(ids) == 4


@given(
    sizes=st.lists(st.integers(0, 5), max_size=20),
    data=st.data(),
)
def test_rows_are_taken_in_any_order(sizes, data):
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows_ = Ragged(np.arange(offsets[-1]), offsets)
    count = len(sizes)
    chosen = data.draw(st.lists(st.integers(0, count - 1), max_size=30)) if count else []
    taken = rows_.take(np.array(chosen, dtype=np.int64))
    expected = [rows_.values[offsets[row] : offsets[row + 1]].tolist() for row in chosen]
    found = [
        taken.values[start:stop].tolist()
        for start, stop in zip(taken.offsets[:-1], taken.offsets[1:], strict=True)
    ]
    assert found == expected


def test_a_missing_folder_and_damaged_files_are_named(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*vocabulary.json.*it is made again"):
        read_parallel_data(tmp_path / "none")
    build(tmp_path)
    vocabulary = json.loads((tmp_path / "vocabulary.json").read_bytes())
    (tmp_path / "vocabulary.json").write_text(json.dumps({**vocabulary, "size": 9}))
    with pytest.raises(DataError, match=r"train.parquet: it holds ids that are not from 0 to 8"):
        read_parallel_data(tmp_path)
    (tmp_path / "vocabulary.json").write_text('{"size": 9}')
    with pytest.raises(DataError, match=r"vocabulary.json or buckets.json lacks something"):
        read_parallel_data(tmp_path)
    (tmp_path / "vocabulary.json").write_text(json.dumps(vocabulary))
    (tmp_path / "test.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"cannot read .*test.parquet"):
        read_parallel_data(tmp_path)


def test_texts_stay_on_disk_until_they_are_asked_for(tmp_path):
    build(tmp_path)
    pairs = read_parallel_data(tmp_path).splits["train"]
    assert len(pairs.sources) == len(pairs) == 1500
    first = pairs.sources[0]
    (tmp_path / "train.parquet").unlink()
    assert pairs.sources[:2][0] == first
    with pytest.raises(DataError, match=r"cannot read .*train.parquet"):
        pairs.references[0]


MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/"
SHA256 = {
    "raw/train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "raw/train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "raw/val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "raw/val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "raw/test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "raw/test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "tok/train.lc.norm.tok.en": "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119",
    "tok/train.lc.norm.tok.de": "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505",
    "tok/val.lc.norm.tok.en": "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec",
    "tok/val.lc.norm.tok.de": "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00",
    "tok/test_2016_flickr.lc.norm.tok.en": "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2",
    "tok/test_2016_flickr.lc.norm.tok.de": "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4",
}


def multi30k(pattern: str) -> dict[str, Path]:
    names = {"train": "train", "validation": "val", "test": "test_2016_flickr"}
    languages = {"source": "en", "target": "de"}
    files = {}
    for role, name in names.items():
        for side, language in languages.items():
            path = pattern.format(name=name, language=language)
            files[f"{role}_{side}"] = mirrored(MULTI30K + path, SHA256[path])
    return files


@pytest.mark.real
@pytest.mark.parametrize(
    ("pattern", "lowercase", "unequal", "longest"),
    [
        ("raw/{name}.{language}.gz", True, 2, (51, 44, 37)),
        ("tok/{name}.lc.norm.tok.{language}", False, 1, (51, 43, 37)),
    ],
)
def test_multi30k(tmp_path, pattern, lowercase, unequal, longest):
    counts = build(
        tmp_path,
        source={"kind": "files", "encoding": "auto"},
        files=multi30k(pattern),
        vocabulary_size=10_000,
        lowercase=lowercase,
    )
    assert counts["read"] == {"train": 29_000, "validation": 1_014, "test": 1_000}
    assert counts["dropped"] == {"empty": 0, "too_long": 0, "too_unequal": unequal}
    assert counts["sizes"] == {"train": 29_000 - unequal, "validation": 1_014, "test": 1_000}
    assert tuple(found["target"] for found in counts["longest"].values()) == longest
    assert counts["vocabulary"] == 10_000
    assert counts["source_duplicates_across"] == {
        "train/validation": 1,
        "train/test": 0,
        "validation/test": 0,
    }
    assert set(counts["encodings"]["train"].values()) == {"utf-8"}
    data = read_parallel_data(tmp_path)
    tokenizer = Tokenizer.from_file(str(data.tokenizer_path))
    pairs = data.splits["test"]
    decoded = tokenizer.decode_batch(rows(pairs.target_ids, pairs.target_offsets))
    given_texts = [text.strip() for text in pairs.references]
    assert decoded == [text.lower() if lowercase else text for text in given_texts]
