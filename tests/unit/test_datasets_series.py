"""From series of several people to a task: folds, regions, structure, and everything that does not fit."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

from poscope.datasets.layout import Layout, read_layout
from poscope.datasets.series_build import build_series
from poscope.datasets.series_examples import folds_of_runs
from poscope.errors import DataError, SourceError

REGIONS, SAMPLES = 6, 20
PEOPLE = ("ann", "ben", "cem")
PATTERN = "brains/people/*/"


def drawn(seed: int = 0) -> dict[str, np.ndarray]:
    """Series of three people, (regions, samples), with means and scales of their own."""
    generator = np.random.default_rng(seed)
    return {
        person: generator.normal(1000 * (number + 1), 5 + number, (REGIONS, SAMPLES))
        for number, person in enumerate(PEOPLE)
    }


def saved(folder: Path, **arrays: np.ndarray) -> dict[str, str]:
    """Paths of NPY files by name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    return {name: str(folder / f"{name}.npy") for name in arrays}


def build(
    folder: Path,
    series: dict[str, np.ndarray] | None = None,
    structure: dict[str, np.ndarray] | None = None,
    texts: dict[str, str] | None = None,
    seed: int = 0,
    **settings: Any,
) -> Path:
    """A task of NPY files."""
    files: dict[str, Any] = saved(folder / "in", **(structure or {}))
    for role, text in (texts or {}).items():
        (folder / "in" / f"{role}.csv").write_text(text, encoding="utf-8")
        files[role] = str(folder / "in" / f"{role}.csv")
    files["series"] = list(saved(folder / "in", **(drawn() if series is None else series)).values())
    source = {"kind": "series_files", "folds": 3, **settings}
    build_series(source=source, files=files, wheel=None, output_folder=folder / "out", seed=seed)
    return folder / "out"


