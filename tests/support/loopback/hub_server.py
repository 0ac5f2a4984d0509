"""A Hugging Face hub on loopback: one repository's files, gated and broken where a test asks for it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HubServer:
    """Serves `files` (path in the repository to content) of `repo` on 127.0.0.1, as the hub resolves large files.

    `endpoint` is for HF_ENDPOINT. `cut_after` holds, for one download each, how many bytes are sent before the
    connection is cut; `status` answers everything with that status; `gated` as the hub does for a gated repository;
    `damaged` sends other bytes than the etag promises; `only_whole` sends the whole file whatever part is asked for;
    `ranges` keeps the Range header of each download.
    """

    def __init__(self, repo: str, files: Mapping[str, bytes]) -> None:
        self.repo, self.files = repo, files
        self.cut_after: list[int] = []
        self.ranges: list[str | None] = []
        self.status: int | None = None
        self.gated = self.damaged = self.only_whole = False
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads, self._http.block_on_close = True, False
        self._http.hub = self  # type: ignore[attr-defined]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    @property
    def hub(self) -> HubServer:
        return self.server.hub  # type: ignore[attr-defined, no-any-return]

    def do_HEAD(self) -> None:
        content = self._resolve()
        if content is not None:
            self._head(200, len(content), content)

    def do_GET(self) -> None:
        content = self._resolve()
        if content is None:
            return
        wanted = self.headers.get("Range")
        self.hub.ranges.append(wanted)
        wanted = None if self.hub.only_whole else wanted
        start = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted else 0
        body = (bytes(len(content)) if self.hub.damaged else content)[start:]
        self._head(206 if wanted else 200, len(body), content)
        keep = self.hub.cut_after.pop(0) if self.hub.cut_after else len(body)
        self.wfile.write(body[:keep])

    def _resolve(self) -> bytes | None:
        """The content that the path names, or None after an error was sent."""
        hub = self.hub
        if hub.status is not None:
            return self._refuse(hub.status, "")
        if hub.gated:
            return self._refuse(403, "GatedRepo")
        prefixes = [f"/{hub.repo}/resolve/{revision}/" for revision in ("main", COMMIT)]
        found = [self.path.removeprefix(prefix) for prefix in prefixes if self.path.startswith(prefix)]
        if not found:
            return self._refuse(401, "RepoNotFound")
        if found[0] not in hub.files:
            return self._refuse(404, "EntryNotFound")
        return hub.files[found[0]]

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _head(self, status: int, length: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(length))
        if status == 206:
            self.send_header("Content-Range", f"bytes {len(content) - length}-{len(content) - 1}/{len(content)}")
        self.end_headers()
