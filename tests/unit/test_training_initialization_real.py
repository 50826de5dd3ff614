"""What the second paper's finding is made of, on the published puzzles and at a small budget."""

import pytest

from tests.support.initialization_tasks import encoding, train
from tests.support.mirrored import mirrored

BASE = (
    "https://raw.githubusercontent.com/ljhearne/LSTNN_public/d139c51b0a6d4346fe71a466afd49d25a40e5a29/"
    "processed_data/"
)
FILES = {
    "binary": (
        "generated_puzzle_data_binary_dist80.csv",
        "f0a13f99a21c702f6361696ed7ed1aed2c43b7345ef4b11101106dd0e9e89b9b",
    ),
    "ternary": (
        "generated_puzzle_data_ternary_dist80.csv",
        "247ffbb4b9b651d91f00be38cf1a0722737ffa4e28f3f24d37f067aa2492162f",
    ),
    "quaternary": (
        "generated_puzzle_data_quaternary_dist80.csv",
        "ade3345154b2702777e7a8e539aa60d3afc17f15cfa9d09c6534e43bfc9d0e67",
    ),
    "human": (
        "puzzle_data_original.csv",
        "263903791acc0b9a2c927bc88647b5c0df83b683b1567d1105c44fcb11b54e05",
    ),
}
# Smaller than the paper's, and faster to learn: a minute for each spread.
NETWORK = {"dim": 64, "layers": 3, "heads": 1, "feed_forward": 256}
TRAINING = {"epochs": 14, "batch_size": 128, "learning_rate": 1e-3, "evaluation_epochs": 7}


@pytest.mark.slow
@pytest.mark.real
def test_a_small_start_learns_the_puzzles_when_a_large_one_has_not(tmp_path):
    from poscope.datasets.latin_square_build import build_latin_squares

    build_latin_squares(
        source={"kind": "puzzle_files", "scored": ["human"], "side": 4, "heldout": 1000},
        files={name: str(mirrored(BASE + file, digest)) for name, (file, digest) in FILES.items()},
        output_folder=tmp_path / "puzzles",
        seed=0,
    )
    found = {}
    for sd in (0.2, 2.0):
        done = train(
            tmp_path / "puzzles",
            tmp_path / str(sd),
            encoding=encoding(sd=sd),
            seeds=[0],
            settings=NETWORK | TRAINING,
        )
        accuracy = done.metrics["by_seed"]["0"]["accuracy"]
        found[sd] = accuracy["heldout"]["all"], accuracy["human"]["all"]
    assert min(found[0.2]) > 0.7
    assert max(found[2.0]) < 0.5
