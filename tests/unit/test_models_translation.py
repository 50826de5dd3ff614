"""Translation networks: what poscope's passes compute, against the library's own."""

import json

import numpy as np
import pytest
import torch
from torch.nn import functional

from poscope.models.translation import TranslationModel, TranslationShape

VOCABULARY, DIM, SOURCE_ROWS, TARGET_ROWS = 31, 16, 12, 9
PADDING, START, END = 0, 1, 2
RANDOM = np.random.default_rng(1)


def padded(rows):
    width = max(len(each) for each in rows)
    return torch.tensor([[*each, *[PADDING] * (width - len(each))] for each in rows])


def sentences(lengths):
    return [[*RANDOM.integers(3, VOCABULARY, size=each - 1).tolist(), END] for each in lengths]


SOURCE_LENGTHS = torch.tensor([5, 8, 3])
SOURCE, LABELS = padded(sentences([5, 8, 3])), padded(sentences([4, 2, 7]))
TARGET_IN = torch.cat([torch.full((3, 1), START), LABELS[:, :-1]], dim=1)
TARGET_IN = TARGET_IN.masked_fill(TARGET_IN == END, PADDING)


def shape(**changes):
    sizes = {
        "vocabulary_size": VOCABULARY,
        "source_positions": SOURCE_ROWS,
        "target_positions": TARGET_ROWS,
        "dim": DIM,
        "layers": 2,
        "heads": 2,
        "feed_forward": 24,
        "dropout": 0.0,
        "padding": PADDING,
        "start": START,
        "end": END,
        "scale_embedding": True,
    }
    return TranslationShape(**(sizes | changes))


def table(rows, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, DIM))


def network(*, encoder_trainable=True, decoder_trainable=True, **changes):
    torch.manual_seed(3)
    sizes = shape(**changes)
    model = TranslationModel(
        sizes,
        table(sizes.source_positions, seed=1),
        table(sizes.target_positions, seed=2),
        encoder_trainable=encoder_trainable,
        decoder_trainable=decoder_trainable,
    )
    # As networks start, biases are 0 and norms do not scale: errors would not show.
    with torch.no_grad():
        for name, each in model.named_parameters():
            if "embed_positions" not in name:
                each.normal_(std=0.25)
            if each.dim() == 1 and name.endswith("weight"):
                each.add_(1.0)
    return model


def library(module, source=SOURCE, target_in=TARGET_IN):
    """Scores by the library's own pass."""
    return module(
        input_ids=source, attention_mask=(source != PADDING).long(), decoder_input_ids=target_in
    ).logits


def library_loss(model, smoothing):
    losses = functional.cross_entropy(
        library(model.network.module).transpose(1, 2),
        LABELS,
        label_smoothing=smoothing,
        reduction="none",
    )
    return losses.masked_fill(LABELS == PADDING, 0.0)


VARIANTS = [
    {},
    {"scale_embedding": False},
    {"shared_embeddings": True},
    {"source_positions": SOURCE.shape[1], "target_positions": TARGET_ROWS + 4},
]


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize("training", [True, False])
def test_scores_are_those_of_the_library(changes, training):
    model = network(**changes).train(training)
    found = model(SOURCE, SOURCE_LENGTHS, TARGET_IN)
    expected = library(model.network.module)
    assert expected.std() > 0.05
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def gradients(model, losses):
    model.zero_grad()
    (losses * torch.linspace(0.2, 2.0, losses.numel()).view(losses.shape)).sum().backward()
    return {
        name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None
    }


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_losses_and_gradients_are_those_of_the_library(changes, smoothing):
    model = network(**changes).train()
    expected_losses = library_loss(model, smoothing)
    expected = gradients(model, expected_losses)
    losses = model.loss(SOURCE, SOURCE_LENGTHS, TARGET_IN, LABELS, smoothing)
    torch.testing.assert_close(losses, expected_losses, rtol=0, atol=1e-5)
    found = gradients(model, losses)
    assert found.keys() == expected.keys() == dict(model.named_parameters()).keys()
    for name, each in expected.items():
        torch.testing.assert_close(found[name], each, rtol=0, atol=1e-5, msg=name)


def test_label_smoothing_by_hand():
    """Two words score ln 3 and 0 above three others: probabilities 3/7 and 1/7 of each other."""
    model = network(vocabulary_size=5)
    labels, epsilon = torch.tensor([[3]]), 0.2
    with torch.no_grad():
        # Rows of the last map of ones, and words that score by their sum.
        model.network.decode = lambda target, memory, keep: torch.ones(1, 1, DIM)
        model.network.vocabulary.zero_()[3, 0] = np.log(3.0)
        found = model.loss(
            torch.tensor([[4, END]]), torch.tensor([2]), torch.tensor([[START]]), labels, epsilon
        )
    by_hand = 0.8 * np.log(7 / 3) + 0.2 / 5 * (np.log(7 / 3) + 4 * np.log(7))
    assert found.item() == pytest.approx(by_hand, rel=1e-6)


def test_losses_are_zero_where_nothing_is_scored_and_nowhere_else():
    losses = network().loss(SOURCE, SOURCE_LENGTHS, TARGET_IN, LABELS, 0.1)
    assert losses.dtype == torch.float32
    assert torch.equal(losses == 0, LABELS == PADDING)


def test_padding_and_company_do_not_change_a_loss():
    model = network()
    together = model.loss(SOURCE, SOURCE_LENGTHS, TARGET_IN, LABELS, 0.1)
    for row, length in enumerate(SOURCE_LENGTHS.tolist()):
        tokens = int((LABELS[row] != PADDING).sum())
        alone = model.loss(
            SOURCE[row : row + 1, :length],
            SOURCE_LENGTHS[row : row + 1],
            TARGET_IN[row : row + 1, :tokens],
            LABELS[row : row + 1, :tokens],
            0.1,
        )
        torch.testing.assert_close(alone[0], together[row, :tokens], rtol=0, atol=1e-6)


