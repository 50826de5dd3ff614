"""What the hub's refusals mean, in words for the person who asked."""

import httpx2
from huggingface_hub import constants, get_token
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]  # public, lazily loaded

from poscope.errors import SourceError
from poscope.sources.http import retry_after_s
from poscope.sources.retry import TransientFault


def explained(error: HfHubHTTPError, repo: str, revision: str) -> SourceError | TransientFault:
    """The error to raise instead of one of the hub client's.

    Busy and broken servers (408, 429, 5xx) become a `TransientFault`, with the wait that they ask for.
    """
    status = error.response.status_code
    if status in (408, 429) or status >= 500:
        return TransientFault(f"the hub answers HTTP {status}", _asked_wait_s(error.response))
    return SourceError(_words(error, repo, revision))


def offline(repo: str, revision: str) -> SourceError:
    """The error for what is wanted from the network while HF_HUB_OFFLINE forbids it."""
    return SourceError(
        f"HF_HUB_OFFLINE is set, and the cache {constants.HF_HUB_CACHE} does not hold what is wanted of "
        f"{repo} at revision {revision}: unset it, or fetch the files first with "
        f"`hf download {repo} --revision {revision}`"
    )


def _words(error: HfHubHTTPError, repo: str, revision: str) -> str:
    page = f"{constants.ENDPOINT}/{repo}"
    status = error.response.status_code
    # The order matters: the client derives the gated repository from the missing one.
    if isinstance(error, GatedRepoError):
        having = "the token in use has no access" if get_token() else "no token is set"
        return (
            f"the hub repository {repo} is gated and {having}: accept its licence at {page}, and set HF_TOKEN "
            "to a token of the account that accepted it"
        )
    if isinstance(error, RepositoryNotFoundError):
        having = "the token in use may not see it" if get_token() else "it wants HF_TOKEN to be set"
        return f"the hub repository {repo} does not exist ({page}), or it is private and {having}"
    if isinstance(error, RevisionNotFoundError):
        return (
            f"the hub repository {repo} exists, and has no revision {revision}; its commits are listed at "
            f"{page}/commits/main"
        )
    if isinstance(error, RemoteEntryNotFoundError):
        return f"the hub repository {repo} has no such file at revision {revision}: {error.response.url}"
    if isinstance(error, DisabledRepoError):
        return f"the hub has disabled access to the repository {repo} ({page})"
    if status in (401, 403):
        return (
            f"the hub refuses access to {repo} (HTTP {status}): set HF_TOKEN to a valid token that may read it; if "
            f"the repository is gated, accept its licence at {page} first"
        )
    return f"the hub answers HTTP {status} for {repo} at revision {revision} ({error.response.url})"


def _asked_wait_s(response: httpx2.Response) -> float | None:
    wait_s = retry_after_s(response.headers)
    if wait_s is None and response.status_code == 429:
        limit = parse_ratelimit_headers(response.headers)
        if limit is not None and limit.remaining == 0:
            wait_s = float(limit.reset_in_seconds)
    return wait_s
