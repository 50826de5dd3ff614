"""The plain side of `benchmarks.language_models`: transformers.Trainer as its documentation sets it up."""

import tempfile
import time
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models
from transformers import (
    BertForMaskedLM,
    DataCollatorForLanguageModeling,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from benchmarks.language_cases import (
    ADAM,
    BATCH_SIZE,
    LEARNING_RATE,
    MASK_SHARE,
    SPECIAL,
    Case,
)

transformers.logging.set_verbosity_error()


class TrainerSide:
    """Turns of so many steps, one network and its optimiser all along."""

    def __init__(self, case: Case, blocks: torch.Tensor) -> None:
        """Args: the network, and the blocks (n, L) of ids that the other side trains on."""
        kind = BertForMaskedLM if case.objective == "mlm" else GPT2LMHeadModel
        self.model = kind(case.model().network.module.config)
        self._examples = _examples(case, blocks)
        self._collator = DataCollatorForLanguageModeling(
            _tokenizer(case), mlm=case.objective == "mlm", mlm_probability=MASK_SHARE
        )

    def seconds(self, steps: int) -> float:
        """How long so many steps take after one that is not counted, which starts the trainer."""
        clock = _Clock()
        with tempfile.TemporaryDirectory() as folder:
            trainer = Trainer(
                model=self.model,
                args=_arguments(folder, steps + 1),
                train_dataset=self._examples,
                data_collator=self._collator,
                callbacks=[clock],
            )
            trainer.remove_callback(PrinterCallback)
            trainer.train()
        return clock.ends[-1] - clock.ends[0]


class _Clock(TrainerCallback):  # type: ignore[misc]
    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.ends.append(time.perf_counter())


def _arguments(folder: str, steps: int) -> TrainingArguments:
    return TrainingArguments(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=BATCH_SIZE,
        learning_rate=LEARNING_RATE,
        lr_scheduler_type="constant",
        weight_decay=ADAM.weight_decay,
        adam_beta1=ADAM.beta1,
        adam_beta2=ADAM.beta2,
        adam_epsilon=ADAM.epsilon,
        max_grad_norm=ADAM.clip,
        remove_unused_columns=False,  # the collator wants the mask of special tokens
        logging_strategy="no",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )


def _examples(case: Case, blocks: torch.Tensor) -> list[dict[str, list[int]]]:
    """Blocks as run_mlm.py and run_clm.py of the library make them."""
    examples = []
    for ids in blocks.tolist():
        example = {"input_ids": ids, "attention_mask": [1] * len(ids)}
        if case.objective == "mlm":
            example["special_tokens_mask"] = [int(each < len(SPECIAL)) for each in ids]
        examples.append(example)
    return examples


def _tokenizer(case: Case) -> PreTrainedTokenizerFast:
    """What the collator asks for special tokens and the number of words."""
    names = [*SPECIAL, *(f"w{index}" for index in range(case.words - len(SPECIAL)))]
    words = models.WordLevel({name: index for index, name in enumerate(names)}, unk_token="[UNK]")
    padding, unknown, first, last, mask = SPECIAL
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(words),
        pad_token=padding,
        unk_token=unknown,
        cls_token=first,
        sep_token=last,
        mask_token=mask,
    )
