"""Tokenizers that cut words into pieces: trained here, from the hub, or from a file.

Trained are WordPiece as BERT has it (Devlin et al. 2019) and byte-level byte pair encoding as GPT-2 and RoBERTa have it
(Radford et al. 2019). The same lines and settings give the same tokenizer, byte for byte.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from poscope.datasets.alphabet import continuing, most_frequent
from poscope.datasets.language_data import TOKENIZER_FILE, Vocabulary
from poscope.errors import DataError
from poscope.sources.fileset import FileSet, read_all
from poscope.sources.local import LocalFiles

KINDS = ("wordpiece", "bpe", "hub", "local")

BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
END_OF_TEXT = "<|endoftext|>"

_CONTINUES = "##"


def make_tokenizer(settings: Mapping[str, Any], lines: Sequence[str]) -> Tokenizer:
    """The tokenizer of a corpus, ready to number text: what is written like a special token is text to it.

    Args:
        settings: what `kind` says, and its keywords:
            `wordpiece`: `vocabulary_size`, `lowercase`, `min_frequency`, see `train_wordpiece`;
            `bpe`: the same and `masked`, see `train_byte_pairs`;
            `hub`: `repo`, `revision`, and the `file` there;
            `local`: `path` of a tokenizer.json or of a folder that holds one.
        lines: the training text, for the kinds that are trained.

    Raises:
        SourceError: the tokenizer's file cannot be had.
        DataError: it is no tokenizer, the lines yield no vocabulary, or there is no such kind.
    """
    rest = dict(settings)
    kind = rest.pop("kind", None)
    if kind == "wordpiece":
        tokenizer = train_wordpiece(lines, **rest)
    elif kind == "bpe":
        tokenizer = train_byte_pairs(lines, **rest)
    elif kind == "hub":
        tokenizer = _from_hub(**rest)
    elif kind == "local":
        tokenizer = _from_folder(**rest)
    else:
        raise DataError(f"there is no kind of tokenizer {kind!r}; there are {', '.join(KINDS)}")
    # A text about BERT that says [MASK] must not mask anything.
    tokenizer.encode_special_tokens = True
    return tokenizer


def vocabulary_of(tokenizer: Tokenizer) -> Vocabulary:
    """What a tokenizer's ids mean; special tokens are known by the strings that BERT, RoBERTa and GPT-2 write."""
    ids = tokenizer.get_vocab(with_added_tokens=True)

    def known(*names: str) -> int | None:
        return next((ids[name] for name in names if name in ids), None)

    mask = known("[MASK]", "<mask>")
    first, last = known("[CLS]", "<s>"), known("[SEP]", "</s>")
    unknown, padding = known("[UNK]", "<unk>"), known("[PAD]", "<pad>")
    named = (mask, first, last, unknown, padding, known(END_OF_TEXT))
    added = tokenizer.get_added_tokens_decoder()
    special = {number for number in named if number is not None}
    special.update(number for number, token in added.items() if token.special)
    size = max(ids.values(), default=-1) + 1  # ids may have gaps
    return Vocabulary(size, mask, first, last, unknown, padding, tuple(sorted(special)))


def train_wordpiece(
    lines: Sequence[str], *, vocabulary_size: int, lowercase: bool, min_frequency: int
) -> Tokenizer:
    """WordPiece with BERT's cleaning, its cutting at white space and punctuation, and its special tokens.

    Args:
        lines: text to learn from.
        vocabulary_size: entries, special tokens included; fewer where the text yields no more.
        lowercase: whether text is lower-cased and accents are taken off.
        min_frequency: how often a pair must occur to be merged.

    Raises:
        DataError: there is no character to learn from, or the characters alone fill the vocabulary.
    """
    normaliser = normalizers.BertNormalizer(lowercase=lowercase)
    cutter = pre_tokenizers.BertPreTokenizer()
    alphabet = most_frequent(lines, normaliser)
    inside = [_CONTINUES + c for c in continuing(alphabet, normaliser, cutter)]
    # The library numbers pieces in the order of a hash table, which differs from run to run, and breaks ties by number.
    # It takes what it is given as special tokens first, in their order; all of them become plain entries below.
    start = [*BERT_TOKENS, *alphabet, *inside]
    _check_room(len(start), len(BERT_TOKENS), vocabulary_size)
    learner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    learner.normalizer, learner.pre_tokenizer = normaliser, cutter
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size,
        min_frequency=min_frequency,
        special_tokens=start,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        continuing_subword_prefix=_CONTINUES,
        show_progress=False,
    )
    learner.train_from_iterator(lines, trainer, length=len(lines))
    vocabulary = learner.get_vocab(with_added_tokens=True)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normaliser, cutter
    tokenizer.decoder = decoders.WordPiece(prefix=_CONTINUES)
    tokenizer.add_special_tokens(list(BERT_TOKENS))
    last, first = (_numbered(tokenizer, name) for name in ("[SEP]", "[CLS]"))
    tokenizer.post_processor = processors.BertProcessing(last, first)
    return tokenizer


