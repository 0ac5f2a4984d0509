"""A server in trouble: busy, refusing, cut off, full, or not OpenSearch at all; scripted, on loopback."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pydantic import ValidationError
from support.loopback.opensearch_server import Received, Reply, ScriptedOpenSearch, bulk_reply, error

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.experiment.settings import OpenSearchSettings, RetrievalSettings
from ragassay.files import read_records
from ragassay.records import Passage
from ragassay.retrieval.opensearch.client import Server, connect
from ragassay.retrieval.opensearch.engine import Engine, open_rankers
from ragassay.retrieval.opensearch.index import MAX_BYTES, Rejection, kept_indexes, send
from ragassay.retrieval.opensearch.rankers import Target, bm25_query, run_searches, sorted_search
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache
from ragassay.retrieval.rankers.ranker import CorpusFile, fingerprint

BUSY = error(429, "opensearch_rejected_execution_exception", "rejected execution of primary operation")
DOWN = error(503, "cluster_manager_not_discovered_exception", "no cluster manager")
FLOOD = (
    "index [i] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has "
    "read-only-allow-delete block];"
)


class Waits(list[float]):
    """Seconds that were to be waited, and were not."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def open_server(url: str, waits: Waits | None = None, **settings: object) -> Server:
    given = OpenSearchSettings.model_validate({"timeout_s": 5, "retries": 3, **settings})
    return connect(url, given, {}, Waits() if waits is None else waits)


def in_turn(*replies: Reply | Callable[[Received], Reply]) -> Callable[[Received], Reply]:
    """One reply after the other; the last for all further requests."""
    left = list(replies)

    def script(received: Received) -> Reply:
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply(received) if callable(reply) else reply

    return script


def sent_ids(requests: Sequence[Received]) -> list[list[str]]:
    return [[action["create"]["_id"] for action in request.lines[::2]] for request in requests]


DOCUMENTS = {name: {"id": name, "terms": "x"} for name in "abcd"}


def test_a_busy_server_gets_the_same_request_again_after_a_while():
    waits = Waits()
    with ScriptedOpenSearch(in_turn(BUSY, DOWN, bulk_reply)) as server:
        assert send(open_server(server.url, waits), "i", DOCUMENTS) == []
    assert sent_ids(server.requests) == [list("abcd")] * 3
    assert waits == [0.5, 1.0]


def test_only_the_items_that_met_a_busy_server_go_again():
    def some_busy(received: Received) -> Reply:
        return bulk_reply(received, {"b": (429, "rejected", "queue full"), "d": (503, "unavailable", "no shard")})

    with ScriptedOpenSearch(in_turn(some_busy, bulk_reply)) as server:
        assert send(open_server(server.url), "i", DOCUMENTS) == []
    assert sent_ids(server.requests) == [list("abcd"), ["b", "d"]]


def test_a_bulk_that_was_cut_off_is_sent_again_and_what_had_arrived_counts():
    def there_already(received: Received) -> Reply:
        conflict = (409, "version_conflict_engine_exception", "document already exists")
        return bulk_reply(received, {"a": conflict, "b": conflict})

    with ScriptedOpenSearch(in_turn(bulk_reply, None, there_already)) as server:
        opened = open_server(server.url)
        assert send(opened, "i", {"first": {}}) == []
        assert send(opened, "i", DOCUMENTS) == []
    assert sent_ids(server.requests)[1:] == [list("abcd")] * 2


def test_a_server_that_stays_busy_ends_in_one_sentence():
    waits = Waits()
    with ScriptedOpenSearch(in_turn(BUSY)) as server:
        with pytest.raises(InputError, match=r"was too busy each time it was asked \(HTTP 429: rejected execution"):
            send(open_server(server.url, waits), "i", DOCUMENTS)
        assert len(server.requests) == 4 and len(waits) == 3
    always = {"b": (429, "rejected", "queue full")}
    with (
        ScriptedOpenSearch(lambda received: bulk_reply(received, always)) as server,
        pytest.raises(InputError, match=r"too busy .* \(HTTP 429: queue full\); what was indexed is kept"),
    ):
        send(open_server(server.url), "i", DOCUMENTS)


