"""The rows that an encoding's form gives, for 128 positions of a table whose numbers count."""

import json
import sys

import numpy as np

from poscope.tables.transforms import build_encoding
from tests.support.followed.config import config_with


def main(overlay: str, name: str, rows: str) -> None:
    """Print the encoding."""
    chosen = config_with(overlay).encodings[name]
    table = np.arange(2.0 * int(rows)).reshape(-1, 2).astype(np.float32)
    made = build_encoding(
        kind="table",
        table=table,
        positions=128,
        dim=2,
        standardised=False,
        sd=None,
        seed=0,
        form=chosen.form,
    )
    print(json.dumps(made.tolist()))


if __name__ == "__main__":
    main(*sys.argv[1:])