def train_byte_pairs(
    lines: Sequence[str], *, vocabulary_size: int, lowercase: bool, min_frequency: int, masked: bool
) -> Tokenizer:
    """Byte-level byte pair encoding, which no text is unknown to.

    Args:
        lines: text to learn from.
        vocabulary_size: entries, special tokens and 256 bytes included; fewer where the text yields no more.
        lowercase: whether text is lower-cased.
        min_frequency: how often a pair must occur to be merged.
        masked: whether it has RoBERTa's special tokens, or GPT-2's single one.

    Raises:
        DataError: the bytes alone fill the vocabulary.
    """
    tokenizer = learn_byte_pairs(
        (f"{line}\n" for line in lines),
        count=len(lines),
        special=ROBERTA_TOKENS if masked else (END_OF_TEXT,),
        vocabulary_size=vocabulary_size,
        lowercase=lowercase,
        min_frequency=min_frequency,
        prefix_space=False,
    )
    if masked:
        last, first = (_numbered(tokenizer, name) for name in ("</s>", "<s>"))
        tokenizer.post_processor = processors.RobertaProcessing(last, first, add_prefix_space=False)
    else:
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def learn_byte_pairs(
    texts: Iterable[str],
    *,
    count: int,
    special: Sequence[str],
    vocabulary_size: int,
    lowercase: bool,
    min_frequency: int,
    prefix_space: bool,
) -> Tokenizer:
    """A tokenizer of byte-level pairs that adds nothing to a text.

    Args:
        texts: what to learn from, as it will be numbered.
        count: how many texts there are.
        special: special tokens, which get the first ids in this order.
        vocabulary_size: see `train_byte_pairs`, as for the next two.
        lowercase: whether text is lower-cased.
        min_frequency: how often a pair must occur to be merged.
        prefix_space: whether a text's first word is numbered as if it stood behind a space, like all others.

    Raises:
        DataError: the bytes alone fill the vocabulary.
    """
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    _check_room(len(special) + len(alphabet), len(special), vocabulary_size)
    tokenizer = Tokenizer(models.BPE())
    if lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        min_frequency=min_frequency,
        special_tokens=list(special),
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer, length=count)
    return tokenizer


def _numbered(tokenizer: Tokenizer, name: str) -> tuple[str, int]:
    return name, tokenizer.get_vocab(with_added_tokens=True)[name]


def _check_room(taken: int, special: int, vocabulary_size: int) -> None:
    if taken == special:
        raise DataError(
            "the training text yields no vocabulary: it has no character but white space and controls"
        )
    if vocabulary_size <= taken:
        raise DataError(
            f"vocabulary_size: found {vocabulary_size}; {special} special tokens and the single characters take up "
            f"{taken}, and pieces of words need more: set it well above"
        )


def _from_hub(repo: str, revision: str, file: str = TOKENIZER_FILE) -> Tokenizer:
    # Imported here: the hub's client takes a second that other tokenizers need not pay.
    from poscope.sources.hub import HubFiles

    return _parsed(HubFiles(repo, revision), file, f"{file} of {repo} at revision {revision}")


def _from_folder(path: str) -> Tokenizer:
    name = TOKENIZER_FILE if Path(path).is_dir() else Path(path).name
    return _parsed(LocalFiles(path), name, f"{name} of {path}")


def _parsed(files: FileSet, name: str, place: str) -> Tokenizer:
    data = read_all(files, name)
    try:
        tokenizer = Tokenizer.from_str(data.decode("utf-8"))
    # The library raises plain exceptions.
    except Exception as error:
        raise DataError(
            f"{place} is no tokenizer in the format of the tokenizers library: {error}"
        ) from error
    # Such settings are of what a network was given once; a corpus is numbered whole.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
