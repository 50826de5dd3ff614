"""For each claim of the catalogue: rows that support it, rows that contradict it, and rows that leave it open."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.support.claim_tables import Exact, Rows, Value, Versus

SETS = ("sst2", "trec", "subj", "cr", "mr", "mpqa")
ABSOLUTE, SIMILARITY = "absolute_position", "similarity"
LATIN = "initialization_latin_square/latin_squares"
ITO = ("learned_0_2", "learned_2_0")


@dataclass(frozen=True)
class Case:
    """Rows of one claim.

    Attributes:
        supported: rows that support it.
        contradicted: rows, in place of some of those, that contradict it.
        undecided: rows in place of some of those that leave it open; where there are none, the supporting rows do so
            with wide intervals and large p values.
    """

    supported: Rows
    contradicted: Rows
    undecided: Rows | None = None


def fan(pattern: str, values: Mapping[str, Value]) -> dict[str, Value]:
    """A row for each name that stands in place of the star."""
    return {pattern.replace("*", name): value for name, value in values.items()}


def grid(pattern: str, firsts: Iterable[str], values: Mapping[str, Value]) -> dict[str, Value]:
    """A row for each name in place of `+`, and each in place of `*`."""
    return {
        path: value
        for name in firsts
        for path, value in fan(pattern.replace("+", name), values).items()
    }


def _by_bucket(gpt2: tuple[float, ...], encoder: tuple[float, ...]) -> dict[str, Value]:
    rows: dict[str, Value] = {}
    for bucket, ahead, behind in zip(("short", "long", "very_long"), gpt2, encoder, strict=True):
        values: dict[str, Value] = {"gpt2": ahead, "bert": behind, "roberta": behind}
        rows |= grid(f"classification_by_length/+/*/{bucket}/accuracy", SETS, values)
    return rows


def _pairs(task: str, values: Mapping[str, Value]) -> dict[str, Value]:
    return fan(f"translation/{task}/*/bleu", values)


MIXED = ("bert--gpt2", "gpt2--bert", "roberta--gpt2", "gpt2--roberta")
PURE = ("bert--bert", "gpt2--gpt2", "roberta--roberta")
CHANCE = {f"{ABSOLUTE}/{name}/mae_chance": 128.0 for name in ("bert", "roberta", "gpt2", "random")}

_CONTROLS = {
    "control_order_chance": Case(
        {"classification/order/zeros/accuracy": 0.5}, {"classification/order/zeros/accuracy": 0.9}
    ),
    "control_bag_equal": Case(
        fan("classification/bag/*/accuracy", {"zeros": 0.99, "random": 0.99}),
        {"classification/bag/zeros/accuracy": 0.8},
    ),
    "control_reordering_collapse": Case(
        _pairs("reordering", {"zeros--sinusoid": 30.0, "sinusoid--sinusoid": 98.0}),
        _pairs("reordering", {"zeros--sinusoid": 97.0}),
    ),
    "control_random_position": Case(
        {f"{ABSOLUTE}/random/mae": 130.0, **CHANCE}, {f"{ABSOLUTE}/random/mae": 60.0}
    ),
    "control_random_order": Case(
        {"order/random/error_rate": 0.5}, {"order/random/error_rate": 0.2}
    ),
}

_PROBES = {
    "sinusoid_exact": Case({f"{ABSOLUTE}/sinusoid/mae": 0.0}, {f"{ABSOLUTE}/sinusoid/mae": 5.0}),
    "gpt2_nearly_exact": Case(
        {f"{ABSOLUTE}/gpt2/mae": 3.0, **CHANCE}, {f"{ABSOLUTE}/gpt2/mae": 60.0}
    ),
    "encoders_poor_absolute": Case(
        CHANCE | fan(f"{ABSOLUTE}/*/mae", {"bert": 50.0, "roberta": 30.0, "sinusoid": 0.0}),
        {f"{ABSOLUTE}/roberta/mae": 1.0},
    ),
    "bert_worst_absolute": Case(
        fan(f"{ABSOLUTE}/*/mae", {"bert": 50.0, "roberta": 30.0, "gpt2": 2.0, "sinusoid": 0.0}),
        {f"{ABSOLUTE}/roberta/mae": 70.0},
    ),
    "nonlinear_overfits": Case(
        fan(f"{ABSOLUTE}/minilm/*", {"mae_svr": 5.0, "mae_svr_train": 0.0}),
        fan(f"{ABSOLUTE}/minilm/*", {"mae_svr": 5.0, "mae_svr_train": 9.0}),
    ),
    "nonlinear_no_better": Case(
        grid(f"{ABSOLUTE}/+/*", ("sinusoid", "gpt2"), {"mae_svr": 9.0, "mae": 2.0}),
        {f"{ABSOLUTE}/sinusoid/mae": 20.0, f"{ABSOLUTE}/gpt2/mae": 20.0},
    ),
    "order_ranking": Case(
        fan("order/*/error_rate", {"gpt2": 0.01, "sinusoid": 0.05, "bert": 0.2, "roberta": 0.1}),
        {"order/sinusoid/error_rate": 0.15},
    ),
    "order_bert_worst": Case(
        fan("order/*/error_rate", {"bert": 0.2, "roberta": 0.1}), {"order/roberta/error_rate": 0.3}
    ),
    "periodic_similarity": Case(
        fan(f"{SIMILARITY}/*/periodicity", {"sinusoid": 0.9, "gpt2": 0.8}),
        {f"{SIMILARITY}/gpt2/periodicity": 0.2},
    ),
    "periodic_similarity_sinusoid": Case(
        {f"{SIMILARITY}/sinusoid/periodicity": 0.9}, {f"{SIMILARITY}/sinusoid/periodicity": 0.2}
    ),
    "bert_local": Case(
        {f"{SIMILARITY}/bert/half_width": 4.0}
        | fan(f"{SIMILARITY}/*/periodicity", {"bert": 0.2, "sinusoid": 0.9, "gpt2": 0.8}),
        {f"{SIMILARITY}/bert/periodicity": 0.85},
    ),
    "roberta_local_weaker": Case(
        fan(f"{SIMILARITY}/*/half_width", {"roberta": 2.0, "bert": 4.0}),
        {f"{SIMILARITY}/roberta/half_width": 5.0},
    ),
    "bert_break": Case(
        fan(f"{SIMILARITY}/bert/*", {"break_strength": 10.0, "break_position": Exact(128.0)}),
        {f"{SIMILARITY}/bert/break_position": Exact(300.0)},
    ),
    "spectrum_encoders": Case(
        fan(
            "spectrum/*/components_90",
            {"gpt2": 50.0, "sinusoid": 60.0, "roberta": 100.0, "bert": 200.0},
        ),
        {"spectrum/bert/components_90": 80.0},
    ),
    "spectrum_sinusoid": Case(
        fan("spectrum/*/components_90", {"sinusoid": 90.0, "random": 310.0}),
        {"spectrum/sinusoid/components_90": 300.0},
    ),
}

_CAUSES = {
    "objective_is_cause": Case(
        fan("pretraining/clm/9/*", {"mae": 5.0, "error_rate": 0.1})
        | fan("pretraining/mlm/9/*", {"mae": 30.0, "error_rate": 0.4}),
        {"pretraining/clm/9/error_rate": 0.6},
    ),
    "one_length_no_break": Case(
        {f"{SIMILARITY}/mlm/break_strength": 3.0}, {f"{SIMILARITY}/mlm/break_strength": 10.0}
    ),
    "two_lengths_break": Case(
        fan(f"{SIMILARITY}/mlm_two/*", {"break_strength": 10.0, "break_position": Exact(129.0)}),
        {f"{SIMILARITY}/mlm_two/break_strength": 3.0},
    ),
    "batch_size_clearer": Case(
        fan("pretraining/mlm/9/*", {"mae": 10.0, "error_rate": 0.1})
        | fan("pretraining/mlm_32/9/*", {"mae": 20.0, "error_rate": 0.3}),
        {"pretraining/mlm_32/9/mae": 5.0},
    ),
}

_LONG = "classification_by_length/sst2/*/long/accuracy"

_CLASSIFICATION = {
    "classification_ahead": Case(
        grid(
            "classification/+/*/accuracy",
            SETS,
            {"gpt2": 0.9, "sinusoid": 0.89, "bert": 0.8, "roberta": 0.81},
        ),
        grid("classification/+/*/accuracy", SETS, {"gpt2": 0.7, "sinusoid": 0.7}),
    ),
    "little_effect_short_sets": Case(
        grid(
            "classification/+/*/accuracy",
            ("trec", "mpqa"),
            dict.fromkeys(("sinusoid", "gpt2", "roberta", "bert", "random"), 0.85),
        ),
        {"classification/mpqa/bert/accuracy": 0.8},
    ),
    "encoders_behind_when_long": Case(
        fan(_LONG, {"gpt2": 0.9, "bert": 0.8, "roberta": 0.8}), fan(_LONG, {"gpt2": 0.7})
    ),
    "gap_grows_with_length": Case(
        _by_bucket((0.9, 0.85, 0.8), (0.89, 0.8, 0.6)),
        _by_bucket((0.9, 0.85, 0.8), (0.6, 0.7, 0.79)),
    ),
    "very_long_collapse": Case(
        grid(
            "classification_by_length/+/*/very_long/accuracy",
            SETS,
            {"bert": 0.6, "random": 0.6, "gpt2": 0.8},
        ),
        grid("classification_by_length/+/*/very_long/accuracy", SETS, {"gpt2": 0.5}),
    ),
}

_SKIPS = grid(
    "language_modeling/+/*/skip_ratio",
    ("wikitext2_mlm", "wikitext103_mlm"),
    {"lm_bert_skip": Versus(0.05, "lm_bert"), "lm_roberta_skip": Versus(0.04, "lm_roberta")},
)
_SKIPPED = "language_modeling/wikitext2_mlm/lm_bert_skip/skip_ratio"
_SPARED = "language_modeling/wikitext2_clm/lm_gpt2_skip/skip_ratio"

_LANGUAGE = {
    "skip_harms_masked": Case(
        {_SKIPPED: Versus(0.05, "lm_bert")}, {_SKIPPED: Versus(-0.05, "lm_bert")}
    ),
    "skip_spares_autoregressive": Case({_SPARED: 1.0}, {_SPARED: 1.2}),
    "skip_harms_bert_and_roberta": Case(_SKIPS, {_SKIPPED: Versus(-0.05, "lm_bert")}),
    "skip_bert_more_than_roberta": Case(
        fan(
            "language_modeling/wikitext103_mlm/*/skip_ratio",
            {"lm_bert_skip": 1.3, "lm_roberta_skip": 1.1},
        ),
        {"language_modeling/wikitext103_mlm/lm_roberta_skip/skip_ratio": 1.5},
    ),
}

_TRANSLATION = {
    "encoder_positions_matter_more": Case(
        _pairs("reordering", {"zeros--random": 30.0, "random--zeros": 90.0, "zeros--zeros": 29.0}),
        _pairs("reordering", {"zeros--random": 95.0}),
    ),
    "bert_harms_decoder": Case(
        _pairs("multi30k", {"random--bert": 33.0, "random--random": 34.0}),
        _pairs("multi30k", {"random--bert": 35.0}),
    ),
    "mixed_pairs_worse": Case(
        _pairs("multi30k", dict.fromkeys(MIXED, 30.0) | dict.fromkeys(PURE, 35.0)),
        _pairs("multi30k", dict.fromkeys(MIXED, 36.0)),
    ),
    "pretrained_tables_equal": Case(
        _pairs("multi30k", dict.fromkeys(PURE, 35.0)), _pairs("multi30k", {"bert--bert": 32.0})
    ),
    "gpt2_translates_long": Case(
        fan(
            "translation_by_length/multi30k/*/long/bleu",
            {"gpt2--gpt2": 30.0, "bert--bert": 25.0, "roberta--roberta": 26.0},
        ),
        {"translation_by_length/multi30k/gpt2--gpt2/long/bleu": 20.0},
    ),
}

_LONGEST = "run_times/language_modeling/*/hours_longest"
_OTHER = "run_times/classification/sst2/hours_longest"

_TIMES = {
    "hours_wikitext103": Case(
        fan(_LONGEST, {"wikitext103_mlm": Exact(10.0), "wikitext103_clm": Exact(9.0)}),
        fan(_LONGEST, {"wikitext103_mlm": Exact(30.0)}),
        fan(_LONGEST, {"wikitext103_mlm": Exact(17.0)}),
    ),
    "hours_others": Case({_OTHER: Exact(1.0)}, {_OTHER: Exact(5.0)}, {_OTHER: Exact(2.2)}),
}


def _sigmas(table: str, metric: str) -> Case:
    small, large = (f"{table}/{name}/{metric}" for name in ITO)
    return Case({small: 0.95, large: 0.8}, {small: 0.7})


def _found(name: str, table: str = LATIN) -> Case:
    layout = fan(f"{table}/learned_0_2/*", {"cka": 0.9, "rsa": 0.8})
    other = fan(f"{table}/{name}/*", {"cka": 0.2, "rsa": 0.1})
    return Case(layout | other, {f"{table}/{name}/rsa": 0.95})


def _permuted(difference: float) -> dict[str, Value]:
    value = Versus(difference, "permuted tokens")
    return fan(f"{LATIN}/learned_0_1/*", {"cka": value, "rsa": value})


_INITIALIZATION = {
    "small_sigma_latin_squares": _sigmas(LATIN, "accuracy"),
    "small_sigma_network": _sigmas("initialization_network/modules", "r2"),
    "small_sigma_fmri": _sigmas("initialization_fmri/rest", "r2"),
    "sigma_trend": Case(
        fan(f"{LATIN}/*/accuracy", {"learned_0_1": 0.99, "learned_1_0": 0.9, "learned_2_0": 0.6}),
        {f"{LATIN}/learned_0_1/accuracy": 0.3},
    ),
    "small_sigma_finds_positions": _found("learned_2_0"),
    "small_sigma_finds_modules": _found("learned_2_0", "initialization_network/modules"),
    "small_sigma_finds_anatomy": _found("learned_2_0", "initialization_fmri/rest"),
    "small_sigma_layout_above_chance": Case(_permuted(0.5), _permuted(-0.5)),
    "ill_suited_hurts": Case(
        fan(f"{LATIN}/*/accuracy", {"sinusoid_1d": 0.7, "no_positions": 0.4, "learned_0_2": 0.9}),
        {f"{LATIN}/sinusoid_1d/accuracy": 0.95},
    ),
    "ill_suited_hides_layout": _found("sinusoid_1d"),
}

_TERMS = "composition/attention_terms/minilm/all heads/*"
_OVERLAP = "composition/subspaces/minilm/share 0.9/overlap"
_IDENTITY = "composition/identity/minilm/*, float64/tied_difference"
_MOVING = "composition/coordinates/sinusoid_halves/length 128/moving_share"
_AVOIDED = "composition/coordinates/minilm/length 512/variance_correlation"
_MAPS = ("query", "key", "value")


def _trained(task: str, metric: str, mean: float, other: float) -> Case:
    pattern = f"composition/training/*/{task}/{metric}"
    prefix = "lm_" if metric == "perplexity" else ""
    names = (f"{prefix}sinusoid", f"{prefix}sinusoid_concat")
    return Case(fan(pattern, dict.fromkeys(names, mean)), fan(pattern, {names[1]: other}))


_THREAD = {
    "adding_is_concatenating": Case(
        fan(_IDENTITY, dict.fromkeys(_MAPS, Exact(1e-15))),
        fan(_IDENTITY, {"key": Exact(1e-3)}),
        fan(_IDENTITY, {"key": Exact(1e-10)}),
    ),
    "words_and_positions_orthogonal": Case(
        {_OVERLAP: Versus(-0.3, "random rotations")}
        | fan(
            "composition/subspaces/minilm/centred/*", {"cosine_sd": 0.05, "cosine_sd_random": 0.05}
        ),
        {_OVERLAP: Versus(0.4, "random rotations")},
    ),
    "part_of_coordinates_moves": Case(
        {_MOVING: Exact(0.6)}, {_MOVING: Exact(0.95)}, {_MOVING: Exact(0.8)}
    ),
    "words_avoid_moving_coordinates": Case(
        {_AVOIDED: Versus(-0.3, "no correlation")}, {_AVOIDED: Versus(0.3, "no correlation")}
    ),
    "four_terms": Case(
        fan(_TERMS, {"sum_difference": Exact(1e-14)})
        | fan(_TERMS, dict.fromkeys(("removal_ww", "removal_wp", "removal_pw", "removal_pp"), 0.2)),
        fan(_TERMS, dict.fromkeys(("removal_wp", "removal_pw"), 0.0)),
    ),
    "adding_as_good_classification": _trained("sst2", "accuracy", 0.8, 0.7),
    "adding_as_good_language": _trained("wikitext2_mlm", "perplexity", 60.0, 80.0),
    "learned_as_good_as_sinusoid": Case(
        _pairs("multi30k", {"random--random": 34.0, "sinusoid--sinusoid": 34.5}),
        _pairs("multi30k", {"random--random": 30.0}),
    ),
    "learned_as_good_as_sinusoid_classification": Case(
        fan("classification/sst2/*/accuracy", {"sinusoid": 0.8, "random": 0.805}),
        {"classification/sst2/random/accuracy": 0.7},
    ),
    "no_positions_cost_little": Case(
        fan("classification/sst2/*/accuracy", {"zeros": 0.8, "random": 0.805}),
        {"classification/sst2/zeros/accuracy": 0.7},
    ),
}

CASES: dict[str, Case] = {
    **_CONTROLS,
    **_PROBES,
    **_CAUSES,
    **_CLASSIFICATION,
    **_LANGUAGE,
    **_TRANSLATION,
    **_TIMES,
    **_INITIALIZATION,
    **_THREAD,
}
