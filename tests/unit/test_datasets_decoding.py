"""Bytes become text in the encoding that they are in, or a clear error."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.decoding import decode
from poscope.errors import DataError


def test_utf8_is_recognised():
    assert decode("1 amélie\n".encode(), "auto", "x") == ("1 amélie\n", "utf-8")


def test_what_is_not_utf8_is_read_as_cp1252_and_said(caplog):
    # 0x85 is an ellipsis there; in Latin-1 it would be a control character that counts as white space.
    with caplog.at_level(logging.WARNING):
        text, encoding = decode(b"0 plain\n1 clich\xe9s\x85the\n", "auto", "reviews.txt")
    assert (text, encoding) == ("0 plain\n1 clichés…the\n", "cp1252")
    assert text.split() == ["0", "plain", "1", "clichés…the"]
    assert "reviews.txt is not UTF-8 (byte 0xE9 in line 2)" in caplog.text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_obeyed_and_dropped(encoding):
    assert decode("1 é".encode(encoding), "auto", "x") == ("1 é", encoding)


def test_the_setting_decides_where_it_is_given():
    assert decode(b"sister\xf0city", "cp850", "x") == ("sister\u00adcity", "cp850")
    assert decode(b"sister\xf0city", "latin-1", "x") == ("sisterðcity", "latin-1")


def test_a_setting_that_does_not_fit_is_an_error_with_the_line():
    with pytest.raises(
        DataError, match=r"TREC: the bytes are not text: not utf-8 \(byte 0xF0 in line 3\)"
    ):
        decode(b"1 a\n2 b\n3 sister\xf0city\n", "utf-8", "TREC")


def test_bytes_in_neither_encoding_are_an_error():
    with pytest.raises(DataError, match=r"neither UTF-8 nor cp1252 \(byte 0x81 in line 2\)"):
        decode(b"1 a\n1 \x81\n", "auto", "x")


@pytest.mark.parametrize("encoding", ["no_such", "base64", "hex"])
def test_unknown_encodings_are_an_error(encoding):
    with pytest.raises(DataError, match="is no text encoding"):
        decode(b"1 a", encoding, "x")


@pytest.mark.parametrize("control", [0x00, 0x07, 0x1F, 0x7F])
@pytest.mark.parametrize("encoding", ["auto", "latin-1"])
def test_control_characters_are_not_text(control, encoding):
    with pytest.raises(DataError, match=f"x, line 2: .* control character U\\+{control:04X}"):
        decode(b"1 a\n1 b" + bytes([control]), encoding, "x")


def test_a_compressed_file_is_not_text():
    import gzip

    with pytest.raises(DataError, match="not text"):
        decode(gzip.compress(b"1 a\n" * 50), "auto", "x")


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc"))))
def test_any_utf8_text_comes_back(text):
    decoded, encoding = decode(text.encode(), "auto", "x")
    assert decoded == text.removeprefix("\ufeff")
    assert encoding in ("utf-8", "utf-8-sig")
