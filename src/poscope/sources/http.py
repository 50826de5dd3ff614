"""What HTTP's faults mean: try again, or give up and say why."""

import email.utils
import re
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC

import httpx2

from poscope.errors import SourceError
from poscope.sources.retry import TransientFault

# A compressed answer would make lengths, ranges and counts of bytes mean something else.
PLAIN_BODY = {"Accept-Encoding": "identity"}

_REASONS = {
    401: "it wants credentials",
    403: "it forbids access",
    404: "it has no such file",
    410: "the file is gone",
}


@dataclass(frozen=True)
class ContentRange:
    """The part of a file that an answer holds: bytes [start, stop) of `total`, or of an unknown number."""

    start: int
    stop: int
    total: int | None


@contextmanager
def network_faults(url: str, timeout_s: float) -> Iterator[None]:
    """Translate the HTTP library's errors while the block runs.

    Raises:
        TransientFault: no answer in time, no connection, a connection that broke or ended early.
        SourceError: what no other try would mend: a bad certificate, a bad URL, endless redirects.
    """
    try:
        yield
    except httpx2.TimeoutException as error:
        raise TransientFault(f"no sign of life for {timeout_s:g} s") from error
    except httpx2.ConnectError as error:
        if _bad_certificate(error):
            raise SourceError(
                f"cannot read {url}: the server's certificate is not trusted: {error}"
            ) from error
        raise TransientFault(f"cannot connect: {error}") from error
    except (httpx2.NetworkError, httpx2.ProxyError) as error:
        raise TransientFault(f"the connection broke: {error or type(error).__name__}") from error
    except httpx2.RemoteProtocolError as error:
        raise TransientFault(f"the connection ended early: {error}") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise SourceError(f"cannot read {url}: {error}") from error


def check_status(status: int, headers: Mapping[str, str], url: str) -> None:
    """See that an answer is a success.

    Raises:
        TransientFault: the server is busy or broken (408, 429, 5xx), with the wait that it asks for.
        SourceError: anything else but a success (2xx).
    """
    if status in (408, 429) or status >= 500:
        raise TransientFault(f"the server answers HTTP {status}", retry_after_s(headers))
    if not 200 <= status < 300:
        reason = f" ({_REASONS[status]})" if status in _REASONS else ""
        raise SourceError(f"cannot read {url}: the server answers HTTP {status}{reason}")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait that a `Retry-After` header asks for, as a number or as a date (RFC 9110, §10.2.3)."""
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        date = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    # A date with the zone "-0000" comes without one; HTTP's dates are all UTC.
    return max(0.0, date.replace(tzinfo=date.tzinfo or UTC).timestamp() - time.time())


def content_range(headers: Mapping[str, str]) -> ContentRange | None:
    """The `Content-Range` of an answer, or `None` where it has none or one that cannot be read."""
    match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", headers.get("Content-Range", "").strip())
    if match is None:
        return None
    total = None if match[3] == "*" else int(match[3])
    return ContentRange(int(match[1]), int(match[2]) + 1, total)


def content_length(headers: Mapping[str, str]) -> int | None:
    """The `Content-Length` of an answer, or `None` where the server does not say it."""
    value = headers.get("Content-Length", "")
    return int(value) if value.isdecimal() else None


def _bad_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