def test_waits_double_up_to_half_a_minute():
    waits = Waits()
    with ScriptedOpenSearch(in_turn(BUSY)) as server, pytest.raises(InputError):
        send(open_server(server.url, waits, retries=9), "i", DOCUMENTS)
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_requests_are_bounded_by_number_and_by_size():
    with ScriptedOpenSearch(bulk_reply) as server:
        opened = open_server(server.url)
        send(opened, "i", {f"n{n}": {} for n in range(1201)})
        assert [len(ids) for ids in sent_ids(server.requests)] == [500, 500, 201]
        server.requests.clear()
        send(
            opened, "i", {f"n{n}": {"terms": "x" * (MAX_BYTES // 3)} for n in range(5)} | {"m": {"t": "x" * MAX_BYTES}}
        )
    assert [len(ids) for ids in sent_ids(server.requests)] == [2, 2, 1, 1]


def flood_item(received: Received) -> Reply:
    return bulk_reply(received, {"a": (429, "cluster_block_exception", FLOOD)})


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (flood_item, "its disk is fuller than its watermark allows; free disk space"),
        (error(429, "cluster_block_exception", FLOOD), "its disk is fuller than its watermark allows"),
        (
            error(403, "cluster_block_exception", "blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];"),
            "disk",
        ),
        (error(403, "security_exception", "no permissions for [x]"), r"does not allow this .* \(no permissions for"),
        (error(400, "illegal_argument_exception", "odd \x1b[31mwords"), r"HTTP 400: odd \\x1b\[31mwords"),
        ((200, b"<html>log in</html>"), "answers, but not as OpenSearch does; correct the address"),
        ((404, b"<html>nothing here</html>"), "answers, but not as OpenSearch does"),
        ((401, b""), "wants a login; set OPENSEARCH_USER and OPENSEARCH_PASSWORD"),
    ],
)
def test_what_waiting_does_not_mend_is_said_at_once(reply, message: str):
    with ScriptedOpenSearch(in_turn(reply)) as server:
        with pytest.raises(InputError, match=message):
            send(open_server(server.url), "i", DOCUMENTS)
        assert len(server.requests) == 1


def rankers(url: str, folder: Path, names: Sequence[str], encoder: object, **settings: object):
    embedder = Embedder("m", EmbeddingCache("m", None), load=lambda _: encoder)  # type: ignore[arg-type,return-value]
    engine = Engine(url, OpenSearchSettings.model_validate({"retries": 0, **settings}), "c", folder / "rejected.jsonl")
    some = [Passage(id=f"p{n}", text=f"text {n}") for n in range(3)]
    return open_rankers(names, some, embedder, engine, language="en", rrf_k=60)


def test_every_passage_that_is_refused_is_on_record(tmp_path: Path):
    refused = {
        "p0": (400, "mapper_parsing_exception", "failed to parse"),
        "p2": (413, "too_large", "a \x1b[2J long\nstory"),
    }

    def script(received: Received) -> Reply:
        if received.path.endswith("_bulk"):
            return bulk_reply(received, refused)
        if received.method == "GET":
            return error(404, "index_not_found_exception", "no such index")
        return (404, {}) if received.method == "HEAD" else (200, {"acknowledged": True})

    with (
        ScriptedOpenSearch(script) as server,
        pytest.raises(InputError, match=r"refused 2 of 3 passages; the first, 'p0': failed to parse; .*rejected.jsonl"),
    ):
        rankers(server.url, tmp_path, ["bm25"], None)
    rows = read_records(tmp_path / "rejected.jsonl", Rejection)
    assert [(row.passage, row.status, row.kind) for row in rows] == [
        ("p0", 400, "mapper_parsing_exception"),
        ("p2", 413, "too_large"),
    ]
    assert rows[1].reason == "a \\x1b[2J long story"
    assert not any("_aliases" in request.path for request in server.requests), "an index with gaps is not switched to"


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (400, "illegal_argument_exception", "unknown setting [index.knn] please check that any required plugins"),
        (400, "mapper_parsing_exception", "No handler for type [knn_vector] declared on field [vector]"),
    ],
)
def test_a_server_without_knn_is_told_apart(tmp_path: Path, stub, status: int, kind: str, reason: str):
    def script(received: Received) -> Reply:
        if received.method == "PUT":
            return error(status, kind, reason)
        return error(404, "index_not_found_exception", "no such index") if received.method == "GET" else (404, {})

    with (
        ScriptedOpenSearch(script) as server,
        pytest.raises(
            InputError, match=r'has no k-NN plugin, .*; install opensearch-knn there, or use retrievers = \["bm25"\]'
        ),
    ):
        rankers(server.url, tmp_path, ["knn"], stub())


