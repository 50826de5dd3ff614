"""How metrics are called in tables, in which unit, and which way is better."""

from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class MetricLabel:
    """A metric as a reader meets it.

    Attributes:
        title: short enough for the head of a column.
        unit: of the figure; empty where it has none.
        digits: decimals to show at most; where there is an interval, its width may warrant fewer.
        better: the direction in which a figure is good news; None where neither is.
        scale: what a figure is multiplied by to be shown in its unit.
    """

    title: str
    unit: str = ""
    digits: int = 3
    better: Better | None = None
    scale: float = 1.0

    @property
    def arrow(self) -> str:
        """Which way is better, as an arrow; empty where neither is."""
        return {"lower": "↓", "higher": "↑", None: ""}[self.better]

    @property
    def heading(self) -> str:
        """Title and arrow, for the head of a column."""
        return f"{self.title} {self.arrow}".rstrip()


def _error(title: str, better: Better | None = "lower") -> MetricLabel:
    return MetricLabel(title, "positions", 2, better)


def _count(title: str, unit: str = "") -> MetricLabel:
    return MetricLabel(title, unit, 0)


def _percent(title: str) -> MetricLabel:
    return MetricLabel(title, "%", 1, scale=100.0)


def _rounding(title: str) -> MetricLabel:
    return MetricLabel(title, "millionths", 2, scale=1e6)


# Of a query and of a key: the four terms of attention logits, and the rest.
TERM_TITLES = {
    "ww": "word–word",
    "wp": "word–position",
    "pw": "position–word",
    "pp": "position–position",
    "constant": "constant",
}


# Errors on training rows, and the error of a guess, are there to be compared with: neither way is better.
_LABELS = {
    "accuracy": MetricLabel("Accuracy", "%", 1, "higher", scale=100.0),
    "perplexity": MetricLabel("Perplexity", "", 2, "lower"),
    "skip_ratio": MetricLabel("Ratio to normal"),
    "loss": MetricLabel("Loss", "nats", 3, "lower"),
    "bleu": MetricLabel("BLEU", "points", 1, "higher"),
    "chrf": MetricLabel("chrF", "points", 1, "higher"),
    "mae": _error("MAE"),
    "mae_train": _error("MAE (train)", None),
    "mae_svr": _error("MAE, SVR"),
    "mae_svr_train": _error("MAE, SVR (train)", None),
    "mae_mlp": _error("MAE, MLP"),
    "mae_mlp_train": _error("MAE, MLP (train)", None),
    "mae_signed": _error("MAE, signed"),
    "mae_additive": _error("MAE, additive", None),
    "mae_chance": _error("MAE, chance", None),
    "r2": MetricLabel("R²", better="higher"),
    "error_rate": MetricLabel("Error rate", better="lower"),
    "error_rate_train": MetricLabel("Error rate (train)"),
    "error_rate_as_published": MetricLabel("Error rate, as published", better="lower"),
    "breaks": _count("Breaks"),
    "break_position": _count("Strongest break", "positions"),
    "break_strength": MetricLabel("Break strength", digits=2),
    "periodicity": MetricLabel("Periodicity"),
    "period": MetricLabel("Period", "positions", 1),
    # "Half-width" alone would be taken for that of the interval.
    "half_width": MetricLabel("Half-decay offset", "positions", 1),
    "components_50": _count("50 %", "components"),
    "components_90": _count("90 %", "components"),
    "components_99": _count("99 %", "components"),
    "effective_rank": MetricLabel("Effective rank", "components", 1),
    "translation_invariance": MetricLabel("Translation invariance"),
    "monotonicity": MetricLabel("Monotonicity"),
    "symmetry": MetricLabel("Symmetry"),
    "parameters": MetricLabel("Parameters", "thousands", 1, scale=1e-3),
    "tied_difference": _rounding("Sum, and tied maps"),
    "split_difference": _rounding("Concatenation, and sum apart"),
    "moving_coordinates": _count("Moving coordinates"),
    "moving_share": _percent("Moving share"),
    "word_variance_in_moving": _percent("Words' variance there"),
    "word_variance_expected": _percent("Expected"),
    "variance_correlation": MetricLabel("Correlation of variances", digits=2),
    "word_dimensions": _count("Dimensions, words"),
    "position_dimensions": _count("Dimensions, positions"),
    "overlap_expected": MetricLabel("Expected at random"),
    "smallest_angle": MetricLabel("Smallest angle", "degrees", 1),
    "cosine_mean": MetricLabel("Mean"),
    "cosine_sd": MetricLabel("sd"),
    "cosine_low": MetricLabel("2.5th percentile"),
    "cosine_high": MetricLabel("97.5th percentile"),
    "cosine_sd_random": MetricLabel("sd, rotated"),
    **{f"variance_share_{term}": _percent(title) for term, title in TERM_TITLES.items()},
    **{f"removal_{term}": MetricLabel(f"without {title}") for term, title in TERM_TITLES.items()},
    "mse": MetricLabel("MSE", better="lower"),
    "cka": MetricLabel("CKA", better="higher"),
    "procrustes": MetricLabel("Procrustes distance", better="lower"),
    "rsa": MetricLabel("Rank correlation of distances", better="higher"),
    "moved": MetricLabel("Moved"),
    "turned": MetricLabel("Turned"),
    "norm": MetricLabel("Root mean square"),
}

# Figures that there may be several of: what they are of comes after these words in their names.
_SERIES = {
    "silhouette": "Silhouette",
    "adjusted_rand": "Adjusted Rand index",
    "modularity": "Modularity",
    "attention": "Attention",
}

# What is asked for by a correlation with it, and is no truth.
_ESTIMATES = ("functional_connectivity",)


def describe(metric: str) -> MetricLabel:
    """The label of a metric; one that is not known here is called by its name."""
    return _LABELS.get(metric) or _in_series(metric) or MetricLabel(_plain(metric).capitalize())


def _in_series(metric: str) -> MetricLabel | None:
    """The label of a figure that is of some membership or relation, such as `silhouette_rows`."""
    for beginning, title in _SERIES.items():
        if metric.startswith(f"{beginning}_"):
            of = metric.removeprefix(f"{beginning}_")
            estimate = " (estimate)" if of in _ESTIMATES else ""
            # Attention owes nothing to a relation: it may be useful and yet look elsewhere.
            better: Better | None = None if beginning == "attention" else "higher"
            return MetricLabel(f"{title}, {_plain(of)}{estimate}", better=better)
    return None


def _plain(name: str) -> str:
    return name.replace("_", " ").strip()
