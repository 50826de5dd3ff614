"""From bytes to text: which encoding, and whether they are text at all."""

import codecs
import logging
import re

from poscope.errors import DataError

_log = logging.getLogger(__name__)

AUTO = "auto"
"""Encoding setting: what a byte order mark says, else UTF-8, else `FALLBACK`."""
FALLBACK = "cp1252"
"""Tried under `auto` on what is not UTF-8. It agrees with Latin-1 in all letters and has the quotes, dashes and the
ellipsis that old English text files hold at 0x80 to 0x9F, where Latin-1 has control characters (one of which, 0x85,
would even count as white space)."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def decode(data: bytes, encoding: str, place: str) -> tuple[str, str]:
    """Text of `data`, and the encoding that it turned out to be in.

    Args:
        data: a whole file.
        encoding: `auto`, or the name of one of Python's text encodings.
        place: names the file in messages.

    Raises:
        DataError: the bytes are not text in that encoding, or there is no such encoding.
    """
    text, found = (
        _decoded_by_itself(data, place)
        if encoding == AUTO
        else (_decoded(data, encoding, place), encoding)
    )
    control = _NOT_TEXT.search(text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        raise DataError(
            f"{place}, line {line}: the bytes are not text: they hold the control character "
            f"U+{ord(control[0]):04X}; is it a compressed or binary file, or is `encoding` wrong?"
        )
    return text, found


def _decoded_by_itself(data: bytes, place: str) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data, encoding, place), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        _log.warning(
            "%s is not UTF-8 (%s); it is read as %s: set `encoding` if that is wrong",
            place,
            _fault(data, error),
            FALLBACK,
        )
    return _decoded(data, FALLBACK, place, tried="neither UTF-8 nor "), FALLBACK


def _decoded(data: bytes, encoding: str, place: str, tried: str = "not ") -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place}: the bytes are not text: {tried}{encoding} ({_fault(data, error)}); "
            "set `encoding` to the one that the file is in"
        ) from error
    except (LookupError, ValueError) as error:
        raise DataError(
            f"{encoding!r} is no text encoding; there are utf-8, latin-1, cp1252, cp850, mac_roman and more"
        ) from error


def _fault(data: bytes, error: UnicodeDecodeError) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    return f"byte 0x{data[error.start]:02X} in line {line}"