def examples(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, runs and folds."""
    table = pq.read_table(folder / "examples.parquet")
    values = np.array(table.column("values").to_pylist())
    return values, table.column("run").to_numpy(), table.column("fold").to_numpy()


def counts(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "counts.json").read_bytes())


def standardised(values: np.ndarray) -> np.ndarray:
    """Of (regions, samples), as (samples, regions)."""
    return ((values - values.mean(1, keepdims=True)) / values.std(1, keepdims=True)).T


def fibres(seed: int = 0) -> np.ndarray:
    """Symmetric lengths of a ring of regions with some chords."""
    generator = np.random.default_rng(seed)
    lengths = np.zeros((REGIONS, REGIONS))
    for region in range(REGIONS):
        lengths[region, (region + 1) % REGIONS] = generator.uniform(10, 30)
    lengths[0, 3] = 25.0
    return lengths + lengths.T


def test_examples_are_time_points_standardised_by_person_and_region(tmp_path: Path) -> None:
    folder = build(tmp_path)
    values, runs, folds = examples(folder)
    for person, series in drawn().items():
        assert values[runs == person] == pytest.approx(standardised(series), abs=1e-5)
        assert len(set(folds[runs == person])) == 1
    assert np.bincount(folds).tolist() == [SAMPLES] * 3
    said = json.loads((folder / "task.json").read_bytes())
    assert said == {
        "family": "fmri",
        "tokens": 6,
        "token_names": [f"region_{number}" for number in range(1, 7)],
        "folds": 3,
        "step": "same",
        "splits": {"fold0": 20, "fold1": 20, "fold2": 20},
        "conditions": [],
    }


def test_every_so_many_time_points_and_the_next_as_target(tmp_path: Path) -> None:
    folder = build(tmp_path, every=3, step="next")
    table = pq.read_table(folder / "examples.parquet")
    values, runs, _ = examples(folder)
    targets = np.array(table.column("targets").to_pylist())
    expected = standardised(drawn()["ben"][:, ::3])
    assert len(expected) == 7
    assert values[runs == "ben"] == pytest.approx(expected[:-1], abs=1e-5)
    assert targets[runs == "ben"] == pytest.approx(expected[1:], abs=1e-5)
    found = counts(folder)
    assert found["read"] == 60
    assert found["dropped"]["between kept time points"] == 60 - 21
    assert found["read"] - sum(found["dropped"].values()) == found["kept"] == len(table) == 18


def test_folds_of_people_are_drawn_and_even() -> None:
    folds = folds_of_runs(11, 4, seed=0)
    assert sorted(np.bincount(folds).tolist()) == [2, 3, 3, 3]
    assert np.array_equal(folds, folds_of_runs(11, 4, seed=0))
    assert any(not np.array_equal(folds, folds_of_runs(11, 4, seed=seed)) for seed in (1, 2))


def test_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    structure = {"fibre_lengths": fibres(), "fibre_counts": 100 / (fibres() + 1)}
    one, two = (
        build(tmp_path / name, structure=structure, homologues="alternating") for name in "ab"
    )
    assert len(list(one.iterdir())) == 5
    for file in one.iterdir():
        assert file.read_bytes() == (two / file.name).read_bytes()


def test_transposed_files_hold_the_same(tmp_path: Path) -> None:
    turned = {person: values.T for person, values in drawn().items()}
    folder, plain = build(tmp_path / "t", turned, transposed=True), build(tmp_path / "p")
    assert np.array_equal(examples(folder)[0], examples(plain)[0])


def test_fewer_samples_than_regions_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build(tmp_path, {person: values.T for person, values in drawn().items()})
    assert "ann: 6 time points of 20 regions" in caplog.text
    assert "set transposed: true" in caplog.text


def test_functional_connectivity_is_the_correlation_of_all_people(tmp_path: Path) -> None:
    layout = read_layout(build(tmp_path))
    expected = np.mean([np.corrcoef(values) for values in drawn().values()], axis=0)
    np.fill_diagonal(expected, 0.0)
    found = layout.relations["functional_connectivity"]
    assert found == pytest.approx(expected, abs=1e-5)
    assert found.dtype == np.float32
    assert np.array_equal(found, found.T)
    assert layout.how_known("functional_connectivity") == "estimate"
    assert layout.coordinates is None
    assert layout.coordinates_from == ""
    assert set(layout.relations) == {"functional_connectivity"}
    assert not layout.distances
    assert not layout.memberships


def layout_of(folder: Path, **settings: Any) -> Layout:
    return read_layout(build(folder, **settings))


def test_lengths_give_distance_relation_and_places(tmp_path: Path) -> None:
    folder = build(tmp_path, structure={"fibre_lengths": fibres()})
    layout = read_layout(folder)
    distance, lengths = layout.distances["fibre_lengths"], fibres()
    assert distance[lengths > 0] == pytest.approx(lengths[lengths > 0])
    over = min(lengths[0, 1] + lengths[1, 2], lengths[0, 3] + lengths[3, 2])
    assert distance[0, 2] == pytest.approx(over)
    off = ~np.eye(REGIONS, dtype=bool)
    assert layout.relations["fibre_lengths"][off] == pytest.approx(1 / distance[off])
    assert layout.coordinates is not None
    assert layout.coordinates.shape == (REGIONS, 3)
    assert layout.coordinates_from == "classical scaling of fibre lengths"
    assert layout.how_known("coordinates") == "derived"
    assert layout.how_known("fibre_lengths") == "structure"
    said = counts(folder)["structure"]
    assert said["fibre_lengths"] == {"files": 1, "pairs_without_fibre": 15 - 7}
    assert 0.5 < said["classical_scaling"]["kept_share_of_positive_eigenvalues"] <= 1


def test_given_places_go_before_scaled_ones(tmp_path: Path) -> None:
    places = np.random.default_rng(4).normal(size=(REGIONS, 3))
    both = layout_of(tmp_path / "1", structure={"coordinates": places, "fibre_lengths": fibres()})
    assert both.coordinates == pytest.approx(places, abs=1e-6)
    assert both.coordinates_from == "coordinates that were given"
    assert set(both.distances) == {"fibre_lengths"}
    alone = layout_of(tmp_path / "2", structure={"coordinates": places})
    assert alone.distances["euclidean"][1, 4] == pytest.approx(
        np.linalg.norm(places[1] - places[4])
    )


def test_homologues_alternate_or_come_from_a_file(tmp_path: Path) -> None:
    alternating = layout_of(tmp_path / "1", homologues="alternating")
    expected = np.zeros((REGIONS, REGIONS))
    for left, right in ((0, 1), (2, 3), (4, 5)):
        expected[left, right] = expected[right, left] = 1
    assert np.array_equal(alternating.relations["homologues"], expected)
    assert alternating.memberships["hemispheres"].tolist() == [0, 1, 0, 1, 0, 1]
    assert alternating.memberships["hemispheres"].dtype == np.int64
    named = layout_of(
        tmp_path / "2",
        texts={"names": "a\nb\nc\nd\ne\nf\n", "homologues": "left,right\nd,a\ne,2\n"},
    )
    assert {tuple(pair) for pair in np.argwhere(named.relations["homologues"]).tolist()} == {
        (0, 3), (3, 0), (1, 4), (4, 1),
    }  # fmt: skip
    assert "hemispheres" not in named.memberships


def test_bad_regions_are_named_or_left_out_everywhere(tmp_path: Path) -> None:
    series = drawn()
    series["ann"][1] = 7.5
    series["cem"][4, 3] = np.nan
    series["ben"][4, 0] = np.inf
    words = (
        r"2 of 6 regions cannot be learned from: region_2 \(constant for ann\), "
        r"region_5 \(infinite for ben, NaN for cem\); .*drop_bad_regions: true"
    )
    with pytest.raises(DataError, match=words):
        build(tmp_path / "kept", series)
    lengths = fibres()
    lengths[0, 2] = lengths[2, 0] = lengths[3, 5] = lengths[5, 3] = 12.0
    folder = build(
        tmp_path / "dropped",
        series,
        {"fibre_lengths": lengths, "coordinates": np.arange(18.0).reshape(6, 3)},
        drop_bad_regions=True,
        homologues="alternating",
    )
    kept = [0, 2, 3, 5]
    values, runs, _ = examples(folder)
    assert values[runs == "ben"] == pytest.approx(standardised(series["ben"][kept]), abs=1e-5)
    layout = read_layout(folder)
    assert layout.coordinates == pytest.approx(np.arange(18.0).reshape(6, 3)[kept])
    assert layout.distances["fibre_lengths"][0, 1] == 12.0
    assert layout.relations["functional_connectivity"].shape == (4, 4)
    assert layout.memberships["hemispheres"].tolist() == [0, 0, 1, 1]
    assert np.argwhere(layout.relations["homologues"]).tolist() == [[1, 2], [2, 1]]
    found = counts(folder)
    assert found["regions"] == {"read": 6, "kept": 4}
    assert found["regions_dropped"]["region_2"] == "constant for ann"
    said = json.loads((folder / "task.json").read_bytes())
    assert said["token_names"] == ["region_1", "region_3", "region_4", "region_6"]


def test_constant_up_to_rounding_is_constant(tmp_path: Path) -> None:
    series = drawn()
    series["ben"][2] = 0.1 + 1e-15 * np.arange(SAMPLES)
    with pytest.raises(DataError, match=r"region_3 \(constant for ben\)"):
        build(tmp_path, series)


def test_regions_that_stand_still_between_kept_time_points_are_constant(tmp_path: Path) -> None:
    series = drawn()
    series["ann"][0, ::2] = 3.0
    build(tmp_path / "1", series)
    with pytest.raises(DataError, match=r"region_1 \(constant for ann\)"):
        build(tmp_path / "2", series, every=2)


def test_a_person_given_twice_is_counted_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    series = drawn()
    found = counts(build(tmp_path, series | {"cem": series["ann"]}))
    assert found["duplicates_across"] == {"people": 1}
    assert found["notes"] == ["cem has the series of ann"]
    assert "cem has the series of ann" in caplog.text


def changed(person: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return drawn() | {person: values}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"series": changed("cem", np.ones((5, SAMPLES)))},
            r"cem has 5 regions and ann has 6 \(.*cem.npy; .*ann.npy\)",
        ),
        ({"folds": 4}, "there are 3 people and 4 folds.*lower folds, to 3"),
        ({"folds": 1}, "folds is 1; one fold is held out"),
        ({"series": {"ann": drawn()["ann"]}}, "there are 1 people.*give more people"),
        ({"series": {}}, "there are no series"),
        ({"every": 20}, "ann: 1 time point is left of 20"),
        ({"series": changed("ann", np.ones((2, 3, 4)))}, r"ann.npy: its shape is \(2, 3, 4\)"),
        ({"structure": {"fibre_counts": np.ones((5, 5))}}, "fibre_counts.npy: it is 5 × 5.*6 × 6"),
        ({"structure": {"fibre_lengths": np.ones((6, 5))}}, "fibre_lengths.npy: it is 6 × 5"),
        ({"structure": {"coordinates": np.ones((5, 3))}}, "coordinates.npy: it is 5 × 3.*6 × 3"),
        ({"structure": {"coordinates": np.ones((6, 2))}}, "coordinates.npy: it is 6 × 2"),
        (
            {"structure": {"coordinates": np.full((6, 3), np.nan)}},
            "18 values are not finite numbers; the first stands in the row of region_1",
        ),
        (
            {"structure": {"fibre_counts": -np.ones((6, 6))}},
            "30 values are not finite numbers from 0 on",
        ),
        (
            {"structure": {"fibre_lengths": np.eye(6)}},
            "no fibres lead from region_1 to region_2, region_3",
        ),
        ({"texts": {"names": "a\nb\n"}}, "names.csv: 2 names, and the series have 6 regions"),
        ({"texts": {"names": "a\nb\nc\nd\ne\nb\n"}}, "two regions are called 'b'"),
        ({"texts": {"names": "a\n\nc\nd\ne\nf\n"}}, "region 2 has no name"),
        ({"texts": {"homologues": "1,7\n"}}, "line 1: there is no region '7'"),
        ({"texts": {"homologues": "1,2,3\n"}}, "line 1: 3 fields; a pair is left, right"),
        ({"texts": {"homologues": "1,2\n3,1\n"}}, "line 2: 'region_1' has a homologue already"),
        ({"texts": {"homologues": "2,2\n"}}, "line 1: 'region_2' has a homologue already"),
        ({"homologues": "mirrored"}, "homologues is 'mirrored'; without a file"),
        (
            {
                "series": {person: values[:5] for person, values in drawn().items()},
                "homologues": "alternating",
            },
            "the number of regions is odd: 5",
        ),
        (
            {
                "series": {person: np.ones((3, 9)) for person in PEOPLE},
                "drop_bad_regions": True,
            },
            "0 of 3 regions are left",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        build(tmp_path, **asked)
    assert not (tmp_path / "out").exists()


def labelled(folder: Path, orders: dict[str, str]) -> dict[str, list[str]]:
    """CSV files with a region's name before its series."""
    folder.mkdir()
    paths = []
    for person, order in orders.items():
        rows = zip(order, drawn()[person].tolist(), strict=True)
        path = folder / f"{person}.csv"
        path.write_text("\n".join(",".join([name, *map(repr, row)]) for name, row in rows))
        paths.append(str(path))
    return {"series": paths}


def test_names_come_from_the_series_and_must_agree(tmp_path: Path) -> None:
    files: dict[str, Any] = labelled(tmp_path / "1", dict.fromkeys(PEOPLE, "UVWXYZ"))
    (tmp_path / "counts.csv").write_text("\n".join(f"{name},0,1,2,3,4,5" for name in "VUWXYZ"))
    told = {"wheel": None, "output_folder": tmp_path / "out", "seed": 0}
    build_series(source={"folds": 3}, files=files, **told)
    said = json.loads((tmp_path / "out" / "task.json").read_bytes())
    assert said["token_names"] == list("UVWXYZ")
    swapped = labelled(tmp_path / "2", dict.fromkeys(PEOPLE, "UVWXYZ") | {"cem": "UWVXYZ"})
    with pytest.raises(DataError, match=r"region 2 is 'W' for cem and 'V' for ann"):
        build_series(source={"folds": 3}, files=swapped, **told)
    files["fibre_counts"] = str(tmp_path / "counts.csv")
    with pytest.raises(DataError, match=r"counts.csv: region 1 is 'V', and 'U' in the series"):
        build_series(source={"folds": 3}, files=files, **told)


def test_a_file_named_twice_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, ann=drawn()["ann"])["ann"]
    with pytest.raises(DataError, match=r"series names a file twice: .*ann.npy"):
        build_series(
            source={"folds": 2},
            files={"series": [path, path]},
            wheel=None,
            output_folder=tmp_path / "out",
            seed=0,
        )