def test_what_stands_in_padding_does_not_matter():
    model = network()
    other = SOURCE.masked_fill(SOURCE == PADDING, 7)
    found = model(other, SOURCE_LENGTHS, TARGET_IN)
    assert torch.equal(found, model(SOURCE, SOURCE_LENGTHS, TARGET_IN))
    assert not torch.equal(found, model(other, torch.full((3,), 8), TARGET_IN))


def test_a_later_token_never_changes_an_earlier_score_in_training():
    model = network(dropout=0.3).train()
    changed = TARGET_IN.clone()
    changed[:, 4] = (changed[:, 4] + 1) % VOCABULARY
    scores = []
    for target in (TARGET_IN, changed):
        torch.manual_seed(0)  # the same numbers are dropped
        scores.append(model(SOURCE, SOURCE_LENGTHS, target))
    assert torch.equal(scores[0][:, :4], scores[1][:, :4])
    assert not torch.equal(scores[0][:, 4:], scores[1][:, 4:])


def test_dropout_acts_in_training_alone():
    model = network(dropout=0.2).eval()
    found = model(SOURCE, SOURCE_LENGTHS, TARGET_IN)
    torch.testing.assert_close(found, library(model.network.module), rtol=0, atol=1e-5)
    model.train()
    assert not torch.equal(
        model(SOURCE, SOURCE_LENGTHS, TARGET_IN), model(SOURCE, SOURCE_LENGTHS, TARGET_IN)
    )


@pytest.mark.parametrize(("encoder", "decoder"), [(True, False), (False, True), (False, False)])
def test_a_frozen_table_gets_no_gradient_and_a_free_one_does(encoder, decoder):
    model = network(encoder_trainable=encoder, decoder_trainable=decoder)
    model.loss(SOURCE, SOURCE_LENGTHS, TARGET_IN, LABELS, 0.1).sum().backward()
    sides = (
        (model.encoder_positions, encoder, SOURCE_LENGTHS.max()),
        (model.decoder_positions, decoder, LABELS.shape[1]),
    )
    for positions, trainable, used in sides:
        assert positions.requires_grad == trainable
        assert (positions.grad is not None) == trainable
        if trainable:
            assert positions.grad[:used].abs().amax(dim=1).min() > 0
            assert positions.grad[used:].abs().max() == 0


def test_tables_are_those_given():
    model = network()
    for found, rows, seed in (
        (model.encoder_positions, SOURCE_ROWS, 1),
        (model.decoder_positions, TARGET_ROWS, 2),
    ):
        assert np.array_equal(found.detach().numpy(), table(rows, seed).astype(np.float32))


def test_target_words_are_the_last_map_and_source_words_are_not_unless_shared():
    for shared in (False, True):
        inner = network(shared_embeddings=shared).network.module.model
        last = network(shared_embeddings=shared).network
        assert last.vocabulary is last.module.model.decoder.embed_tokens.weight
        same = inner.encoder.embed_tokens.weight is inner.decoder.embed_tokens.weight
        assert same == shared


def test_weights_start_alike_whatever_the_positions():
    def weights(rows, trainable):
        torch.manual_seed(5)
        model = TranslationModel(
            shape(source_positions=rows, target_positions=2 * rows),
            table(rows),
            table(2 * rows),
            encoder_trainable=trainable,
            decoder_trainable=trainable,
        )
        own = {n: each for n, each in model.named_parameters() if "embed_positions" not in n}
        return own, torch.get_rng_state()

    first, state = weights(6, True)
    second, state_after = weights(30, False)
    assert first.keys() == second.keys()
    assert all(torch.equal(each, second[name]) for name, each in first.items())
    assert torch.equal(state, state_after)


def test_words_start_as_large_as_standardised_positions_once_they_are_scaled():
    torch.manual_seed(0)
    tables = (np.zeros((SOURCE_ROWS, 64)), np.zeros((TARGET_ROWS, 64)))
    model = TranslationModel(
        shape(vocabulary_size=2000, dim=64), *tables, encoder_trainable=True, decoder_trainable=True
    )
    scaled = model.network.vocabulary * model.network.module.model.decoder.embed_scale
    assert scaled.std().item() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("changes", VARIANTS)
def test_a_saved_model_is_read_by_the_library(changes, tmp_path):
    from transformers import MarianMTModel

    model = network(**changes, dropout=0.1, encoder_trainable=False).eval()
    model.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]
    read = MarianMTModel.from_pretrained(tmp_path)
    found = model(SOURCE, SOURCE_LENGTHS, TARGET_IN)
    torch.testing.assert_close(library(read), found, rtol=0, atol=1e-5)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["architectures"] == ["MarianMTModel"]
    assert read.config.max_position_embeddings == max(
        len(model.encoder_positions), len(model.decoder_positions)
    )
    # Moves as one, as a checkpoint that trains on must.
    assert read.lm_head.weight is read.model.decoder.embed_tokens.weight


def test_positions_of_another_shape_are_refused():
    tables = (table(SOURCE_ROWS), table(TARGET_ROWS + 1))
    with pytest.raises(ValueError, match=r"decoder.*\(10, 16\).*\(9, 16\)"):
        TranslationModel(shape(), *tables, encoder_trainable=True, decoder_trainable=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heads": 3}, "dim 16 is no multiple of heads 3"),
        ({"end": PADDING}, "three tokens"),
        ({"start": VOCABULARY}, "below 31"),
    ],
)
def test_sizes_that_make_no_network_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        shape(**changes)
