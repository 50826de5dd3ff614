"""Back-off: how long, how often, and when not."""

import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from poscope.errors import SourceError
from poscope.sources.http import ContentRange, content_length, content_range, retry_after_s
from poscope.sources.progress import Progress
from poscope.sources.retry import RetryPolicy, TransientFault, with_retries


class Flaky:
    """Fails with each of `faults` in turn, then returns 7."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.calls = 0

    def __call__(self) -> int:  # noqa: D102
        self.calls += 1
        if self.faults:
            raise self.faults.pop(0)
        return 7


def _policy(slept: list[float], attempts: int = 5) -> RetryPolicy:
    return RetryPolicy(attempts=attempts, sleep=slept.append, jitter=lambda: 0.0)


def test_waits_double_up_to_a_limit() -> None:
    policy = RetryPolicy(first_wait_s=1.0, longest_wait_s=10.0, jitter=lambda: 0.0)
    assert [policy.wait_s(n) for n in range(1, 7)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_jitter_takes_off_up_to_half() -> None:
    assert RetryPolicy(jitter=lambda: 0.5).wait_s(3) == 3.0
    assert RetryPolicy(jitter=lambda: 1.0).wait_s(3) == 2.0
    waits = {RetryPolicy().wait_s(2) for _ in range(50)}
    assert len(waits) > 1
    assert all(1.0 <= wait <= 2.0 for wait in waits)


def test_tries_again_until_it_works() -> None:
    slept: list[float] = []
    action = Flaky(TransientFault("a"), TransientFault("b"))
    assert with_retries(action, _policy(slept), what="it", advice="") == 7
    assert (action.calls, slept) == (3, [1.0, 2.0])


def test_gives_up_and_says_everything() -> None:
    slept: list[float] = []
    action = Flaky(*(TransientFault(f"fault {n}") for n in range(9)))
    with pytest.raises(SourceError) as caught:
        with_retries(action, _policy(slept, 3), what="http://h/x from h", advice="Do this")
    assert str(caught.value) == (
        "cannot read http://h/x from h: gave up after 3 attempts: fault 2. Do this"
    )
    assert (action.calls, slept) == (3, [1.0, 2.0])


def test_one_attempt_is_one_attempt() -> None:
    slept: list[float] = []
    with pytest.raises(SourceError, match="after 1 attempt: x"):
        with_retries(Flaky(TransientFault("x")), _policy(slept, 1), what="it", advice="")
    assert slept == []


def test_other_errors_pass_at_once() -> None:
    slept: list[float] = []
    action = Flaky(SourceError("final"))
    with pytest.raises(SourceError, match=r"^final$"):
        with_retries(action, _policy(slept), what="it", advice="")
    assert (action.calls, slept) == (1, [])


def test_what_the_server_asks_for_is_a_lower_bound() -> None:
    slept: list[float] = []
    action = Flaky(TransientFault("busy", 7.0), TransientFault("busy", 0.0))
    assert with_retries(action, _policy(slept), what="it", advice="") == 7
    assert slept == [7.0, 2.0]


def test_a_server_that_asks_for_too_much_is_not_waited_for() -> None:
    slept: list[float] = []
    action = Flaky(TransientFault("busy", 3600.0))
    with pytest.raises(SourceError, match="after 1 attempt: busy; the server asks to wait 3600 s"):
        with_retries(action, _policy(slept), what="it", advice="")
    assert (action.calls, slept) == (1, [])


@pytest.mark.parametrize("value", ["7", " 7 ", "0"])
def test_retry_after_in_seconds(value: str) -> None:
    assert retry_after_s({"Retry-After": value}) == float(value)


@pytest.mark.parametrize("value", ["", "soon", "-3", "1.5"])
def test_retry_after_nonsense(value: str) -> None:
    assert retry_after_s({"Retry-After": value}) is None
    assert retry_after_s({}) is None


def test_retry_after_as_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    wait = retry_after_s({"Retry-After": date})
    assert wait is not None
    assert 90 < wait <= 100
    assert retry_after_s({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


def test_content_range() -> None:
    assert content_range({"Content-Range": "bytes 2-4/10"}) == ContentRange(2, 5, 10)
    assert content_range({"Content-Range": "bytes 2-4/*"}) == ContentRange(2, 5, None)
    for value in ("", "bytes */10", "bytes 2-/10", "lines 2-4/10"):
        assert content_range({"Content-Range": value}) is None


def test_content_length() -> None:
    assert content_length({"Content-Length": "12"}) == 12
    assert content_length({"Content-Length": "x"}) is None
    assert content_length({}) is None


def test_progress_is_a_line_every_few_seconds(caplog: pytest.LogCaptureFixture) -> None:
    times = iter([0.0, 1.0, 5.0, 6.0, 10.5, 12.0])
    caplog.set_level(logging.INFO, "poscope")
    progress = Progress("x.bin", interval_s=5.0, clock=lambda: next(times))
    for position in (1, 2, 3, 4):
        progress.advance(1_000_000, position=position * 1_000_000, total=8_000_000)
    progress.finish(8_000_000)
    assert [record.getMessage() for record in caplog.records] == [
        "x.bin: 2.0 of 8.0 MB (25 %), 0.40 MB/s",
        "x.bin: 4.0 of 8.0 MB (50 %), 0.38 MB/s",
        "x.bin: 8000000 bytes in 12.0 s (0.33 MB/s)",
    ]


def test_progress_without_a_known_length(caplog: pytest.LogCaptureFixture) -> None:
    times = iter([0.0, 6.0])
    caplog.set_level(logging.INFO, "poscope")
    Progress("x", clock=lambda: next(times)).advance(3_000_000, position=3_000_000, total=None)
    assert caplog.messages == ["x: 3.0 MB, 0.50 MB/s"]
