"""When to try again, how often, and how long to wait before."""

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from poscope.errors import SourceError

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class TransientFault(Exception):
    """Something that may go well the next time.

    Args:
        reason: what happened, in words.
        wait_s: seconds after which the server wants to be asked again, where it said so.
    """

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s


@dataclass(frozen=True)
class RetryPolicy:
    """How patient to be.

    Attributes:
        attempts: tries in all, the first one included.
        timeout_s: seconds without a sign of life after which a try has failed.
        first_wait_s: seconds before the second try; the wait doubles from try to try.
        longest_wait_s: seconds that a wait of our own choosing never exceeds.
        longest_asked_wait_s: seconds that a server may ask us to wait; beyond, we give up at once.
        sleep: waits for a number of seconds.
        jitter: a random number in [0, 1): jobs that failed together should not come back together.
    """

    attempts: int = 5
    timeout_s: float = 30.0
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    longest_asked_wait_s: float = 300.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def wait_s(self, failures: int) -> float:
        """Seconds to wait after the given number of failures: exponential, less up to half of it by chance."""
        longest = min(self.longest_wait_s, self.first_wait_s * 2.0 ** (failures - 1))
        return longest * (1.0 - 0.5 * self.jitter())


def with_retries(action: Callable[[], _T], policy: RetryPolicy, *, what: str, advice: str) -> _T:
    """Call `action` until it returns, as often as the policy allows.

    Args:
        action: raises `TransientFault` where another try makes sense; any other exception passes through.
        policy: how often, and how long to wait.
        what: the thing wanted, with its host, for messages.
        advice: what the user can do when all tries failed.

    Raises:
        SourceError: all tries failed, or the server asks to wait longer than we will.
    """
    for attempt in range(1, policy.attempts + 1):
        try:
            return action()
        except TransientFault as fault:
            too_long = (fault.wait_s or 0.0) > policy.longest_asked_wait_s
            if attempt == policy.attempts or too_long:
                tries = "1 attempt" if attempt == 1 else f"{attempt} attempts"
                asked = f"; the server asks to wait {fault.wait_s:.0f} s" if too_long else ""
                raise SourceError(
                    f"cannot read {what}: gave up after {tries}: {fault.reason}{asked}. {advice}"
                ) from fault
            wait_s = max(policy.wait_s(attempt), fault.wait_s or 0.0)
            words = "%s: %s; attempt %d of %d follows in %.1f s"
            _log.warning(words, what, fault.reason, attempt + 1, policy.attempts, wait_s)
            policy.sleep(wait_s)
    raise ValueError(f"attempts must be at least 1, not {policy.attempts}")
