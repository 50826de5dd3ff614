"""Text classification as the loop sees it."""

import numpy as np
import pytest
import torch

from poscope.datasets.classification_data import Split
from poscope.models.classifier import ClassifierShape, TransformerClassifier
from poscope.training.classification_task import ClassificationTask, DeviceExamples

PLACE = torch.device("cpu")
TEXTS = [[2, 3, 4], [5], [6, 7], [8, 9, 2, 3], [4]]
LABELS = [0, 1, 2, 1, 0]


def split(texts=TEXTS, labels=LABELS):
    counts = np.array([len(text) for text in texts])
    return Split(
        ids=np.concatenate([np.array(text, dtype=np.int32) for text in texts]),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        labels=np.array(labels, dtype=np.int64),
        lengths=counts.astype(np.int32),
        buckets=np.zeros(len(texts), dtype=np.int8),
        row_ids=np.arange(len(texts)),
    )


def make(readout="last", order="grouped", batch_size=2, train=None):
    torch.manual_seed(0)
    shape = ClassifierShape(
        vocabulary_size=10, labels=3, dim=8, layers=1, heads=2, feed_forward=16, dropout=0.0
    )
    positions = np.random.default_rng(0).normal(size=(6, 8))
    model = TransformerClassifier(shape, positions, trainable=True, readout=readout).eval()
    return ClassificationTask(
        model,
        train or split(),
        split(),
        batch_size=batch_size,
        order=order,
        pool=2,
        seed=0,
        device=PLACE,
    )


def one_by_one(task):
    return torch.cat(
        [task.model(torch.tensor([text]), torch.tensor([len(text)])) for text in TEXTS]
    ).detach()


def test_texts_are_padded_side_by_side():
    ids, lengths = DeviceExamples(split(), PLACE).padded(torch.tensor([4, 0, 3]), 4)
    assert ids.tolist() == [[4, 0, 0, 0], [2, 3, 4, 0], [8, 9, 2, 3]]
    assert lengths.tolist() == [1, 3, 4]


def test_the_loss_is_the_sum_of_cross_entropies():
    task = make()
    batch = task.batches(0)[0]
    scores = one_by_one(task)[batch.rows].double()
    labels = torch.tensor(LABELS)[batch.rows]
    expected = -scores.log_softmax(-1)[torch.arange(len(labels)), labels].sum()
    assert task.loss(batch).item() == pytest.approx(expected.item(), rel=1e-5)
    assert batch.terms == len(batch.rows)


def test_an_epoch_has_every_example_once_and_no_wider_than_needed():
    task = make()
    for epoch in range(3):
        batches = list(task.batches(epoch))
        assert sorted(torch.cat([each.rows for each in batches]).tolist()) == [0, 1, 2, 3, 4]
        for each in batches:
            assert each.shape == (max(len(TEXTS[row]) for row in each.rows.tolist()),)


def test_scores_come_in_the_order_of_the_examples():
    task = make()
    with torch.no_grad():
        scores = task.scores(split())
    np.testing.assert_allclose(scores, one_by_one(task).numpy(), rtol=1e-4, atol=1e-5)


def test_the_published_readout_is_scored_in_the_datas_own_batches():
    task = make(readout="last_slot", batch_size=3)
    with torch.no_grad():
        scores = task.scores(split())
        first = task.model(torch.tensor([[2, 3, 4], [5, 0, 0], [6, 7, 0]]), torch.tensor([3, 1, 2]))
        second = task.model(torch.tensor([[8, 9, 2, 3], [4, 0, 0, 0]]), torch.tensor([4, 1]))
    np.testing.assert_allclose(scores, torch.cat([first, second]).numpy(), rtol=1e-4, atol=1e-5)
    assert np.abs(scores - one_by_one(task).numpy()).max() > 0.1


def test_an_evaluation_scores_held_out_examples():
    task = make(train=split([[2]], [0]))
    with torch.no_grad():
        found = task.evaluate()
    shares = one_by_one(task).double().log_softmax(-1)
    right = (shares.argmax(-1) == torch.tensor(LABELS)).double().mean().item()
    loss = -shares[torch.arange(5), torch.tensor(LABELS)].mean().item()
    assert found.score == found.figures["validation_accuracy"] == right
    assert found.figures["validation_loss"] == pytest.approx(loss, rel=1e-5)


def test_evaluation_needs_no_more_memory_than_there_is(monkeypatch):
    task = make()
    expected = one_by_one(task).numpy()
    forward, sizes = task.model.forward, []

    def tight(ids, lengths):
        sizes.append(len(ids))
        if len(ids) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(ids, lengths)

    monkeypatch.setattr(task.model, "forward", tight)
    with torch.no_grad():
        scores = task.scores(split())
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    assert sizes == [5, 3, 2, 2, 1, 1] or sizes == [5, 3, 2, 1, 1, 1], sizes


def test_an_unknown_order_is_named():
    with pytest.raises(ValueError, match="'sorted'"):
        make(order="sorted")
