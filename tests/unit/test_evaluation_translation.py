"""Scores of translations: those of sacrebleu, from counts that add up, and whether two of them differ."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from poscope.evaluation.resampling import (
    CROSSED_SENTENCES,
    ONE_SEED_SENTENCES,
    PairedCounts,
    approximate_randomisation,
    compare_scores,
    score_difference,
)
from poscope.evaluation.translation import (
    DETOKENISED,
    SCORE_OF,
    TOKENISED,
    bleu_of,
    chrf_of,
    corpus_bleu,
    protocol,
    score,
    scores_by_bucket,
    sentence_counts,
)

TEXT = "a man in Blue shirt is standing on the ladder , and cleans 3.5 windows &amp; doors ."
WORDS = TEXT.split()


def sentences(seed, count, longest=20):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, count)
    words = rng.choice(WORDS, lengths.sum())
    return [" ".join(each) for each in np.split(words, lengths.cumsum()[:-1])]


def translated(references, seed, share):
    """The references with some words replaced at random."""
    rng = np.random.default_rng(seed)
    found = []
    for text in references:
        words = np.array(text.split())
        kept = rng.random(len(words)) < share
        found.append(" ".join(np.where(kept, words, rng.choice(WORDS, len(words)))))
    return found


def counts_of(hypotheses, references, metric="bleu"):
    found = sentence_counts(hypotheses, references, tokenize=TOKENISED, lowercase=False)
    return found[metric]


# --- Scores ----------------------------------------------------------------------------------------------------------


def test_references_against_themselves_score_a_hundred():
    references = sentences(0, 30)
    found = score(references, references, tokenize=TOKENISED, lowercase=False)
    assert found.bleu == pytest.approx(100.0)
    assert found.chrf == pytest.approx(100.0)
    assert bleu_of(counts_of(references, references).sum(axis=0)) == pytest.approx(100.0)


def test_a_known_bleu_by_hand():
    # 5 of 6 words, 3 of 5 pairs, 1 of 4 triples, no quadruple: that counts as half a match; one word too short.
    hypothesis, reference = "the cat sat on a mat", "the cat lay on a mat ."
    expected = 100 * np.exp(1 - 7 / 6) * (5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** 0.25
    assert bleu_of(counts_of([hypothesis], [reference])[0]) == pytest.approx(expected, rel=1e-12)


text = st.text(alphabet="ab .,&3-Äé\t", max_size=25)
pairs_of_texts = st.lists(st.tuples(text, text), min_size=1, max_size=8)


@settings(max_examples=300, deadline=None)
@given(pairs=pairs_of_texts, tokenize=st.sampled_from(["none", "13a"]), lowercase=st.booleans())
@example(pairs=[("", "a b")], tokenize="none", lowercase=False)
@example(pairs=[("a b", "")], tokenize="none", lowercase=False)
@example(pairs=[("", "")], tokenize="13a", lowercase=True)
@example(pairs=[("a b c d e", "a x c y e")], tokenize="none", lowercase=False)
@example(pairs=[("ab", "abababab")], tokenize="none", lowercase=False)
def test_scores_from_summed_counts_are_those_of_sacrebleu(pairs, tokenize, lowercase):
    hypotheses, references = (list(side) for side in zip(*pairs, strict=True))
    counts = sentence_counts(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
    bleu = BLEU(tokenize=tokenize, lowercase=lowercase).corpus_score(hypotheses, [references])
    chrf = CHRF(lowercase=lowercase).corpus_score(hypotheses, [references])
    assert bleu_of(counts["bleu"].sum(axis=0)) == pytest.approx(bleu.score, abs=1e-9)
    assert chrf_of(counts["chrf"].sum(axis=0)) == pytest.approx(chrf.score, abs=1e-9)
    found = score(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
    assert (found.bleu, found.chrf) == (bleu.score, chrf.score)
    alone = corpus_bleu(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
    assert alone == bleu.score
    assert list(counts["bleu"].sum(axis=0)[2:]) == [*bleu.counts, *bleu.totals]


def test_many_sets_are_scored_at_once_as_they_are_one_by_one():
    references = sentences(1, 12)
    hypotheses = translated(references, 2, 0.7)
    for metric, score_of in SCORE_OF.items():
        counts = counts_of(hypotheses, references, metric)
        together = score_of(counts)
        assert together.shape == (12,)
        assert list(together) == pytest.approx([float(score_of(each)) for each in counts])


def test_signatures_say_how_a_score_was_computed():
    found = score(["A b ."], ["a b."], tokenize=DETOKENISED, lowercase=True)
    assert found.bleu_signature.startswith("nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:")
    assert found.chrf_signature.startswith("nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:")
    assert protocol(found.bleu_signature) == ("13a", True)
    assert score(["a b"], ["a b"], tokenize=TOKENISED, lowercase=False).bleu_signature.startswith(
        "nrefs:1|case:mixed|eff:no|tok:none|"
    )
    for other in ("", found.chrf_signature, "nonsense"):
        with pytest.raises(ValueError, match=r"signature of BLEU|unpack|dictionary"):
            protocol(other)


def test_buckets_are_scored_by_the_same_translations():
    references = sentences(3, 40)
    hypotheses = translated(references, 4, 0.8)
    buckets = np.arange(40) % 4 // 2 * 2  # 0 and 2 in turn; bucket 1 is empty
    found = scores_by_bucket(
        *(hypotheses, references, buckets, ["short", "medium", "long"]),
        fewest=20,
        tokenize=TOKENISED,
        lowercase=False,
    )
    assert found.n == {"all": 40, "short": 20, "medium": 0, "long": 20}
    assert found.bleu["medium"] is None
    assert found.chrf["medium"] is None
    for name, number in (("short", 0), ("long", 2)):
        mine = np.flatnonzero(buckets == number)
        sides = ([texts[row] for row in mine] for texts in (hypotheses, references))
        alone = score(*sides, tokenize=TOKENISED, lowercase=False)
        assert found.bleu[name] == pytest.approx(alone.bleu, abs=1e-9)
        assert found.chrf[name] == pytest.approx(alone.chrf, abs=1e-9)
    whole = score(hypotheses, references, tokenize=TOKENISED, lowercase=False)
    assert (found.bleu["all"], found.chrf["all"]) == (whole.bleu, whole.chrf)
    assert found.signatures == {"bleu": whole.bleu_signature, "chrf": whole.chrf_signature}
    fewer = scores_by_bucket(
        *(hypotheses, references, buckets, ["short", "medium", "long"]),
        fewest=21,
        tokenize=TOKENISED,
        lowercase=False,
    )
    assert fewer.bleu["short"] is fewer.bleu["long"] is None
    assert fewer.bleu["all"] == whole.bleu


# --- Differences -----------------------------------------------------------------------------------------------------


def pair_of(first, second, references, metric="bleu"):
    return PairedCounts(counts_of(first, references, metric), counts_of(second, references, metric))


@pytest.mark.parametrize("share", [0.75, 0.78])
@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_approximate_randomisation_is_sacrebleu_s(share, metric):
    references = sentences(5, 150)
    first, second = translated(references, 6, 0.8), translated(references, 7, share)
    found = approximate_randomisation(pair_of(first, second, references, metric), SCORE_OF[metric])
    judge = {"bleu": BLEU(tokenize="none", force=True), "chrf": CHRF()}[metric]
    name = {"bleu": "BLEU", "chrf": "chrF2"}[metric]
    _, theirs = PairedTest(
        [("second", second), ("first", first)], {name: judge}, [references], "ar", 4000
    )()
    baseline, ours = theirs[name]
    assert found.difference == pytest.approx(ours.score - baseline.score, abs=1e-9)
    error = (ours.p_value * (1 - ours.p_value) * (1 / 4000 + 1 / 10_000)) ** 0.5
    assert found.p_value == pytest.approx(ours.p_value, abs=4 * error + 1e-3)
    assert found.test == ONE_SEED_SENTENCES


def test_approximate_randomisation_of_three_sentences_by_all_eight_swaps():
    references = ["a b c d e", "b c d e f", "c d e f g"]
    pair = pair_of(references, ["a b c x e", "b c d e", "c d e f"], references)
    as_large = 0
    for swaps in np.ndindex(2, 2, 2):
        chosen = np.array(swaps)[:, None] == 0
        sides = [
            np.where(chosen, *each) for each in ((pair.ours, pair.theirs), (pair.theirs, pair.ours))
        ]
        one, other = (float(bleu_of(side.sum(axis=0))) for side in sides)
        as_large += abs(one - other) >= abs(pair.difference(bleu_of)) - 1e-9
    found = approximate_randomisation(pair, bleu_of, shuffles=20_000)
    assert found.p_value == pytest.approx(as_large / 8, abs=0.02)


def test_a_translator_does_not_differ_from_itself():
    references = sentences(8, 30)
    same = translated(references, 9, 0.7)
    pair = pair_of(same, same, references)
    for seeds in (1, 3):
        found = compare_scores([pair] * seeds, bleu_of)
        assert (found.difference, found.p_value) == (0.0, 1.0)


def test_the_bootstrap_has_the_standard_error_of_the_difference():
    # Over many test sets drawn anew, the difference's variance is what the bootstrap finds in one of them.
    drawn = []
    for seed in range(150):
        references = sentences([10, seed], 40)
        first, second = (
            translated(references, [11, seed], 0.9),
            translated(references, [12, seed], 0.7),
        )
        drawn.append(pair_of(first, second, references))
    true = np.var([pair.difference(bleu_of) for pair in drawn], ddof=1)
    found = np.mean(
        [score_difference([pair], bleu_of, resamples=200).normal for pair in drawn[:40]]
    )
    assert found == pytest.approx(true, rel=0.3)


def test_several_seeds_put_the_variances_of_seeds_and_of_sentences_together():
    references = sentences(13, 80)
    pairs = [
        pair_of(
            translated(references, 20 + k, 0.8), translated(references, 30 + k, 0.7), references
        )
        for k in range(3)
    ]
    found = score_difference(pairs, bleu_of)
    differences = [pair.difference(bleu_of) for pair in pairs]
    assert found.mean == pytest.approx(np.mean(differences))
    assert found.student == pytest.approx(np.var(differences, ddof=1) / 3)
    assert found.df == 2
    low, high = found.interval()
    assert low < found.mean < high
    named = compare_scores(pairs, bleu_of)
    assert (named.difference, named.p_value) == (found.mean, found.p_value)
    assert named.test == CROSSED_SENTENCES
    # The same networks three times: sentences alone are chance, and three seeds are worth no more than one.
    thrice, once = score_difference(pairs[:1] * 3, bleu_of), score_difference(pairs[:1], bleu_of)
    assert thrice.student == 0.0
    assert thrice.normal == pytest.approx(once.normal)
    assert thrice.interval() == pytest.approx(once.interval())


def luck_of_seeds(rng, references, spread):
    """Translators that are alike but for the luck of their seed, and for the luck of each sentence."""
    shares = 0.7 + spread * rng.normal(size=2)
    return [translated(references, rng.integers(2**32), share) for share in shares]


def test_alike_translators_are_found_to_differ_no_more_often_than_the_level_allows():
    rejected, trials = 0, 100
    for trial in range(trials):
        rng = np.random.default_rng([14, trial])
        references = sentences([15, trial], 40, longest=9)
        pairs = [pair_of(*luck_of_seeds(rng, references, 0.15), references) for _ in range(3)]
        rejected += compare_scores(pairs, bleu_of, resamples=200).p_value < 0.05
    # 5 are expected; more than 12 of 100 have a probability of 0.002.
    assert rejected <= 12


def test_a_comparison_needs_sentences_and_seeds():
    empty = PairedCounts(np.zeros((0, 10), np.int64), np.zeros((0, 10), np.int64))
    for pairs in ([], [empty], [empty, empty]):
        with pytest.raises(ValueError, match="at least one seed, and sentences"):
            compare_scores(pairs, bleu_of)