def make_wheel(path: Path) -> Path:
    """A wheel with a folder for each person: series, and one-sided fibre counts and lengths."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("brains-1.0.dist-info/METADATA", "Name: brains\nVersion: 1.0\n")
        for number, (person, values) in enumerate(drawn().items()):
            members = {
                "functional/rest.mat": {"tc": values, "mask": np.ones((2, 2))},
                "structural/counts.mat": {"sc": np.triu(np.full((6, 6), 4.0 * number), 1)},
                "structural/lengths.mat": {"len": np.triu(fibres(number))},
            }
            for name, arrays in members.items():
                stream = io.BytesIO()
                savemat(stream, arrays)
                archive.writestr(f"brains/people/{person}/{name}", stream.getvalue())
    return path


def of_wheel(folder: Path, **settings: Any) -> Path:
    source = {
        "kind": "series_wheel",
        "series": f"{PATTERN}functional/*.mat",
        "key": "tc",
        "fibre_counts": f"{PATTERN}structural/counts.mat",
        "fibre_lengths": f"{PATTERN}structural/lengths.mat",
        "homologues": "alternating",
        "folds": 3,
    }
    wheel = make_wheel(folder / "brains-1.0-py3-none-any.whl")
    build_series(
        source={**source, **settings}, files={}, wheel=wheel, output_folder=folder / "out", seed=0
    )
    return folder / "out"


def test_series_of_a_wheel_with_structure_averaged_over_people(tmp_path: Path) -> None:
    folder = of_wheel(tmp_path)
    values, runs, _ = examples(folder)
    assert sorted(set(runs)) == list(PEOPLE)
    assert values[runs == "cem"] == pytest.approx(standardised(drawn()["cem"]), abs=1e-5)
    layout = read_layout(folder)
    # Counts 0, 4 and 8 in one direction and none in the other.
    assert np.unique(layout.relations["fibre_counts"]).tolist() == [0.0, 2.0]
    mean = np.mean([fibres(number) for number in range(3)], axis=0)
    assert layout.distances["fibre_lengths"][mean > 0] == pytest.approx(mean[mean > 0])
    assert layout.memberships["hemispheres"].tolist() == [0, 1, 0, 1, 0, 1]
    assert counts(folder)["structure"]["fibre_counts"] == {"files": 3}


def test_a_wheel_without_such_files_or_keys_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"brains.* has no file 'brains/people/\*/rest.mat'"):
        of_wheel(tmp_path, series=f"{PATTERN}rest.mat")
    with pytest.raises(DataError, match=r"rest.mat: it has no 'bold'; there are mask, tc"):
        of_wheel(tmp_path, key="bold")
    with pytest.raises(DataError, match=r"rest.mat: say with key which is wanted"):
        of_wheel(tmp_path, key=None)
    with pytest.raises(DataError, match=r"counts.mat: it has no 'cm'; there are sc"):
        of_wheel(tmp_path, fibre_counts_key="cm")
    with pytest.raises(DataError, match=r"coordinates: 3 files where one belongs: .*ann"):
        of_wheel(tmp_path, coordinates=f"{PATTERN}structural/lengths.mat")
