"""Translation as the loop sees it, and the search behind its hypotheses."""

import math

import numpy as np
import pytest
import torch

from poscope.evaluation.perplexity import perplexity
from poscope.training.device_texts import DeviceTexts
from poscope.training.translation_decoding import Decoding, one_line, search, translate
from poscope.training.translation_settings import TranslationSettings
from poscope.training.translation_task import DevicePairs, TranslationTask
from tests.support.translation_tasks import SETTINGS, VOCABULARY, reversed_pairs, write_task

PLACE = torch.device("cpu")
PAIRS = reversed_pairs(30, seed=0)
DECODING = Decoding(beam=3, length_penalty=0.6, longest_factor=1.0, longest_extra=3, batch=4)


@pytest.fixture(scope="module")
def model():
    from poscope.models.translation import TranslationModel

    torch.manual_seed(0)
    shape = TranslationSettings(**SETTINGS).shape(VOCABULARY)
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(SETTINGS["max_positions"], SETTINGS["dim"])) for _ in range(2)]
    network = TranslationModel(shape, *tables, encoder_trainable=True, decoder_trainable=True)
    return network.eval()


def make(model, *, smoothing=0.0, batch_tokens=60, bleu=None):
    pairs = DevicePairs(PAIRS, VOCABULARY, PLACE)
    return TranslationTask(
        model,
        pairs,
        pairs,
        label_smoothing=smoothing,
        batch_tokens=batch_tokens,
        pool=2,
        seed=0,
        bleu=bleu,
    )


def side(ids, offsets, row):
    return ids[offsets[row] : offsets[row + 1]].tolist()


def one_by_one(model, smoothing):
    """The loss of each pair alone, by torch's own cross-entropy: nothing is padded."""
    found = []
    for row in range(len(PAIRS)):
        source = torch.tensor([side(PAIRS.source_ids, PAIRS.source_offsets, row)])
        target = side(PAIRS.target_ids, PAIRS.target_offsets, row)
        target_in = torch.tensor([[VOCABULARY.start, *target[:-1]]])
        lengths = torch.tensor([source.shape[1]])
        logs = model(source, lengths, target_in)[0].log_softmax(dim=1)
        right = -logs[torch.arange(len(target)), target]
        found.append(((1 - smoothing) * right - smoothing * logs.mean(dim=1)).sum())
    return torch.stack(found).detach()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_of_a_batch_is_the_sum_over_its_target_tokens(model, smoothing):
    task = make(model, smoothing=smoothing)
    expected = one_by_one(model, smoothing)
    with torch.no_grad():
        for batch in task.batches(0):
            torch.testing.assert_close(task.loss(batch), expected[batch.rows].sum())


def test_a_batch_tells_its_target_tokens_and_the_tokens_of_both_sides(model):
    task = make(model)
    batches = list(task.batches(0))
    target = np.diff(PAIRS.target_offsets)
    both = target + np.diff(PAIRS.source_offsets)
    assert len(batches) > 3
    for batch in batches:
        assert batch.terms == target[batch.rows].sum()
        assert task.units(batch) == both[batch.rows].sum()
        assert batch.shape[1] == target[batch.rows].max()
    assert sum(batch.terms for batch in batches) == len(PAIRS.target_ids)


def test_an_evaluation_gives_the_mean_by_target_token_without_smoothing(model):
    with torch.no_grad():
        found = make(model, smoothing=0.1).evaluate()
    loss = float(one_by_one(model, 0.0).sum()) / len(PAIRS.target_ids)
    assert found.figures["validation_loss"] == pytest.approx(loss, rel=1e-5)
    assert found.figures["validation_perplexity"] == pytest.approx(perplexity(loss), rel=1e-4)
    assert math.isnan(found.figures["validation_bleu"])
    assert found.score == -found.figures["validation_loss"]
    with torch.no_grad():
        by_bleu = make(model, bleu=lambda: 12.5).evaluate()
    assert by_bleu.score == by_bleu.figures["validation_bleu"] == 12.5
    assert by_bleu.figures["validation_loss"] == found.figures["validation_loss"]


def test_a_cpu_s_batches_are_padded_to_their_longest_and_a_gpu_s_to_multiples():
    pairs = DevicePairs(PAIRS, VOCABULARY, PLACE)
    rows = [np.array([0, 3]), np.arange(30)]
    exact = [batch.shape for batch in pairs.on_device(rows)]
    assert exact == [tuple(pairs.widths[each].max(axis=0).tolist()) for each in rows]
    pairs._multiple = 4
    rounded = [batch.shape for batch in pairs.on_device(rows)]
    assert rounded == [tuple(min(-(-width // 4) * 4, 9) for width in shape) for shape in exact]


def texts_of(pairs):
    return DeviceTexts(
        pairs.source_ids, pairs.source_offsets, padding=VOCABULARY.padding, device=PLACE
    )


@pytest.mark.parametrize("beam", [1, 3])
def test_hypotheses_come_in_the_order_of_their_sentences(model, beam):
    decoding = Decoding(**(vars(DECODING) | {"beam": beam}))
    together = search(model, texts_of(PAIRS), decoding)
    assert len({each.ids for each in together}) > 5
    for row in range(len(PAIRS)):
        source = torch.tensor([side(PAIRS.source_ids, PAIRS.source_offsets, row)])
        (alone,) = decoding.search(model, source, torch.tensor([source.shape[1]]))
        assert together[row].ids == alone.ids
        assert together[row].score == pytest.approx(alone.score, rel=1e-4)


def test_a_probability_is_that_of_a_token_on_average(model, tmp_path):
    task = write_task(tmp_path)
    with torch.no_grad():
        decoded = translate(model, texts_of(PAIRS), DECODING, task / "tokenizer.json")
        found = search(model, texts_of(PAIRS), DECODING)
        ended = 0
        for row, hypothesis in enumerate(found):
            source = torch.tensor([side(PAIRS.source_ids, PAIRS.source_offsets, row)])
            limit = min(source.shape[1] + 3, SETTINGS["max_positions"])
            labels = [*hypothesis.ids, VOCABULARY.end][:limit]
            ended += labels[-1] == VOCABULARY.end
            target_in = torch.tensor([[VOCABULARY.start, *labels[:-1]]])
            lengths = torch.tensor([source.shape[1]])
            losses = model.loss(source, lengths, target_in, torch.tensor([labels]), 0.0)
            assert decoded.probabilities[row] == pytest.approx(math.exp(-losses.mean()), rel=1e-4)
            assert decoded.scores[row] == pytest.approx(-float(losses.sum()) / len(labels) ** 0.6)
    assert decoded.cut == len(found) - ended > 0


def test_line_breaks_of_all_kinds_become_spaces():
    assert one_line("a\nb\r\nc\u2028d\x0be f") == "a b c d e f"


def test_a_metric_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="loss or bleu, and not 'chrf'"):
        TranslationSettings(**(SETTINGS | {"selection_metric": "chrf"}))
