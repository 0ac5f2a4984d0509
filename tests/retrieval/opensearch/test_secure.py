"""TLS, logins and rights, against a real server with security: OPENSEARCH_SECURE_URL and OPENSEARCH_CA."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.opensearch_server import PASSWORD, Bench, server_url

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.experiment.settings import OpenSearchSettings
from ragassay.files import read_run, write_records
from ragassay.records import Query
from ragassay.retrieval.opensearch.client import connect

LogIn = Callable[..., None]


@pytest.fixture
def log_in(monkeypatch) -> LogIn:
    """Set the login for what follows; `ca` is the authority's file, "" for none."""
    authority = server_url("OPENSEARCH_CA")

    def set_login(user: str, password: str = PASSWORD, ca: str | None = None) -> None:
        monkeypatch.setenv("OPENSEARCH_USER", user)
        monkeypatch.setenv("OPENSEARCH_PASSWORD", password)
        monkeypatch.setenv("OPENSEARCH_CA", authority if ca is None else ca)

    return set_login


@pytest.fixture
def secure(tmp_path: Path, log_in: LogIn, monkeypatch) -> Iterator[Bench]:
    class SecureBench(Bench):
        @property
        def server(self):
            return connect(self.url, OpenSearchSettings())

    bench = SecureBench(server_url("OPENSEARCH_SECURE_URL"), tmp_path)
    log_in("admin")
    yield bench
    log_in("admin")
    bench.clear()


def test_a_login_that_may_only_read_searches_what_another_has_indexed(secure, passages, log_in: LogIn):
    some = secure.fresh(passages)
    written = secure.rankers(some)["bm25"].search(["memory"], 5)
    log_in("reader")
    assert secure.rankers(some)["bm25"].search(["memory"], 5) == written and written[0]


def test_a_login_that_may_only_read_cannot_index(secure, passages, log_in: LogIn):
    log_in("reader")
    with pytest.raises(
        InputError, match=r"does not allow this to the login 'reader' \(no permissions for .*; use a login"
    ):
        secure.rankers(secure.fresh(passages))


@pytest.mark.parametrize(
    ("login", "message"),
    [
        (("reader", "wrong-4711"), "refuses the login of 'reader'; set OPENSEARCH_USER and OPENSEARCH_PASSWORD"),
        (("nobody",), "refuses the login of 'nobody'"),
        (("",), "wants a login; set OPENSEARCH_USER"),
        (("admin", PASSWORD, ""), r"the certificate of .* is not trusted .*; name the file .* in OPENSEARCH_CA"),
    ],
)
def test_whom_the_server_or_we_do_not_trust(secure, passages, log_in: LogIn, login, message: str):
    log_in(*login)
    with pytest.raises(InputError, match=message) as caught:
        secure.rankers(secure.fresh(passages))
    assert "4711" not in str(caught.value) and PASSWORD not in str(caught.value)


def test_certificates_go_unchecked_only_when_asked(secure, passages, log_in: LogIn):
    log_in("admin", PASSWORD, "")
    some = secure.fresh(passages)
    assert secure.rankers(some, verify_certificates=False)["bm25"].search(["memory"], 5)[0]


def test_plain_http_to_a_server_of_tls_and_the_reverse(secure, passages):
    some = secure.fresh(passages)
    secure.url, url = secure.url.replace("https:", "http:"), secure.url
    with pytest.raises(InputError, match="does not answer"):
        secure.rankers(some)
    secure.url = url
    plain_url = server_url("OPENSEARCH_URL")
    with pytest.raises(InputError, match="does not speak TLS; write http:// instead of https://"):
        connect(plain_url.replace("http:", "https:"), OpenSearchSettings()).call(lambda client: client.info())


def test_the_command_line_takes_the_login_from_the_environment(secure, passages, tmp_path: Path, log_in: LogIn, capsys):
    folder = tmp_path / secure.name
    write_records(folder / "corpus.jsonl", secure.fresh(passages))
    write_records(folder / "queries.jsonl", [Query(id="q", text="memory")])
    out = tmp_path / "run.trec"
    files = ["--corpus", str(folder / "corpus.jsonl"), "--queries", str(folder / "queries.jsonl"), "--out", str(out)]
    command = ["search", *files, "--engine", "opensearch", "--url", secure.url]
    assert main(command) == 0 and read_run(out)["q"]
    log_in("reader", "wrong-4711")
    assert main(command) == 2
    captured = capsys.readouterr()
    assert "ragassay: OpenSearch at" in captured.err and "4711" not in captured.err and "Traceback" not in captured.err