def msearch_reply(*responses: object) -> Reply:
    return 200, {"took": 1, "responses": list(responses)}


def hits(*pairs: tuple[str, float], failed: int = 0, timed_out: bool = False) -> dict[str, object]:
    found = [{"_id": identifier, "_score": score} for identifier, score in pairs]
    return {"timed_out": timed_out, "_shards": {"failed": failed}, "hits": {"hits": found}, "status": 200}


def search(url: str, n: int = 2) -> list[list[tuple[str, float]]]:
    target = Target("i")
    searches = [sorted_search(bm25_query(target, [f"t{number}"]), 5) for number in range(n)]
    return list(run_searches(open_server(url), target, searches))


def test_a_search_that_met_a_busy_server_is_asked_again_alone():
    replies = [msearch_reply(BUSY[1], hits(("b", 2.0))), msearch_reply(hits(("a", 1.0)))]
    with ScriptedOpenSearch(in_turn(*replies)) as server:
        assert search(server.url) == [[("a", 1.0)], [("b", 2.0)]]
    asked = [[body["query"]["match"]["terms"]["query"] for body in request.lines[1::2]] for request in server.requests]
    assert asked == [["t0", "t1"], ["t0"]]


@pytest.mark.parametrize("part", [hits(("a", 1.0), failed=1), hits(("a", 1.0), timed_out=True)])
def test_half_an_answer_is_none(part):
    with (
        ScriptedOpenSearch(in_turn(msearch_reply(part, hits()))) as server,
        pytest.raises(InputError, match="a search was answered in part"),
    ):
        search(server.url)


def test_fewer_answers_than_searches_are_no_rankings():
    with (
        ScriptedOpenSearch(in_turn(msearch_reply(hits(("a", 1.0))))) as server,
        pytest.raises(InputError, match="1 answers to 2 searches"),
    ):
        search(server.url)


def test_a_server_without_rrf_is_told_apart():
    reason = "Invalid processor type score-ranker-processor"
    refused = error(400, "illegal_argument_exception", reason)[1]
    with (
        ScriptedOpenSearch(in_turn(msearch_reply(refused, refused))) as server,
        pytest.raises(InputError, match=r'which came with 2\.19; use hybrid = "ours"'),
    ):
        search(server.url)


def test_a_server_that_is_not_there_is_not_waited_for():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url, waits = f"http://127.0.0.1:{taken.getsockname()[1]}", Waits()
        with pytest.raises(InputError, match=r"does not answer \(.*Connection refused\); start it, or correct"):
            send(open_server(url, waits), "i", DOCUMENTS)
    assert waits == []


def test_a_node_that_dies_gives_its_place_to_the_next():
    with ScriptedOpenSearch(bulk_reply) as one, ScriptedOpenSearch(bulk_reply) as other:
        opened = open_server(f"{one.url},{other.url}")
        for _ in range(4):
            assert send(opened, "i", DOCUMENTS) == []
        one.close()
        for _ in range(4):
            assert send(opened, "i", DOCUMENTS) == []
        n_sent = len(one.requests) + len(other.requests)
    assert n_sent == 8


def test_of_several_addresses_one_that_is_up_will_do():
    with ScriptedOpenSearch(bulk_reply) as up:
        for url in (f"http://127.0.0.1:1,http://127.0.0.1:2,{up.url}", f"{up.url},http://127.0.0.1:1"):
            waits = Waits()
            assert send(open_server(url, waits), "i", DOCUMENTS) == [] and waits == []
    with pytest.raises(InputError, match="does not answer"):
        send(open_server("http://127.0.0.1:1,http://127.0.0.1:2", waits), "i", DOCUMENTS)
    assert waits == []


