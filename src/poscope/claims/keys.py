"""By which keys a row of each table is found, and what a selector that does not say one means."""

LAST = "last"
"""Of steps and epochs: the last one that the table has for the row's other keys."""

_PROBES = ("absolute_position", "order", "distance", "similarity", "spectrum", "geometry")
_CELLS = (
    *("classification", "classification_by_length", "language_modeling"),
    *("translation", "translation_by_length"),
)
_INITIALIZATION = tuple(
    f"initialization_{family}" for family in ("latin_square", "network", "fmri")
)

RUN_TIMES = "run_times"
"""No table of the study: hours that its cells took, see `poscope.claims.run_times`."""

KEYS: dict[str, dict[str, str | None]] = {
    **{name: {"model": None} for name in _PROBES},
    **{name: {"task": None, "encoding": None, "bucket": "all"} for name in _CELLS},
    "pretraining": {"model": None, "step": LAST},
    "composition": {"analysis": None, "subject": None, "part": None},
    **{
        name: {
            **{"task": None, "encoding": None, "split": "heldout", "condition": "all"},
            **{"layer": "", "epoch": LAST},
        }
        for name in _INITIALIZATION
    },
    RUN_TIMES: {"experiment": None, "task": None},
}
"""By table: its keys with the value that is meant where a selector says nothing; None where it has to be said."""

SUBJECTS = ("model", "encoding", "subject")
"""The key whose values are compared with a reference; each table has one of them, if any."""

# What more repeats of a figure are. Where the jackknife gives the interval there are none: the table is one.
_REPEATS = dict.fromkeys(("absolute_position", "order", "distance"), "repeats of the probe")
_ONE_TABLE = ("similarity", "spectrum", "geometry", "composition")


def unit(table: str, analysis: str = "training") -> str | None:
    """What to run more of to narrow an interval of a table; None where there is nothing."""
    if table in _ONE_TABLE and not (table == "composition" and analysis == "training"):
        return None
    return _REPEATS.get(table, "seeds")
