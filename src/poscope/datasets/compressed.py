"""Files that may have been compressed."""

import gzip
import zlib

from poscope.datasets.text_files import file_bytes
from poscope.errors import DataError

_GZIP_MARK = b"\x1f\x8b"
"""No text begins so: the first of the two is a control character."""


def plain_bytes(place: str) -> bytes:
    """The content of a file, decompressed where gzip has compressed it, whatever its name.

    Raises:
        DataError: it cannot be read, or is compressed and damaged.
    """
    data = file_bytes(place)
    if not data.startswith(_GZIP_MARK):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{place}: damaged: gzip cannot decompress it ({error}); fetch it again"
        ) from error