def test_a_record_of_refusals_that_is_a_device_is_left_alone(tmp_path: Path):
    """What was refused before is forgotten when all is well, but only where it is a file: here it is a named pipe."""

    def script(received: Received) -> Reply:
        if received.path.endswith("_bulk"):
            return bulk_reply(received)
        if received.path.endswith("_count"):
            return 200, {"count": 3}
        if received.method == "GET" and "current" not in received.path and len(server.requests) > 3:
            about = {"corpus": "c", "n_passages": 3, "language": "en", "alias": "a"}
            return 200, {"_index": "i", "_source": {"about": about}}
        return error(404, "index_not_found_exception", "none") if received.method == "GET" else (200, {})

    os.mkfifo(tmp_path / "rejected.jsonl")
    with ScriptedOpenSearch(script) as server:
        rankers(server.url, tmp_path, ["bm25"], None)
    assert (tmp_path / "rejected.jsonl").is_fifo()


@pytest.mark.parametrize("body", [{}, [], ["x"], "hello", {"_source": {"about": {}}}])
def test_a_server_of_something_else_that_answers_in_json(body: object, tmp_path: Path):
    with ScriptedOpenSearch(lambda received: (200, body)) as server:
        with pytest.raises(InputError, match="answers, but not as OpenSearch does; correct the address"):
            rankers(server.url, tmp_path, ["bm25"], None)
        if body != []:  # as a server without indexes says
            with pytest.raises(InputError, match="answers, but not as OpenSearch does"):
                kept_indexes(open_server(server.url))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "there is no address of an OpenSearch server; give retrieval.url or OPENSEARCH_URL"),
        ("https://me:secret@host:9200", "the address of OpenSearch at host:9200 holds a login"),
        ("me:secret@host:9200", "the address of OpenSearch at host:9200 holds a login"),
        ("https://me:secret/a,secret?b@host:9200", "the address of OpenSearch at host:9200 holds a login"),
        ("http://host:9200?password=secret", "'http://host:9200' is not the address of a server, or something follows"),
        ("host:9200", "'host:9200' is not the address of a server"),
        ("http://host:99999", "'http://host:99999' is not the address of a server"),
        ("http://host:none", "'http://host:none' is not the address of a server"),
        ("http://[::1", "'http://[::1' is not the address of a server"),
    ],
)
def test_an_address_that_is_none(url: str, message: str):
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        open_server(url)
    assert "secret" not in str(caught.value)


def test_the_login_is_sent_and_never_shown(caplog):
    caplog.set_level(logging.DEBUG)
    environment = {"OPENSEARCH_USER": "me", "OPENSEARCH_PASSWORD": "pass-4711"}
    with ScriptedOpenSearch(in_turn((401, {"error": "Unauthorized"}))) as server:
        environment["OPENSEARCH_URL"] = server.url
        opened = connect(None, OpenSearchSettings(retries=0), environment)
        with pytest.raises(InputError, match="refuses the login of 'me'; set OPENSEARCH_USER") as caught:
            send(opened, "i", DOCUMENTS)
    assert server.requests[0].headers["authorization"] == "Basic bWU6cGFzcy00NzEx"
    assert "4711" not in str(caught.value) + caplog.text


def test_a_ca_file_that_is_not_there():
    with pytest.raises(InputError, match=r"/nowhere\.pem: there is no such file; OPENSEARCH_CA names a PEM file"):
        connect("https://127.0.0.1:1", OpenSearchSettings(), {"OPENSEARCH_CA": "/nowhere.pem"})


