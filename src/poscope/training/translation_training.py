"""From a translation cell to a network that is trained, and its translations of the test set."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from poscope.evaluation.classification import ALL
from poscope.evaluation.translation import BucketScores, corpus_bleu, scores_by_bucket
from poscope.models.translation import TranslationModel
from poscope.training.checkpoints import CheckpointStore
from poscope.training.devices import Device
from poscope.training.errors import TrainingError
from poscope.training.loop import train
from poscope.training.precision import Precision
from poscope.training.run import LoopSettings, Trained
from poscope.training.translation_cell import TranslationCell
from poscope.training.translation_decoding import Decoded, one_line, translate
from poscope.training.translation_task import DevicePairs, TranslationTask

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TranslationRun:
    """A translation network, trained and tested.

    Attributes:
        model: the network.
        trained: what the loop gave.
        test_loss: mean cross-entropy of the test set's target tokens, in nats.
        decoded: the translations of the test sentences.
        references: what they should be, each one line.
        scores: of the translations, by length bucket.
    """

    model: TranslationModel
    trained: Trained
    test_loss: float
    decoded: Decoded
    references: Sequence[str]
    scores: BucketScores


def train_and_translate(
    cell: TranslationCell,
    loop: LoopSettings,
    *,
    device: Device,
    precision: Precision,
    checkpoints: CheckpointStore | None,
) -> TranslationRun:
    """Train a cell's network, or go on with it, and translate the test set with the kept state.

    Args:
        cell: what it is made from.
        loop: how to train.
        device: what to compute on.
        precision: in which numbers.
        checkpoints: where to keep the run's state; None keeps none.

    Raises:
        TrainingError: as `train_translation_cell` has it.
    """
    place = torch.device(device.torch_name)
    task = _make_task(cell, place)
    trained = train(task, loop, device=place, precision=precision, checkpoints=checkpoints)
    data, settings, test = cell.data, cell.settings, cell.data.splits["test"]
    pairs = DevicePairs(test, data.vocabulary, place)
    with torch.no_grad(), precision.autocast(place.type):
        test_loss = task.mean_loss(pairs)
        decoding = settings.test_decoding()
        decoded = translate(task.model, pairs.sources, decoding, data.tokenizer_path)
    _check_not_all_empty(decoded)
    references = [one_line(text) for text in test.references]
    scores = scores_by_bucket(
        decoded.texts,
        references,
        test.buckets,
        data.buckets.names,
        fewest=settings.min_test,
        tokenize=settings.tokenize,
        lowercase=settings.lowercase,
    )
    _LOG.info("test BLEU %.2f (%d sentences)", scores.bleu[ALL] or 0.0, len(test))
    return TranslationRun(task.model, trained, test_loss, decoded, references, scores)


def _make_task(cell: TranslationCell, place: torch.device) -> TranslationTask:
    data, settings = cell.data, cell.settings
    # Made on the CPU whatever the device, so that a seed's weights start alike on all of them.
    torch.manual_seed(cell.seed)
    model = TranslationModel(
        settings.shape(data.vocabulary),
        cell.encoder.positions,
        cell.decoder.positions,
        encoder_trainable=cell.encoder.trains,
        decoder_trainable=cell.decoder.trains,
    ).to(place)
    validation = data.splits["validation"]
    held_out = DevicePairs(validation, data.vocabulary, place)

    def bleu() -> float:
        decoding = settings.selection_decoding()
        decoded = translate(model, held_out.sources, decoding, data.tokenizer_path)
        return corpus_bleu(
            decoded.texts, references, tokenize=settings.tokenize, lowercase=settings.lowercase
        )

    by_bleu = settings.selection_metric == "bleu"
    references = [one_line(text) for text in validation.references] if by_bleu else []
    return TranslationTask(
        model,
        DevicePairs(data.splits["train"], data.vocabulary, place),
        held_out,
        label_smoothing=settings.label_smoothing,
        batch_tokens=settings.batch_tokens,
        pool=settings.pool,
        seed=cell.seed,
        bleu=bleu if by_bleu else None,
    )


def _check_not_all_empty(decoded: Decoded) -> None:
    if decoded.empty == len(decoded.texts):
        raise TrainingError(
            f"all {len(decoded.texts)} translations of the test sentences are empty: the network has learnt to end "
            "before it begins; train longer (epochs), lower the learning rate or lengthen its warm-up, "
            "and look at longest_factor and longest_extra"
        )
