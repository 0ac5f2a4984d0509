"""OTLP over HTTP: what is taken, what is refused, and that a killed listener loses nothing."""

from __future__ import annotations

import gzip
import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from support.otlp import request, span

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.from_files.collections import listen

TRACE = request("shop", span("t1", "q", "", 4, **{"input.value": "How?", "output.value": "Só."}))


@pytest.fixture
def listener(tmp_path: Path):
    with listen.Listener("127.0.0.1:0", tmp_path / "made.otlp.jsonl") as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def post(port: int, data: bytes, kind: str = listen.JSON, path: str = listen.PATH, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(
        "POST", path, data, {"content-type": kind, **{k.replace("_", "-"): v for k, v in headers.items()}}
    )
    reply = connection.getresponse()
    return reply.status, reply.read()


def test_json_and_protobuf_are_kept_as_they_come(listener, tmp_path: Path):
    pytest.importorskip("opentelemetry.proto")
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    port = listener.server_address[1]
    assert post(port, json.dumps(TRACE).encode()) == (200, b"{}")
    told = json.loads(json.dumps(TRACE).replace('"t1"', '"dDI="').replace('"q"', '"cQ=="').replace("How?", "Why?"))
    data = gzip.compress(ParseDict(told, ExportTraceServiceRequest()).SerializeToString())
    assert post(port, data, listen.PROTOBUF, content_encoding="gzip") == (200, b"")
    spool = tmp_path / "made.otlp.jsonl"
    assert main(["import", "--from", "otlp", str(spool), "--out", str(tmp_path / "made")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "made/answers/shop.jsonl").read_text().splitlines()]
    assert [row["answer"] for row in rows] == ["Só.", "Só."]
    assert [json.loads(line)["text"] for line in (tmp_path / "made/queries.jsonl").read_text().splitlines()] == [
        "How?",
        "Why?",
    ]


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        (415, {"kind": "text/plain"}),
        (404, {"host": "evil.example"}),
        (404, {"path": "/v1/metrics"}),
        (400, {"data": b"{"}),
        (400, {"data": b"[" * 900}),
        (400, {"data": b"{}"}),
        (400, {"data": b"\xff", "kind": listen.PROTOBUF}),
        (400, {"data": b"no gzip", "content_encoding": "gzip"}),
        (400, {"data": gzip.compress(b"x")[:10] + bytes([255] * 9), "content_encoding": "gzip"}),
        (413, {"data": gzip.compress(bytes(2_000)), "content_encoding": "gzip"}),
        (413, {"data": bytes(2_000)}),
        (413, {"content_length": "9" * 30}),
    ],
)
def test_what_is_not_taken_is_refused_and_nothing_of_it_kept(listener, monkeypatch, status, sent):
    monkeypatch.setattr(listen, "MOST_BYTES", 1_000)
    data = sent.pop("data", json.dumps(TRACE).encode())
    assert post(listener.server_address[1], data, **sent)[0] == status
    assert listener.n == 0 and len(listener.notes) == 1 and listener.spool.read_bytes() == b""


def test_the_file_is_bounded_and_what_is_in_it_stays(listener, monkeypatch):
    port, data = listener.server_address[1], json.dumps(TRACE).encode()
    assert post(port, data)[0] == 200
    kept = listener.spool.read_bytes()
    monkeypatch.setattr(listen, "MOST_KEPT_BYTES", len(kept) + 10)
    assert post(port, data)[0] == 507 and listener.spool.read_bytes() == kept


@pytest.mark.parametrize(
    "address", ["0.0.0.0:4318", "192.168.0.1:1", "example.com", "::", "[::]:5", "127.0.0.1:x", "127.0.0.1:99999", ""]
)
def test_other_hosts_cannot_reach_it(tmp_path: Path, address: str):
    with pytest.raises(InputError, match="is no address of this machine alone; give HOST:PORT on loopback"):
        listen.Listener(address, tmp_path / "spool")


def listening(tmp_path: Path) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "ragassay", "import", "--listen", "127.0.0.1:0", "--out", str(tmp_path / "made")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = process.stdout.readline()
    assert f"ragassay import --from otlp {tmp_path}/made.otlp.jsonl --out {tmp_path}/made" in said
    return process, int(said.split("/v1/traces")[0].rpartition(":")[2])


def test_ctrl_c_makes_the_folder_and_a_kill_loses_nothing(tmp_path: Path, capsys):
    process, port = listening(tmp_path)
    assert post(port, json.dumps(TRACE).encode())[0] == 200
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "made").exists()
    arguments = ["import", "--listen", "127.0.0.1:0", "--out", str(tmp_path / "made")]
    assert main(arguments) == 2 and "made.otlp.jsonl: is there already; import it with" in capsys.readouterr().err
    (tmp_path / "made.otlp.jsonl").rename(tmp_path / "kept.jsonl")
    process, port = listening(tmp_path)
    assert post(port, json.dumps(TRACE).encode())[0] == 200
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "1 queries, 1 answers" in out
    assert main(["import", "--from", "otlp", str(tmp_path / "kept.jsonl"), "--out", str(tmp_path / "again")]) == 0
    for path in (tmp_path / "made").rglob("*.jsonl"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(tmp_path / "made")).read_bytes()


def test_an_application_that_sends_nothing_leaves_nothing(tmp_path: Path):
    process, _ = listening(tmp_path)
    process.send_signal(signal.SIGINT)
    assert "nothing came; have the application send OTLP" in process.communicate(timeout=60)[1]
    assert process.returncode == 2 and not list(tmp_path.iterdir())
