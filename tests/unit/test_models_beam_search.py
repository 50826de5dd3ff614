"""Decoding: against all sequences there are, and against a beam search without caches, batches and shortcuts."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from poscope.models.beam_search import LongestRule, beam_search, greedy
from poscope.models.cached_decoder import CachedDecoder
from poscope.models.hypotheses import BestHypotheses
from poscope.models.top_words import top_words
from poscope.models.translation import TranslationModel, TranslationShape, keep_tokens

PADDING, START, END = 0, 1, 2
ROWS, DIM = 14, 16


def network(vocabulary_size=12, seed=0, rows=ROWS, layers=2, sd=0.3):
    torch.manual_seed(seed)
    shape = TranslationShape(
        vocabulary_size=vocabulary_size,
        source_positions=ROWS,
        target_positions=rows,
        dim=DIM,
        layers=layers,
        heads=2,
        feed_forward=24,
        dropout=0.1,
        padding=PADDING,
        start=START,
        end=END,
        scale_embedding=True,
    )
    tables = [np.random.default_rng(seed).normal(size=(each, DIM)) for each in (ROWS, rows)]
    model = TranslationModel(shape, *tables, encoder_trainable=False, decoder_trainable=False)
    with torch.no_grad():
        for name, each in model.named_parameters():
            if "embed_positions" not in name:
                each.normal_(std=sd)
            if each.dim() == 1 and name.endswith("weight"):
                each.add_(1.0)
    return model.eval()


def sources(count, vocabulary_size=12, seed=0, longest=9):
    random = np.random.default_rng(seed)
    lengths = random.integers(2, longest + 1, size=count)
    ids = np.full((count, lengths.max()), PADDING)
    for row, length in enumerate(lengths):
        ids[row, :length] = [*random.integers(3, vocabulary_size, size=length - 1), END]
    return torch.tensor(ids), torch.tensor(lengths)


def log_probabilities(model, source, length, prefixes):
    """Of the next token after each prefix, uncached: (prefixes, V)."""
    target = torch.tensor([[START, *each] for each in prefixes])
    rows = source[None, :length].expand(len(prefixes), -1)
    with torch.no_grad():
        scores = model(rows, torch.full((len(prefixes),), length), target)[:, -1]
    found = scores.double().log_softmax(dim=1)
    found[:, [PADDING, START]] = -math.inf
    return found


def normalised(total, length, penalty):
    return total / length**penalty


def plain_beam_search(model, source, length, beam, penalty, longest):
    """The rules as the docstring has them, one sentence at a time and to the end."""
    live, finished = [((), 0.0)], []
    for step in range(longest):
        found = log_probabilities(model, source, length, [ids for ids, _ in live])
        continued = [
            (total + found[row, word].item(), row, word)
            for row, (_, total) in enumerate(live)
            for word in range(found.shape[1])
            if found[row, word] > -math.inf
        ]
        continued.sort(key=lambda each: (-each[0], each[1], each[2]))
        for total, row, word in continued[:beam]:
            if word == END:
                finished.append((normalised(total, step + 1, penalty), live[row][0]))
        going = [each for each in continued if each[2] != END][:beam]
        live = [((*live[row][0], word), total) for total, row, word in going]
        if not live:
            break
        best = max((score for score, _ in finished), default=-math.inf)
        if len(finished) >= beam and normalised(live[0][1], step + 1, penalty) <= best:
            break
    else:
        finished += [(normalised(total, longest, penalty), ids) for ids, total in live]
    return max(finished, key=lambda each: each[0])


def every_sequence(model, source, length, penalty, longest):
    """The best of all sequences that end, or that are cut at the longest."""
    words = [each for each in range(model.shape.vocabulary_size) if each not in (PADDING, START)]
    best = (-math.inf, ())
    totals = {(): 0.0}
    for step in range(longest):
        found = log_probabilities(model, source, length, list(totals))
        grown = {
            (*ids, word): total + found[row, word].item()
            for row, (ids, total) in enumerate(totals.items())
            for word in words
        }
        for ids, total in grown.items():
            if ids[-1] == END or step + 1 == longest:
                shown = ids[:-1] if ids[-1] == END else ids
                best = max(best, (normalised(total, step + 1, penalty), shown))
        totals = {ids: total for ids, total in grown.items() if ids[-1] != END}
    return best


def assert_found(hypothesis, expected):
    score, ids = expected
    assert hypothesis.ids == ids
    assert hypothesis.score == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("hypotheses", [1, 3])
def test_cached_steps_are_the_uncached_pass(hypotheses):
    """Hypotheses change places and sentences leave on the way."""
    model, (source, lengths) = network(), sources(4)
    random, steps = np.random.default_rng(5), 7
    keep = keep_tokens(source, lengths)
    with torch.no_grad():
        memory = model.encode(source, lengths)
        decoder = CachedDecoder(
            model.network, memory, keep, hypotheses=hypotheses, longest=steps + 2
        )
        tokens = torch.full((4, 1, 1), START)
        for step in range(steps):
            rows = decoder.step(tokens[:, :, -1])
            for place in range(tokens.shape[1]):
                expected = model.network.decode(tokens[:, place], memory, keep)[:, -1]
                torch.testing.assert_close(rows[:, place], expected, rtol=0, atol=1e-5)
            parents = random.integers(tokens.shape[1], size=(len(tokens), hypotheses))
            parents = torch.tensor(parents)
            decoder.follow(parents)
            tokens = tokens.gather(1, parents[:, :, None].expand(-1, -1, step + 1))
            words = random.integers(3, 12, size=(len(tokens), hypotheses, 1))
            tokens = torch.cat([tokens, torch.tensor(words)], dim=2)
            if step in (2, 4):
                kept = torch.arange(len(tokens))[1:]
                decoder.keep_sentences(kept)
                tokens, memory, keep = tokens[kept], memory[kept], keep[kept]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_beam_that_holds_everything_finds_the_best_sequence_there_is(seed, penalty):
    words, longest = 5, 4  # of which three can be produced: 3⁴ sequences at most
    model, (source, lengths) = network(words, seed), sources(2, words, seed)
    found = beam_search(
        model,
        source,
        lengths,
        beam=3**longest,
        length_penalty=penalty,
        longest=LongestRule(0.0, longest),
    )
    for row, hypothesis in enumerate(found):
        expected = every_sequence(model, source[row], int(lengths[row]), penalty, longest)
        assert_found(hypothesis, expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("beam", "penalty"), [(2, 0.0), (4, 0.6), (3, 1.0), (5, 1.5), (3, -0.5)])
def test_hypotheses_are_those_of_a_plain_beam_search(seed, beam, penalty):
    model, (source, lengths) = network(seed=seed), sources(6, seed=seed)
    rule = LongestRule(1.2, 1)
    found = beam_search(model, source, lengths, beam=beam, length_penalty=penalty, longest=rule)
    for row, hypothesis in enumerate(found):
        length = int(lengths[row])
        longest = math.ceil(1.2 * length) + 1
        expected = plain_beam_search(model, source[row], length, beam, penalty, longest)
        assert_found(hypothesis, expected)


def test_plain_beam_searches_compared_above_end_in_every_way():
    """Else the comparison would leave a rule out: empty, ended and cut hypotheses."""
    ways = set()
    for seed in range(5):
        model, (source, lengths) = network(seed=seed), sources(6, seed=seed)
        for row, length in enumerate(lengths.tolist()):
            longest = math.ceil(1.2 * length) + 1
            _, ids = plain_beam_search(model, source[row], length, 3, 1.0, longest)
            ways.add("empty" if not ids else "cut" if len(ids) == longest else "ended")
    assert ways == {"empty", "cut", "ended"}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_greedy_is_a_beam_of_one(seed, penalty):
    model, (source, lengths) = network(seed=seed), sources(8, seed=seed)
    rule = LongestRule(1.0, 2)
    expected = beam_search(model, source, lengths, beam=1, length_penalty=penalty, longest=rule)
    found = greedy(model, source, lengths, length_penalty=penalty, longest=rule)
    assert [each.ids for each in found] == [each.ids for each in expected]
    assert [each.score for each in found] == pytest.approx([each.score for each in expected])


@pytest.mark.parametrize("beam", [1, 4])
def test_order_and_company_do_not_change_hypotheses(beam):
    model, (source, lengths) = network(seed=3), sources(9, seed=3)
    rule = LongestRule(1.5, 0)

    def decode(rows, width):
        ids = torch.full((len(rows), width), PADDING)
        shared = min(width, source.shape[1])
        ids[:, :shared] = source[rows, :shared]
        if beam == 1:
            return greedy(model, ids, lengths[rows], length_penalty=1.0, longest=rule)
        return beam_search(model, ids, lengths[rows], beam=beam, length_penalty=1.0, longest=rule)

    together = decode(list(range(9)), source.shape[1])
    assert len({each.ids for each in together}) > 3
    turned = decode(list(range(8, -1, -1)), ROWS)[::-1]
    alone = [decode([row], int(lengths[row]))[0] for row in range(9)]
    for others in (turned, alone):
        assert [each.ids for each in others] == [each.ids for each in together]
        assert [each.score for each in others] == pytest.approx([each.score for each in together])


@pytest.mark.parametrize("beam", [1, 3])
def test_equals_go_to_the_lowest_number(beam):
    model, (source, lengths) = network(vocabulary_size=200), sources(2)
    with torch.no_grad():
        model.network.vocabulary[:] = model.network.vocabulary[3]  # all words score alike
        model.network.vocabulary[END] = -100 * model.network.vocabulary[3].sign()
    rule = LongestRule(0.0, 1)
    found = beam_search(model, source, lengths, beam=beam, length_penalty=1.0, longest=rule)
    found += greedy(model, source, lengths, length_penalty=1.0, longest=rule)
    assert {each.ids for each in found} == {(3,)}


def test_hypotheses_are_no_longer_than_the_rule_and_the_table_allow():
    model, (source, lengths) = network(rows=6), sources(5)
    with torch.no_grad():
        # Every slot ends in the same row, at which the end mark scores worst.
        last = model.network.module.model.decoder.layers[-1].final_layer_norm
        last.weight.zero_()
        last.bias.copy_(-model.network.vocabulary[END])
    for rule, longest in (
        (LongestRule(0.5, 1), [min(math.ceil(n / 2) + 1, 6) for n in lengths.tolist()]),
        (LongestRule(0.0, 0), [1] * 5),
        (LongestRule(3.0, 50), [6] * 5),
    ):
        found = beam_search(model, source, lengths, beam=2, length_penalty=1.0, longest=rule)
        assert [len(each.ids) for each in found] == longest
        found = greedy(model, source, lengths, length_penalty=1.0, longest=rule)
        assert [len(each.ids) for each in found] == longest


def test_limits_are_not_one_more_for_a_rounding_error():
    assert 1.1 * 50 > 55
    assert LongestRule(1.1, 2).limits(torch.tensor([50, 51]), 100).tolist() == [57, 59]


def test_padding_and_start_are_never_produced():
    model, (source, lengths) = network(seed=1), sources(6)
    with torch.no_grad():
        model.network.vocabulary[PADDING] *= 30
        model.network.vocabulary[START] *= 30
    rule = LongestRule(1.0, 3)
    for found in (
        beam_search(model, source, lengths, beam=3, length_penalty=1.0, longest=rule),
        greedy(model, source, lengths, length_penalty=1.0, longest=rule),
    ):
        assert not {PADDING, START, END} & {word for each in found for word in each.ids}


def test_no_live_hypothesis_is_followed_that_cannot_win(monkeypatch):
    """The end mark is nearly certain at once: one step decides, whatever the longest."""
    model, (source, lengths) = network(), sources(4)
    with torch.no_grad():
        last = model.network.module.model.decoder.layers[-1].final_layer_norm
        last.weight.zero_()
        last.bias.copy_(20 * model.network.vocabulary[END])
    steps = []
    step = CachedDecoder.step
    monkeypatch.setattr(
        CachedDecoder, "step", lambda self, tokens: steps.append(tokens) or step(self, tokens)
    )
    rule = LongestRule(0.0, 12)
    found = beam_search(model, source, lengths, beam=4, length_penalty=1.0, longest=rule)
    assert [each.ids for each in found] == [()] * 4
    assert len(steps) == 1


def test_a_model_in_training_mode_does_not_decode():
    model, (source, lengths) = network().train(), sources(2)
    rule = LongestRule(1.0, 0)
    with pytest.raises(ValueError, match="call eval"):
        beam_search(model, source, lengths, beam=2, length_penalty=1.0, longest=rule)
    with pytest.raises(ValueError, match="call eval"):
        greedy(model, source, lengths, length_penalty=1.0, longest=rule)
    with pytest.raises(ValueError, match="at least 1"):
        beam_search(model.eval(), source, lengths, beam=0, length_penalty=1.0, longest=rule)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 4),
    words=st.integers(1, 300),
    levels=st.sampled_from([1, 2, 5, 10_000]),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_top_words_are_those_of_a_stable_sort(rows, words, levels, seed, data):
    count = data.draw(st.integers(1, min(words, 40)))
    random = np.random.default_rng(seed)
    values = random.integers(-levels, levels + 1, size=(rows, words)) / 7
    values[random.random(size=values.shape) < 0.1] = -np.inf
    values[random.random(size=values.shape) < 0.1] = -0.0
    scores = torch.tensor(values, dtype=torch.float32)
    found, ids = top_words(scores, count)
    expected = np.argsort(-scores.numpy(), axis=1, kind="stable")[:, :count]
    assert np.array_equal(ids.numpy(), expected)
    assert np.array_equal(found.numpy(), np.take_along_axis(scores.numpy(), expected, axis=1))


def test_the_first_of_equal_hypotheses_stays():
    best = BestHypotheses(2, 3, torch.device("cpu"))
    both, ids = torch.tensor([1, 0]), torch.tensor([[5, 6, 0], [7, 0, 0]])
    best.offer(both, torch.tensor([-1.0, -torch.inf]), ids, torch.tensor([2, 1]))
    best.offer(both, torch.tensor([-1.0, -2.0]), ids.flip(0), 1)
    assert [each.ids for each in best.hypotheses()] == [(5,), (5, 6)]
    assert [each.score for each in best.hypotheses()] == [-2.0, -1.0]


def test_plain_sequences_are_all_of_them():
    """The exhaustive search itself, on a case small enough to write out."""
    model, (source, lengths) = network(5, 1), sources(1, 5, 1)
    length, totals = int(lengths[0]), {}
    for first, second in itertools.product((END, 3, 4), repeat=2):
        steps = log_probabilities(model, source[0], length, [()])[0]
        if first == END:
            totals[()] = steps[END].item()
            continue
        after = log_probabilities(model, source[0], length, [(first,)])[0]
        ids = (first,) if second == END else (first, second)
        totals[ids] = (steps[first] + after[second]).item() / 2
    assert len(totals) == 7
    expected = max(totals.items(), key=lambda each: each[1])
    found = every_sequence(model, source[0], length, 1.0, 2)
    assert found[1] == expected[0]
    assert found[0] == pytest.approx(expected[1])