def test_requests_to_aws_are_signed_as_its_documentation_says(monkeypatch):
    """Signature Version 4, computed here from AWS's description of it (docs: create a signed AWS API request)."""
    pytest.importorskip("botocore", reason="botocore signs for AWS")
    key, secret = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    with ScriptedOpenSearch(bulk_reply) as server:
        send(open_server(server.url, aws_region="eu-central-1"), "i", DOCUMENTS)
    (request,) = server.requests
    given = re.fullmatch(
        rf"AWS4-HMAC-SHA256 Credential={key}/(\d+)/eu-central-1/es/aws4_request, SignedHeaders=([a-z0-9;-]+), "
        r"Signature=([0-9a-f]{64})",
        request.headers["authorization"],
    )
    assert given
    day, names, signature = given.groups()
    payload = hashlib.sha256(request.body).hexdigest()
    assert {"host", "x-amz-date"} <= set(names.split(";")) and request.headers["x-amz-content-sha256"] == payload
    headers = "".join(f"{name}:{' '.join(request.headers[name].split())}\n" for name in names.split(";"))
    canonical = "\n".join(["POST", "/i/_bulk", "", headers, names, payload])
    scope = f"{day}/eu-central-1/es/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, digest])
    signing = f"AWS4{secret}".encode()
    for part in (day, "eu-central-1", "es", "aws4_request", to_sign):
        signing = hmac.digest(signing, part.encode(), "sha256")
    assert signing.hex() == signature


def test_what_is_sent_is_what_the_documents_say():
    with ScriptedOpenSearch(bulk_reply) as server:
        send(open_server(server.url), "i", {"ä": {"id": "ä", "terms": "straße"}})
    assert server.requests[0].path == "/i/_bulk"
    assert server.requests[0].lines == [{"create": {"_id": "ä"}}, {"id": "ä", "terms": "straße"}]
    assert json.loads(server.requests[0].body.splitlines()[1])["terms"] == "straße"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--url", "http://127.0.0.1:1"], "--url is for --engine opensearch, and the engine is embedded"),
        (["--filter", "a=b"], "--filter is for --engine opensearch"),
        (["--index", "i"], "--index is for --engine opensearch"),
        (["--engine", "opensearch", "--bm25", "rank-bm25"], "--bm25 rank-bm25 is for --engine embedded"),
        (["--engine", "opensearch", "--filter", "ab"], "--filter 'ab' is not KEY=VALUE"),
        (["--engine", "opensearch"], "there is no address of an OpenSearch server"),
        (["--engine", "opensearch", "--url", "http://127.0.0.1:1"], "OpenSearch at http://127.0.0.1:1 does not answer"),
    ],
)
def test_the_command_line_refuses_in_one_sentence(options, message: str, passages_file, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("OPENSEARCH_URL", raising=False)
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"_id": "q", "text": "memory"}\n')
    files = ["--corpus", str(passages_file), "--queries", str(queries), "--out", str(tmp_path / "run.trec")]
    assert main(["search", *files, *options]) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1 and not (tmp_path / "run.trec").exists()


@pytest.mark.parametrize(
    ("retrieval", "message"),
    [
        ({"url": "localhost:9200"}, 'an address is such as "http://127.0.0.1:9200"'),
        ({"url": "https://me:secret@host"}, "the login goes into OPENSEARCH_USER and OPENSEARCH_PASSWORD"),
        ({"engine": "opensearch", "bm25": "rank-bm25"}, "bm25 is a choice of the embedded engine"),
    ],
)
def test_settings_that_do_not_go_together(retrieval, message: str):
    with pytest.raises(ValidationError, match=re.escape(message)):
        RetrievalSettings.model_validate(retrieval)


def test_a_corpus_file_is_read_anew_each_time_and_says_its_line(tmp_path: Path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"_id": "a", "text": "x"}\n\n{"_id": "b", "title": "t", "text": "y"}\n')
    corpus = CorpusFile(path)
    assert [p.id for p in corpus] == [p.id for p in corpus] == ["a", "b"]
    assert fingerprint(corpus) == fingerprint(list(corpus)) and fingerprint(corpus).n_passages == 2
    for line, message in [(b"{", "is not JSON"), (b'{"_id": "c"}', "text: Field required"), (b"\xff{}", "is not JSON")]:
        path.write_bytes(b'{"_id": "a", "text": "x"}\n' + line + b"\n")
        with pytest.raises(InputError, match=f"corpus.jsonl:2: {message}"):
            list(corpus)
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match=r"there is no such file|cannot be read"):
            list(CorpusFile(missing))
