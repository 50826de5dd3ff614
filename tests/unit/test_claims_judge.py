"""What a verdict hangs on besides the figures: controls, rows that are missing, who plays which part."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from poscope.claims.catalogue import Claim, read_claims
from poscope.claims.controls import controls_by_grammar
from poscope.claims.judge import Judged, judge_claims
from poscope.claims.roles import Roles, study_roles
from poscope.claims.run_times import run_times
from poscope.claims.writing import counted, markdown, records, write_claims
from poscope.errors import DataError
from poscope.reporting.report import Control
from tests.support.claim_tables import Exact, Rows, Value, Versus, roles, tables

MAE = {"table": "absolute_position", "model": "bert", "metric": "mae"}
BOUND = {"kind": "bound", "row": MAE, "above": 10}
ACCURACY = "classification/+/*/accuracy"


def claim(*holds: dict[str, Any], **others: Any) -> Claim:
    """A claim of the thread that says what it is told to."""
    given = {"id": "it", "source": "thread", "section": "answer 1", "statement": "It is so."}
    return Claim.model_validate({**given, "holds": list(holds) or [BOUND], **others})


def judge(made: Claim, rows: Rows, **settings: Any) -> Judged:
    """Judge one claim."""
    controls = settings.pop("controls", {})
    played = settings.pop("roles", roles())
    found = judge_claims([made], tables(rows, **settings), roles=played, controls=controls)
    return found[0]


def written(folder: Path, *claims: dict[str, Any]) -> Path:
    """A catalogue as a file."""
    path = folder / "claims.yaml"
    path.write_text(yaml.safe_dump(list(claims)), encoding="utf-8")
    return path


def plain(**others: Any) -> dict[str, Any]:
    """A claim as the file has it."""
    given = {"id": "it", "source": "thread", "section": "a", "statement": "So.", "holds": [BOUND]}
    return {**given, **others}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (plain(sorce="thread"), ["it", "sorce"]),
        (plain(source="a rumour"), ["source"]),
        (plain(id="No Name"), ["id"]),
        (plain(holds=[]), ["holds"]),
        (plain(holds=[{**BOUND, "abov": 1}]), ["abov"]),
        (plain(holds=[{**BOUND, "kind": "guess"}]), ["guess"]),
        (plain(holds=[{**BOUND, "row": {**MAE, "encoding": "x"}}]), ["no key encoding"]),
        (plain(holds=[{**BOUND, "row": {"table": "order", "metric": "x"}}]), ["model is missing"]),
        (plain(holds=[{**BOUND, "row": {**MAE, "table": "orders"}}]), ["absolute_position"]),
        (plain(holds=[{"kind": "bound", "row": MAE}]), ["above, below, or both"]),
        (
            plain(holds=[{"kind": "equivalent", "first": MAE, "margin": 1, "reason": "r"}]),
            ["value"],
        ),
        (plain(needs_controls=["ordr"]), ["no control 'ordr'", "order"]),
    ],
)
def test_a_fault_of_the_catalogue_is_refused(
    tmp_path: Path, entry: dict[str, Any], words: list[str]
) -> None:
    """The message says which claim, and what is wrong with it."""
    with pytest.raises(DataError) as error:
        read_claims(written(tmp_path, entry))
    assert all(word in str(error.value) for word in words)


def test_two_claims_of_one_name_are_refused(tmp_path: Path) -> None:
    """Verdicts are found by it."""
    with pytest.raises(DataError, match="two claims are called it"):
        read_claims(written(tmp_path, plain(), plain(statement="Another.")))


def test_a_catalogue_that_is_none_is_refused(tmp_path: Path) -> None:
    """No file, no YAML, no list."""
    path = tmp_path / "claims.yaml"
    with pytest.raises(DataError, match="cannot read"):
        read_claims(path)
    for text, words in (("a: [", "no YAML"), ("a: 1", "list of claims")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=words):
            read_claims(path)


def test_what_is_missing_is_named() -> None:
    """A table, a row, a figure."""
    assert judge(claim(), {}).reason == "no table absolute_position"
    other = judge(claim(), {"absolute_position/gpt2/mae": 3.0})
    assert other.reason == "no row absolute_position: bert, mae"
    undefined = judge(claim(), {"absolute_position/bert/mae": float("nan")})
    assert undefined.reason == "no figure in the row absolute_position: bert, mae"
    assert {each.verdict for each in (other, undefined)} == {"not_run"}


def test_a_part_that_is_contradicted_outweighs_one_that_is_missing() -> None:
    """The claim says that both hold."""
    second = {**BOUND, "row": {**MAE, "model": "gpt2"}}
    for mean, verdict in ((50.0, "not_run"), (1.0, "contradicted")):
        rows = {"absolute_position/bert/mae": mean}
        assert judge(claim(BOUND, second), rows).verdict == verdict


def test_most_is_more_than_half_of_all_that_are_named() -> None:
    """Those that were not run count as long as they could change the verdict."""
    most = {**BOUND, "each": {"model": ["a", "b", "c", "d"]}, "need": "most"}
    most["row"] = {**MAE, "model": "$model"}
    for means, verdict in (
        ((50, 50, 50), "supported"),
        ((50, 50), "not_run"),
        ((50, 50, 1, 1), "contradicted"),
        ((1, 1), "contradicted"),
        ((50, 50, 50, 1), "supported"),
    ):
        names = zip("abcd", means, strict=False)
        rows: dict[str, Value] = {f"absolute_position/{x}/mae": float(y) for x, y in names}
        assert judge(claim(most), rows).verdict == verdict
        if len(rows) == 4:
            every = {**most, "need": "all"}
            assert judge(claim(every), rows).verdict == "contradicted"


def test_what_is_found_is_what_all_rows_of_a_predicate_have() -> None:
    """Values that are excepted, and those outside a role, are left out."""
    predicate: dict[str, Any] = {
        "kind": "difference",
        "first": {"table": "translation", "task": "t", "encoding": "zeros--$x", "metric": "bleu"},
        "second": {"table": "translation", "task": "t", "encoding": "$x--zeros", "metric": "bleu"},
        "direction": "less",
    }
    pairs = ("zeros--a", "a--zeros", "zeros--b", "c--zeros", "zeros--zeros", "zeros--d", "d--zeros")
    rows: dict[str, Value] = {f"translation/t/{name}/bleu": 1.0 for name in pairs}

    def labels(each: Any) -> list[str]:
        found = judge(claim({**predicate, "each": {"x": each}}), rows)
        return [finding.contrast.rows[0].split(", ")[1] for finding in found.findings]

    assert labels("found") == ["zeros--a", "zeros--zeros", "zeros--d"]
    assert labels({"except": ["zeros", "d"]}) == ["zeros--a"]
    some = Roles({"some": ["d", "b"]})
    found = judge(claim({**predicate, "each": {"x": {"among": "some"}}}), rows, roles=some)
    assert [each.contrast.rows[0].split(", ")[1] for each in found.findings] == ["zeros--d"]
    nothing = judge(claim({**predicate, "each": {"x": {"among": "nobody"}}}), rows)
    assert (nothing.verdict, "fits" in nothing.reason) == ("not_run", True)


@pytest.mark.parametrize("held", [True, False])
def test_no_verdict_rests_on_a_failed_control(held: bool) -> None:
    """It says which one failed; a claim that was not run stays that."""
    controls = {"order": [Control("order", held, "zeros at 0.9")]}
    made = claim(needs_controls=["order", "bag"])
    found = judge(made, {"absolute_position/bert/mae": 50.0}, controls=controls)
    assert found.verdict == ("supported" if held else "undecided")
    assert ("zeros at 0.9" in found.reason) is not held
    assert judge(made, {}, controls=controls).verdict == "not_run"


def test_a_claim_may_be_the_control_of_another() -> None:
    """Where it is contradicted, the other has no verdict."""
    control = claim({**BOUND, "row": {**MAE, "model": "random"}}, id="c", source="control")
    made = claim(needs_controls=["c"])
    for mean, verdict in ((90.0, "supported"), (2.0, "undecided")):
        rows = {"absolute_position/bert/mae": 50.0, "absolute_position/random/mae": mean}
        found = judge_claims([control, made], tables(rows), roles=roles(), controls={})
        assert found[1].verdict == verdict


def test_one_seed_has_no_interval_and_its_own_test_says_so() -> None:
    """Without a test of examples nothing is decided; with one the claim speaks of that seed."""
    difference = {
        "kind": "difference",
        "first": {"table": "classification", "task": "t", "encoding": "a", "metric": "accuracy"},
        "second": {"table": "classification", "task": "t", "encoding": "b", "metric": "accuracy"},
        "direction": "greater",
    }
    path = ACCURACY.replace("+", "t")
    bare: dict[str, Value] = {
        path.replace("*", "a"): Exact(0.9),
        path.replace("*", "b"): Exact(0.5),
    }
    found = judge(claim(difference), bare)
    assert found.verdict == "undecided"
    assert found.needs == ("n = 1 has no interval: run at least one more of the seeds",)
    frames = tables(bare | {path.replace("*", "a"): Versus(0.4, "b", mean=0.9)})
    frames["classification"]["n"] = 1
    one = judge_claims([claim(difference)], frames, roles=roles(), controls={})[0]
    assert one.verdict == "supported"
    assert one.notes == ("it speaks of one seed alone",)


def test_of_many_needs_the_greatest_is_named() -> None:
    """A claim of many comparisons asks for as many seeds as the closest of them."""
    every = {**BOUND, "each": {"model": ["a", "b"]}, "row": {**MAE, "model": "$model"}}
    rows: dict[str, Value] = {"absolute_position/a/mae": 10.5, "absolute_position/b/mae": 12.0}
    found = judge(claim(every), rows, width=0.3)
    more = [finding.more or 0 for finding in found.findings]
    assert more[0] > more[1] > 0
    assert found.needs == (found.findings[0].needs,)
    assert f"about {more[0]} more repeats of the probe ({more[0] + 5} in all)" in found.needs[0]


def test_a_table_with_two_rows_of_one_name_is_refused() -> None:
    """Nobody could say which of them counts."""
    frame = tables({"absolute_position/bert/mae": 50.0})["absolute_position"]
    twice = {"absolute_position": pd.concat([frame, frame])}
    with pytest.raises(DataError, match="two rows bert, mae"):
        judge_claims([claim()], twice, roles=roles(), controls={})
    without = {"absolute_position": frame.drop(columns="model")}
    with pytest.raises(DataError, match="lacks the columns model"):
        judge_claims([claim()], without, roles=roles(), controls={})


def test_the_last_step_counts() -> None:
    """By number and not by letter: 1000 comes after 300."""
    row = {"table": "pretraining", "model": "mlm", "metric": "mae"}
    made = claim({"kind": "bound", "row": row, "below": 10})
    rows = {f"pretraining/mlm/{step}/mae": mean for step, mean in ((300, 50.0), (1000, 5.0))}
    assert judge(made, rows).verdict == "supported"
    frame = tables(rows)["pretraining"]
    assert frame["step"].dtype == "int64"


def test_small_is_the_reference_if_that_is_small() -> None:
    """Tests are against it; without a reference the smallest σ there is, and never one that is fixed or large."""
    row = {
        "table": "initialization_network",
        "task": "t",
        "encoding": "@small_sigma",
        "metric": "r2",
    }
    made = claim({"kind": "bound", "row": row, "above": 0.1})
    path = "initialization_network/t/*/r2"
    both: dict[str, Value] = {path.replace("*", f"learned_0_{n}"): 0.5 for n in (1, 2)}
    large: dict[str, Value] = {path.replace("*", "learned_2_0"): Versus(-0.1, "learned_0_2")}
    for rows, name in ((both, "learned_0_1"), (both | large, "learned_0_2")):
        assert name in judge(made, rows).findings[0].contrast.label
    assert judge(made, large).verdict == "not_run"
    assert "small sigma" in judge(made, large).reason


def test_parts_that_a_study_hands_out() -> None:
    """By σ, by form, by objective, by what differs in pretraining."""
    found = roles()
    assert found.members["sigmas"] == ["learned_0_1", "learned_0_2", "learned_1_0", "learned_2_0"]
    assert found.members["large_sigma"] == ["learned_2_0", "learned_1_0"]
    assert found.numbers["learned_0_2"] == 0.2
    assert found.members["skipped"] == ["lm_bert_skip", "lm_gpt2_skip"]
    assert found.members["masked_tasks"] == ["wikitext2_mlm"]
    assert found.members["masked"] == ["mlm"]
    assert found.members["autoregressive"] == ["clm"]
    assert found.members["masked_smaller_batch"] == ["mlm_32"]
    assert found.members["masked_two_lengths"] == ["mlm_two"]
    nobody = study_roles(encodings={}, tasks={}, models={})
    assert not any(nobody.members.values())


def test_controls_are_judged_where_their_table_is() -> None:
    """By grammar, whatever the tasks are called."""
    path = ACCURACY.replace("+", "my_order")
    rows = {path.replace("*", "zeros"): 0.5, path.replace("*", "random"): 0.6}
    found = controls_by_grammar(
        tables(rows),
        grammars={"my_order": "order", "mirror": "reordering"},
        without_positions=["zeros"],
        labels={},
    )
    assert list(found) == ["order"]
    assert not found["order"][0].held


def _cell(folder: Path, task: str, seed: int, device: str, hours: float) -> Path:
    path = folder / "language_modeling" / task / "lm_bert" / "all" / f"seed{seed}" / "metrics.json"
    path.parent.mkdir(parents=True)
    content = {
        "status": "finished",
        "scores": {"n": {}},
        "device": device,
        "seconds": hours * 3600,
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_times_count_on_the_card_that_the_source_names(tmp_path: Path) -> None:
    """Others are left out, and where none is left there is no table."""
    card = "NVIDIA GeForce RTX 2080 Ti"
    paths = [_cell(tmp_path, "a", seed, card, hours) for seed, hours in enumerate((8.0, 10.0))]
    paths.append(_cell(tmp_path, "a", 2, "NVIDIA H200", 1.0))
    paths.append(_cell(tmp_path, "b", 0, "CPU", 30.0))
    frame = run_times(paths)["run_times"]
    assert frame[["task", "metric", "mean", "n"]].to_numpy().tolist() == [
        ["a", "hours", 9.0, 2],
        ["a", "hours_longest", 10.0, 2],
    ]
    assert run_times(paths[2:]) == {}


def test_files_hold_every_claim(tmp_path: Path) -> None:
    """Controls last; JSON that others can read; the page says what decides."""
    wide = judge(claim(id="wide"), {"absolute_position/bert/mae": 12.0}, width=1.0)
    sure = judge(claim(id="sure"), {"absolute_position/bert/mae": 50.0})
    control = judge(claim(id="c", source="control"), {"absolute_position/bert/mae": 5.0})
    absent = judge(claim(id="absent", statement="A | B."), {})
    found = [control, wide, sure, absent]
    write_claims(found, json=tmp_path / "claims.json", md=tmp_path / "claims.md")
    text = (tmp_path / "claims.json").read_text(encoding="utf-8")
    read = json.loads(text)
    assert text.endswith("]\n")
    assert [each["id"] for each in read] == ["wide", "sure", "absent", "c"]
    assert [each["verdict"] for each in read] == [
        *("undecided", "supported", "not_run", "contradicted")
    ]
    evidence = read[1]["evidence"][0]
    assert (evidence["effect"], evidence["claimed"], evidence["n"]) == (50.0, "above 10", 5)
    assert evidence["rows"] == ["absolute_position: bert, mae"]
    page = (tmp_path / "claims.md").read_text(encoding="utf-8")
    assert page == markdown(records(found))
    assert "4 claims: 1 supported, 1 contradicted, 1 undecided, 1 not run." in page
    assert "50 (95 %: 50 to 50)" in page
    assert "A \\| B." in page
    assert "more repeats of the probe" in page
    assert counted([]) == "0 claims: 0 supported, 0 contradicted, 0 undecided, 0 not run."
