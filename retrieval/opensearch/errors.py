"""What an OpenSearch server says when something is wrong, as one sentence with its remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.errors import InputError
from ragassay.text import plain

BUSY = frozenset({429, 502, 503, 504})
"""HTTP statuses after which the same request may succeed later."""

_LONGEST = 300  # characters of the server's own words that are shown


class NotAllowed(InputError):
    """The login is right and may not do this."""


def reason_of(info: Any) -> str:
    """The innermost reason in an error body, an item of a bulk, or a response of _msearch; "" where there is none."""
    error = info.get("error", info) if isinstance(info, Mapping) else info
    if not isinstance(error, Mapping):
        return str(error or "")
    inner = error.get("caused_by") or next(iter(error.get("root_cause") or ()), None)
    if isinstance(inner, Mapping) and "root_cause" not in inner and (found := reason_of(inner)):
        return found
    return str(error.get("reason") or error.get("type") or "")


def is_full_disk(reason: str) -> bool:
    """Whether the server refused because of its disk watermarks: waiting does not help."""
    return any(words in reason for words in ("flood-stage", "create-index blocked", "read-only-allow-delete"))


def is_passing(status: int, reason: str) -> bool:
    """Whether the same request may succeed later."""
    return status in BUSY and not is_full_disk(reason)


def refusal(status: int, reason: str, *, url: str, user: str | None) -> InputError:
    """The sentence for a request that the server refused with an HTTP status and a reason."""
    if is_full_disk(reason):
        problem = f"OpenSearch at {url} takes nothing more: its disk is fuller than its watermark allows"
        return InputError(problem, remedy="free disk space there, or see `ragassay opensearch list`, and run again")
    if status == 401:
        return InputError(f"OpenSearch at {url} {_login(user)}", remedy="set OPENSEARCH_USER and OPENSEARCH_PASSWORD")
    if status == 403:
        who = f"the login '{plain(user)}'" if user else "whoever has no login"
        said = f"OpenSearch at {url} does not allow this to {who} ({shown(reason)})"
        return NotAllowed(said, remedy="use a login that may, or have the index made by one")
    if any(words in reason for words in ("type [knn_vector]", "[index.knn", "unknown query [knn]")):
        problem = f"OpenSearch at {url} has no k-NN plugin, which knn and hybrid need"
        return InputError(problem, remedy='install opensearch-knn there, or use retrievers = ["bm25"]')
    if any(words in reason for words in ("unknown query [hybrid]", "rocessor type", "score-ranker-processor")):
        problem = f"OpenSearch at {url} has no hybrid queries with reciprocal rank fusion, which came with 2.19"
        return InputError(problem, remedy='use hybrid = "ours"')
    if "dimension" in reason:
        problem = f"the index and the embedding model differ in dimensions ({shown(reason)})"
        return InputError(problem, remedy="name the embedding model that the index was made with")
    if status in BUSY:
        problem = f"OpenSearch at {url} was too busy each time it was asked (HTTP {status}: {shown(reason)})"
        return InputError(problem, remedy="what was indexed is kept; run again later, or raise opensearch.retries")
    return InputError(f"OpenSearch at {url} refuses a request (HTTP {status}: {shown(reason)})")


def unreachable(reason: str, *, url: str) -> InputError:
    """The sentence for a server that does not answer."""
    return InputError(
        f"OpenSearch at {url} does not answer ({shown(reason)})",
        remedy="start it, or correct the address; what was indexed is kept",
    )


def untrusted(reason: str, *, url: str) -> InputError:
    """The sentence for a TLS connection that could not be made, of a certificate that is not trusted above all."""
    if "WRONG_VERSION" in reason or "record layer" in reason:
        return InputError(f"{url} does not speak TLS", remedy="write http:// instead of https://")
    problem = f"the certificate of OpenSearch at {url} is not trusted ({shown(reason)})"
    return InputError(problem, remedy="name the file of its certificate authority in OPENSEARCH_CA")


def shown(reason: str) -> str:
    """The server's own words, on one line, of bearable length."""
    text = plain(" ".join(reason.split()))
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _login(user: str | None) -> str:
    return f"refuses the login of '{plain(user)}'" if user else "wants a login"
