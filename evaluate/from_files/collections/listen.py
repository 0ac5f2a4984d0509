"""OTLP over HTTP from an application on this machine: what comes is kept in a file, a request a line, before it is
acknowledged. `ragassay.layouts.telemetry` reads the file.

https://opentelemetry.io/docs/specs/otlp, "OTLP/HTTP".
"""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import zlib
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from ragassay.errors import InputError, MissingExtra
from ragassay.text import plain

ADDRESS = "127.0.0.1:4318"
"""Where OpenTelemetry's exporters send to unless they are told otherwise."""

PATH = "/v1/traces"
MOST_BYTES = 64_000_000
"""Of a request, as it comes and unpacked."""

MOST_KEPT_BYTES = 2_000_000_000
PROTOBUF, JSON = "application/x-protobuf", "application/json"
_PATIENCE_S = 10.0


def spool_of(out: Path) -> Path:
    """Where what arrives for the folder `out` is kept."""
    return out.with_name(f"{out.name}.otlp.jsonl")


class _Refused(Exception):
    """Why a request is not taken, and the status that says so; none is one that exporters try again."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Listener(ThreadingHTTPServer):
    """Takes `POST /v1/traces` on a loopback address and appends each request to `spool`, which must not be there yet.

    n: requests kept. notes: why others were refused, each once. Raises InputError for an address that others could
    reach or that cannot be had, and where the spool is there.
    """

    daemon_threads = False

    def __init__(self, address: str, spool: Path) -> None:
        host, port = _loopback(address)
        if spool.exists():
            remedy = (
                f"import it with `ragassay import --from otlp {plain(str(spool))} --out DIR`, or name another folder"
            )
            raise InputError("is there already", file=spool, remedy=remedy)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.spool, self.n, self.notes = spool, 0, dict[str, None]()
        self._lock = Lock()
        try:
            super().__init__((host, port), _Handler)
            spool.parent.mkdir(parents=True, exist_ok=True)
            self._file = spool.open("xb")
        except OSError as error:
            super().server_close()
            problem = f"cannot listen at {plain(address)} and write {plain(str(spool))} ({error.strerror or error})"
            raise InputError(problem, remedy="name another port with --listen, or another folder with --out") from None

    @property
    def address(self) -> str:
        """Where exporters send to."""
        host, port = self.server_address[:2]
        return f"http://{f'[{host!s}]' if ':' in str(host) else host!s}:{port}{PATH}"

    def keep(self, value: Mapping[str, Any]) -> None:
        """Append a request; it is on disk when this returns."""
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            if self._file.tell() + len(line) > MOST_KEPT_BYTES:
                raise _Refused(
                    HTTPStatus.INSUFFICIENT_STORAGE, f"{MOST_KEPT_BYTES / 1e9:g} GB are kept; stop and begin anew"
                )
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
            self.n += 1

    def server_close(self) -> None:
        """Wait for the requests that are being taken, and close the file; one with nothing in it goes."""
        super().server_close()
        if file := getattr(self, "_file", None):
            file.close()
            if not self.n:
                self.spool.unlink(missing_ok=True)


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    timeout = _PATIENCE_S

    def do_POST(self) -> None:
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        try:
            self.server.keep(self._request(kind))
            status, said = HTTPStatus.OK, "{}" if kind == JSON else ""
        except _Refused as refused:
            self.server.notes.setdefault(f"refused: {refused}")
            status, said = refused.status, str(refused)
        self.send_response(status)
        self.send_header("content-type", kind if status == HTTPStatus.OK else "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(said.encode())

    def _request(self, kind: str) -> Mapping[str, Any]:
        """What was sent. The name in `Host` and the kinds keep off pages of other sites that a browser shows here."""
        name = urlsplit(f"//{self.headers.get('host', '')}").hostname or ""
        if not _is_loopback(name) or urlsplit(self.path).path != PATH:
            raise _Refused(HTTPStatus.NOT_FOUND, f"only {PATH} of this machine is taken")
        if kind not in {PROTOBUF, JSON}:
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the kind is neither {PROTOBUF} nor {JSON}")
        length = self.headers.get("content-length", "")
        if not length.isdecimal():
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "the request does not say its length")
        if int(length) > MOST_BYTES:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request is longer than {MOST_BYTES / 1e6:g} MB")
        data = self.rfile.read(int(length))
        if len(data) < int(length):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a request was cut off")
        try:
            if self.headers.get("content-encoding", "identity").lower() == "gzip":
                data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                raise _Refused(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request unpacks to over {MOST_BYTES / 1e6:g} MB"
                )
            value = json.loads(data) if kind == JSON else _of_protobuf(data)
        except (ValueError, RecursionError, OSError, EOFError, zlib.error) as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, f"a request is no OTLP ({type(error).__name__})") from None
        if not isinstance(value, dict) or not isinstance(value.get("resourceSpans"), list):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a request has no resourceSpans")
        return value

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what is refused is said at the end."""


def _of_protobuf(data: bytes) -> Any:
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError:
        said = str(MissingExtra("OTLP as protobuf", "otlp"))
        raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"{said}, or have it sent as JSON") from None
    message = ExportTraceServiceRequest()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    return {"resourceSpans": [], **MessageToDict(message)}


def _is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _loopback(address: str) -> tuple[str, int]:
    """(host, port) of `HOST:PORT`, a host or a port. Raises InputError where others could reach it."""
    default = urlsplit(f"//{ADDRESS}")
    try:
        given = urlsplit(f"//{default.hostname}:{address}" if address.isdecimal() else f"//{address}")
        host, port = given.hostname or "", default.port if given.port is None else given.port
    except ValueError:
        host, port = "", None
    if port is None or not _is_loopback(host):
        remedy = f"give HOST:PORT on loopback, such as {ADDRESS}"
        raise InputError(f"'{plain(address)}' is no address of this machine alone", remedy=remedy)
    return ("127.0.0.1" if host == "localhost" else host), port
