"""The plain side of `benchmarks.translation`: Seq2SeqTrainer and generate as their documentation sets them up."""

import tempfile
import time
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models
from transformers import (
    DataCollatorForSeq2Seq,
    MarianMTModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
)

from benchmarks.translation_cases import (
    ADAM,
    END,
    LABEL_SMOOTHING,
    LEARNING_RATE,
    PADDING,
    SPECIAL,
    START,
    Pairs,
    make_model,
)

transformers.logging.set_verbosity_error()


class TrainerSide:
    """Turns of so many steps, one network all along."""

    def __init__(self, pairs: Pairs, sentences: int) -> None:
        """Args: what the other side trains on, and sentences of a batch."""
        self.model = MarianMTModel(make_model().network.module.config)
        self._examples = _examples(pairs)
        self._sentences = sentences
        self._turns = 0

    def seconds_and_tokens(self, steps: int) -> tuple[float, int]:
        """Of so many steps after one that is not counted, which starts the trainer; padding is not counted."""
        clock, collator = _Clock(), _CountingCollator(self.model)
        with tempfile.TemporaryDirectory() as folder:
            trainer = Seq2SeqTrainer(
                model=self.model,
                args=_arguments(folder, steps + 1, self._sentences, self._turns),
                train_dataset=self._examples,
                data_collator=collator,
                callbacks=[clock],
            )
            trainer.remove_callback(PrinterCallback)
            trainer.train()
        self._turns += 1
        return clock.ends[-1] - clock.ends[0], sum(collator.tokens[1 : steps + 1])


def generate(
    module: MarianMTModel, source: torch.Tensor, beam: int, length_penalty: float, longest: int
) -> list[tuple[int, ...]]:
    """Translations by the library, of source ids (B, S): tokens without marks.

    It stops, as fairseq and poscope do, once as many hypotheses have ended as a beam holds.
    """
    found = module.generate(
        input_ids=source,
        attention_mask=(source != PADDING).long(),
        num_beams=beam,
        length_penalty=length_penalty,
        max_new_tokens=longest,
        early_stopping=True,
        do_sample=False,
        suppress_tokens=[PADDING, START],
    )
    marks = (PADDING, START, END)
    return [tuple(each for each in ids if each not in marks) for ids in found.tolist()]


class _Clock(TrainerCallback):  # type: ignore[misc]
    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.ends.append(time.perf_counter())


class _CountingCollator:
    """The library's, and how many tokens each of its batches held."""

    def __init__(self, model: MarianMTModel) -> None:
        self.tokens: list[int] = []
        self._collator = DataCollatorForSeq2Seq(_tokenizer(), model=model)

    def __call__(self, examples: list[dict[str, list[int]]]) -> Any:
        self.tokens.append(sum(len(each["input_ids"]) + len(each["labels"]) for each in examples))
        return self._collator(examples)


def _arguments(folder: str, steps: int, sentences: int, seed: int) -> Seq2SeqTrainingArguments:
    return Seq2SeqTrainingArguments(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=sentences,
        train_sampling_strategy="group_by_length",
        seed=seed,
        label_smoothing_factor=LABEL_SMOOTHING,
        learning_rate=LEARNING_RATE,
        lr_scheduler_type="constant",
        weight_decay=ADAM.weight_decay,
        adam_beta1=ADAM.beta1,
        adam_beta2=ADAM.beta2,
        adam_epsilon=ADAM.epsilon,
        max_grad_norm=ADAM.clip,
        logging_strategy="no",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )


def _examples(pairs: Pairs) -> list[dict[str, list[int]]]:
    """As run_translation.py of the library makes them."""
    examples = []
    for ids, labels, (source, target) in zip(
        pairs.sources.tolist(), pairs.targets.tolist(), pairs.lengths, strict=True
    ):
        examples.append(
            {
                "input_ids": ids[:source],
                "attention_mask": [1] * int(source),
                "labels": labels[:target],
            }
        )
    return examples


def _tokenizer() -> PreTrainedTokenizerFast:
    """What the collator asks for padding."""
    words = models.WordLevel({name: index for index, name in enumerate(SPECIAL)}, unk_token="<s>")
    padding, _, end = SPECIAL
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(words), pad_token=padding, eos_token=end
    )
