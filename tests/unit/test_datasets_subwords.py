"""Tokenizers: trained ones give the same bytes, and special tokens are found and kept apart from text."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from poscope.datasets.alphabet import ALPHABET_SIZE, continuing, most_frequent
from poscope.datasets.language_data import Vocabulary
from poscope.datasets.subwords import make_tokenizer, vocabulary_of
from poscope.errors import DataError, SourceError
from tests.servers.hub import REVISION, HubServer

LINES = [
    " The cats sat on the mat , and the Cats purred .",
    "A café 汉字 ; the café sat .",
    "cats and mats and hats [MASK] <mask>",
] * 4
WORDPIECE = {"kind": "wordpiece", "vocabulary_size": 200, "lowercase": True, "min_frequency": 2}
BPE = {
    "kind": "bpe",
    "vocabulary_size": 400,
    "lowercase": False,
    "min_frequency": 2,
    "masked": False,
}


def pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    return tokenizer.encode(text, add_special_tokens=False).tokens


def test_wordpiece_cuts_as_bert_does():
    tokenizer = make_tokenizer(WORDPIECE, LINES)
    assert pieces(tokenizer, "The CATS, cafés!") == ["the", "cats", ",", "cafe", "##s", "[UNK]"]
    assert pieces(tokenizer, "汉字") == ["汉", "字"]
    assert tokenizer.decode(tokenizer.encode("the cafés").ids) == "the cafes"
    assert tokenizer.encode("the").tokens == ["[CLS]", "the", "[SEP]"]
    assert vocabulary_of(tokenizer) == Vocabulary(
        tokenizer.get_vocab_size(), 4, 2, 3, 1, 0, (0, 1, 2, 3, 4)
    )


def test_case_and_accents_are_kept_if_wanted():
    tokenizer = make_tokenizer({**WORDPIECE, "lowercase": False}, LINES)
    assert pieces(tokenizer, "Cats café") == ["Cats", "café"]


def test_byte_pairs_lose_nothing():
    tokenizer = make_tokenizer(BPE, LINES)
    text = " The Cats sat — on ☃\n"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert pieces(tokenizer, " the cats .\n") == ["Ġthe", "Ġcats", "Ġ.", "Ċ"]
    assert vocabulary_of(tokenizer) == Vocabulary(
        tokenizer.get_vocab_size(), None, None, None, None, None, (0,)
    )


def test_lower_cased_byte_pairs():
    tokenizer = make_tokenizer({**BPE, "lowercase": True}, LINES)
    assert pieces(tokenizer, " The CATS") == ["Ġthe", "Ġcats"]


def test_masked_byte_pairs_have_the_special_tokens_of_roberta():
    tokenizer = make_tokenizer({**BPE, "masked": True}, LINES)
    assert tokenizer.encode(" the").tokens == ["<s>", "Ġthe", "</s>"]
    assert vocabulary_of(tokenizer) == Vocabulary(
        tokenizer.get_vocab_size(), 4, 0, 2, 3, 1, (0, 1, 2, 3, 4)
    )


@pytest.mark.parametrize(
    ("settings", "word"), [(WORDPIECE, "[MASK]"), ({**BPE, "masked": True}, "<mask>")]
)
def test_text_that_is_written_like_a_special_token_is_text(settings, word):
    tokenizer = make_tokenizer(settings, LINES)
    vocabulary = vocabulary_of(tokenizer)
    found = tokenizer.encode_batch_fast([f"cats {word}\n"], add_special_tokens=False)[0].ids
    assert not set(found) & set(vocabulary.special)
    assert word.strip("[]<>").lower() in tokenizer.decode(found).lower()


def test_a_word_of_known_characters_is_never_unknown():
    tokenizer = make_tokenizer(WORDPIECE, LINES)
    assert "[UNK]" not in pieces(tokenizer, "sat pcm fff mmm uuu")
    assert "[UNK]" in pieces(tokenizer, "zzz")


@pytest.mark.parametrize("settings", [WORDPIECE, BPE])
def test_another_process_trains_the_same_bytes(settings):
    # The library's hash tables are seeded anew in each process.
    code = (
        "import json, sys; from poscope.datasets.subwords import make_tokenizer; "
        "settings, lines = json.load(sys.stdin); "
        "sys.stdout.write(make_tokenizer(settings, lines).to_str())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps([settings, LINES]),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == make_tokenizer(settings, LINES).to_str()


def test_the_alphabet_is_what_is_frequent_after_normalisation():
    tokenizer = make_tokenizer(WORDPIECE, LINES)
    normaliser, cutter = tokenizer.normalizer, tokenizer.pre_tokenizer
    assert most_frequent(["Éa é", "汉.\x07"], normaliser) == [".", "a", "e", "汉"]
    # 1,200 letters in one line, of which the later ones stand there twice.
    many = "".join(chr(0x1E900 + 0x22 + index % 0x22) for index in range(40))
    many += "".join(map(chr, range(0xAC00, 0xAC00 + 1200))) + "".join(
        map(chr, range(0xAC00 + 600, 0xAC00 + 1200))
    )
    plain = make_tokenizer({**WORDPIECE, "lowercase": False}, LINES).normalizer
    kept = most_frequent([many], plain)
    assert len(kept) == ALPHABET_SIZE
    assert {chr(0xAC00 + index) for index in range(600, 1200)} <= set(kept)
    assert kept == sorted(kept)
    assert continuing([".", "a", "1", "汉"], normaliser, cutter) == ["a", "1"]


def test_a_tokenizer_from_a_file_or_its_folder(tmp_path):
    trained = make_tokenizer({**BPE, "masked": True}, LINES)
    trained.enable_truncation(3)
    trained.enable_padding(pad_id=1, pad_token="<pad>")
    trained.save(str(tmp_path / "tokenizer.json"))
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        loaded = make_tokenizer({"kind": "local", "path": str(path)}, [])
        assert vocabulary_of(loaded) == vocabulary_of(trained)
        assert len(pieces(loaded, "the cats sat on the mat")) > 3
        assert pieces(loaded, "<mask>") != ["<mask>"]
    first, second = loaded.encode_batch_fast(["a", "a b c d"], add_special_tokens=False)
    assert len(first.ids) < len(second.ids)


def test_ids_with_gaps_and_without_special_tokens(tmp_path):
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 9}, unk_token="b"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    assert vocabulary_of(tokenizer) == Vocabulary(10, None, None, None, None, None, ())


def test_a_tokenizer_from_the_hub(monkeypatch, tmp_path):
    content = make_tokenizer(WORDPIECE, LINES).to_str().encode()
    with HubServer({"me/bert": {REVISION: {"tokenizer.json": content}}}) as server:
        server.use(monkeypatch, tmp_path)
        settings = {"kind": "hub", "repo": "me/bert", "revision": REVISION}
        loaded = make_tokenizer(settings, [])
        with pytest.raises(SourceError, match=r"has no file 'vocab\.txt'"):
            make_tokenizer({**settings, "file": "vocab.txt"}, [])
    assert loaded.to_str().encode() == content


@pytest.mark.parametrize(
    ("settings", "lines", "message"),
    [
        (WORDPIECE, ["\x07\u200b"], "the training text yields no vocabulary"),
        (
            {**WORDPIECE, "vocabulary_size": 20},
            LINES,
            "found 20; 5 special tokens and the single characters take up",
        ),
        ({**BPE, "vocabulary_size": 257}, LINES, "take up 257, and pieces of words need more"),
        ({"kind": "unigram"}, LINES, "no kind of tokenizer 'unigram'; there are wordpiece, bpe"),
    ],
)
def test_what_yields_no_tokenizer(settings: Any, lines: list[str], message: str):
    with pytest.raises(DataError, match=message):
        make_tokenizer(settings, lines)


def test_a_file_that_is_no_tokenizer_is_named(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match=r"tokenizer\.json of .* is no tokenizer in the format"):
        make_tokenizer({"kind": "local", "path": str(tmp_path)}, [])
    with pytest.raises(SourceError, match="there is no file or directory"):
        make_tokenizer({"kind": "local", "path": str(tmp_path / "none")}, [])
