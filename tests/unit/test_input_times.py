"""Inputs whose time of change lies in the future."""

import os
import time

import pytest

from poscope.errors import DataError
from poscope.input_times import check_input_times


def dated(path, seconds_ahead):
    moment = time.time() + seconds_ahead
    os.utime(path, (moment, moment))
    return path


def test_a_file_of_tomorrow_is_named_with_what_to_do(tmp_path):
    now, tomorrow = tmp_path / "now", tmp_path / "tomorrow"
    for path in (now, tomorrow):
        path.write_text("")
    check_input_times([now, dated(tomorrow, 5)])  # clocks of two machines
    with pytest.raises(DataError, match=rf"{tomorrow} was changed at .*find results -newermt now"):
        check_input_times([now, dated(tomorrow, 86400)])


def test_a_folder_counts_by_the_mark_that_snakemake_left_in_it(tmp_path):
    mark = tmp_path / ".snakemake_timestamp"
    mark.write_text("")
    dated(tmp_path, 86400)
    check_input_times([tmp_path])
    dated(mark, 86400)
    with pytest.raises(DataError, match="Set the clock"):
        check_input_times([tmp_path])


def test_a_file_that_is_not_there_is_left_to_its_reader(tmp_path):
    check_input_times([tmp_path / "nothing"])
