"""The connection to an OpenSearch server: addresses, login, TLS, time-outs, retries, and errors in one sentence."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragassay.errors import InputError, needing
from ragassay.experiment.mirror import is_server
from ragassay.experiment.settings import Experiment, OpenSearchSettings
from ragassay.text import plain

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

T = TypeVar("T")

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
        said = f"refuses the login of '{plain(user)}'" if user else "wants a login"
        return InputError(f"OpenSearch at {url} {said}", remedy="set OPENSEARCH_USER and OPENSEARCH_PASSWORD")
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
    remedy = "start it, or correct the address; what was indexed is kept"
    return InputError(f"OpenSearch at {url} does not answer ({shown(reason)})", remedy=remedy)


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


_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 30.0


class Server:
    """A cluster that answers questions put to opensearch-py's client, again where it was busy or lost a node.

    A server that has never answered is not waited for, but each of its addresses is tried. `wait` takes seconds.
    """

    def __init__(
        self, client: OpenSearch, url: str, user: str | None, retries: int, wait: Callable[[float], object] = time.sleep
    ) -> None:
        self.url, self.user, self.retries = url, user, retries
        self._client, self._wait, self._answered = client, wait, False
        self._untried = url.count(",")

    def call(self, ask: Callable[[OpenSearch], T]) -> T:
        """What `ask` gives. Raises InputError where the server refuses, or does not answer after all retries.

        A request that found nothing (404) raises opensearch-py's NotFoundError if the reply is OpenSearch's.
        """
        from opensearchpy import exceptions

        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            try:
                result = ask(self._client)
            except exceptions.SSLError as error:
                raise untrusted(str(error.error), url=self.url) from None
            except exceptions.ConnectionError as error:
                if last or not (self._answered or self._untried):
                    said = str(error.error)  # without the client's own object names
                    cause = said.rpartition(": ")[2] if "Failed to establish" in said else said
                    raise unreachable(cause, url=self.url) from None
                self._untried -= not self._answered
            except exceptions.NotFoundError as error:
                if not (isinstance(error.info, Mapping) and ("_index" in error.info or "error" in error.info)):
                    raise self.not_opensearch() from None
                raise
            except exceptions.TransportError as error:
                self._answered = True
                status, reason = int(error.status_code), reason_of(error.info) or str(error.error)
                if last or not is_passing(status, reason):
                    raise self.refusal(status, reason) from None
            except exceptions.SerializationError:
                raise self.not_opensearch() from None
            else:
                self._answered = True
                return result
            if self._answered:
                self.pause(attempt)
        raise AssertionError("the last attempt returns or raises")

    def pause(self, attempt: int) -> None:
        """Wait before attempt number `attempt` + 1: half a second, doubled each time, at most 30 s."""
        self._wait(min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S))

    def refusal(self, status: int, reason: str) -> InputError:
        """The sentence for what the server refused."""
        return refusal(status, reason, url=self.url, user=self.user)

    def not_opensearch(self) -> InputError:
        """The sentence for an answer that OpenSearch would not give."""
        return InputError(f"{self.url} answers, but not as OpenSearch does", remedy="correct the address")


def connect(
    url: str | None,
    settings: OpenSearchSettings,
    environment: Mapping[str, str] = os.environ,
    wait: Callable[[float], object] = time.sleep,
) -> Server:
    """A server by its address (several nodes of one cluster with commas between them), or by OPENSEARCH_URL.

    OPENSEARCH_USER and OPENSEARCH_PASSWORD are the login and OPENSEARCH_CA the file of the certificate authority; with
    `aws_region` requests are signed (SigV4) with the credentials that botocore finds. Nothing is sent yet. Raises
    InputError for an address that is none or holds a password, and MissingExtra without opensearch-py.
    """
    addresses = check_addresses(url or environment.get("OPENSEARCH_URL") or "")
    with needing('engine = "opensearch"', "opensearch"):
        import opensearchpy
    logging.getLogger("opensearch").addHandler(logging.NullHandler())  # what goes wrong is said in our own sentences
    user, region = environment.get("OPENSEARCH_USER") or None, settings.aws_region
    login = (user, environment.get("OPENSEARCH_PASSWORD", "")) if user else None
    tls: dict[str, Any] = {}
    if any(address.startswith("https:") for address in addresses):
        authority, checked = environment.get("OPENSEARCH_CA") or None, settings.verify_certificates
        if authority and not Path(authority).is_file():
            raise InputError("there is no such file", file=authority, remedy="OPENSEARCH_CA names a PEM file")
        tls = {"verify_certs": checked, "ssl_show_warn": False}
        tls |= {"ca_certs": authority} if authority and checked else {}
    client = opensearchpy.OpenSearch(
        hosts=list(addresses),
        http_auth=_signer(region, settings.aws_service) if region else login,
        # the signer is made for requests; urllib3 serves the others, and is faster
        connection_class=opensearchpy.RequestsHttpConnection if region else opensearchpy.Urllib3HttpConnection,
        timeout=settings.timeout_s,
        max_retries=0,
        **tls,
    )
    return Server(client, ",".join(addresses), user, settings.retries, wait)


def check_addresses(url: str) -> tuple[str, ...]:
    """The addresses in `url`. Raises InputError where one is missing, is no address, or holds a login."""
    addresses = tuple(part.strip().rstrip("/") for part in url.split(",") if part.strip())
    if not addresses:
        raise InputError("there is no address of an OpenSearch server", remedy="give retrieval.url or OPENSEARCH_URL")
    if "@" in url:  # before anything of it is shown: a password may hold any character
        host = re.split(r"[/?#,]", url.rpartition("@")[2])[0]
        problem = f"the address of OpenSearch at {plain(host)} holds a login"
        raise InputError(problem, remedy="take it out and set OPENSEARCH_USER and OPENSEARCH_PASSWORD")
    for address in addresses:
        place = re.split(r"[?#]", address)[0]
        if place != address or not is_server(address):
            problem = f"'{plain(place)}' is not the address of a server, or something follows it"
            raise InputError(problem, remedy="write it such as http://127.0.0.1:9200")
    return addresses


def _signer(region: str, service: str) -> Any:
    from opensearchpy import RequestsAWSV4SignerAuth

    try:
        from botocore.session import Session
    except ModuleNotFoundError:
        problem = "aws_region is set and botocore, which signs requests, is not installed"
        raise InputError(problem, remedy="install it with `pip install botocore`") from None
    credentials = Session().get_credentials()
    if credentials is None:
        problem = "aws_region is set and there are no AWS credentials"
        raise InputError(problem, remedy="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile")
    return RequestsAWSV4SignerAuth(credentials, region, service)


KNN, NEURAL = "opensearch-knn", "opensearch-neural-search"


def check_plugins(server: Server, experiment: Experiment) -> str:
    """The server's version and its plugins that are used, in words. Raises InputError for one that it has not."""
    version = server.call(lambda client: client.info()).get("version", {}).get("number", "unknown")
    rows: Any = server.call(lambda client: client.cat.plugins(format="json"))
    there = {str(row.get("component")) for row in rows}
    kinds: set[str] = {*experiment.retrieval.retrievers, *(one.kind for one in experiment.retriever)}
    wanted: set[str] = {KNN} if {"knn", "hybrid"} & kinds else set()
    wanted |= {NEURAL} if experiment.opensearch.hybrid == "server" else set()
    if lacking := sorted(wanted - there):
        problem = f"OpenSearch at {server.url} lacks the plugin {' and '.join(lacking)}"
        raise InputError(problem, remedy="install it there, or leave out the retrievers that need it")
    used = f" with {', '.join(sorted(wanted))}" if wanted else ""
    return plain(f"{version} at {server.url}{used}")
