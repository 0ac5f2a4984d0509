"""Folders at addresses such as `s3://bucket/corpora/mine`: mirrored below the user's cache, and written back.

Stages work on plain files. A folder elsewhere is copied into a mirror on this machine before they start, and after
each stage what has changed goes back, each file whole, a stage's manifest after the files it speaks of. A run that is
killed leaves what it had in the mirror, and the next run on this machine goes on from there; on another machine it
goes on from the last stage that ended. fsspec speaks to the storage; credentials are found as its own tools find them.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from ..errors import InputError, MissingExtra
from ..files import read_json, user_cache, write_json
from ..text import plain

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://.", re.IGNORECASE)
_PASSWORD = re.compile(r"://([^/@:\s]*):[^@\s]*@")


@dataclass(frozen=True)
class Address:
    """Where a folder is: `scheme://…`, without a slash at the end. As text, without the password that it may hold."""

    url: str

    def __str__(self) -> str:
        return without_passwords(self.url)


def address(text: str) -> Address | None:
    """`text` as an address, None where it is a path."""
    return Address(text.rstrip("/")) if _ADDRESS.match(text) else None


def without_passwords(text: str) -> str:
    """`text`, which may be an address or hold some, to be shown: `ftp://me:…@host/folder`."""
    return _PASSWORD.sub(r"://\1:…@", text)


def tells(url: str) -> str | None:
    """What in the address of a server may be a secret and would come into records and errors, None without any."""
    if "@" in url:
        return "a login"
    return 'a query ("?…"), which may be a key' if "?" in url or "#" in url else None


def is_server(text: str) -> bool:
    """Whether `text` is the address of an HTTP server: a scheme, a host, and a port in range if there is one."""
    try:
        parts = urlsplit(text)
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return whole and text.isprintable() and " " not in text


_WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "memory"}
"""Storages that show a file only when all of it is there; elsewhere it is written beside and moved."""

_CONTENT = ("ETag", "etag", "md5Hash", "content_md5", "generation")
_VERSIONS = (*_CONTENT, "mtime", "LastModified", "last_modified", "created")
"""What a storage may say of a file that changes when it does."""
_LOCK = ".lock"


class Mirror:
    """The folder at `address` and its copy on this machine, `folder`; `url` is to be shown.

    Raises InputError, MissingExtra.
    """

    def __init__(self, where: Address) -> None:
        self.url = str(where)
        self._files, self._root = _storage(where)
        self._home = user_cache() / "ragassay" / "remote" / hashlib.sha256(where.url.encode()).hexdigest()[:16]
        self.folder = self._home / (re.sub(r"[^\w.-]+", "-", where.url.rpartition("/")[2]).strip("-.") or "folder")

    def pull(self) -> None:
        """Bring the copy up to date. What has changed on this machine alone is kept for the next `push`.

        Raises InputError where a file has changed here and there, or the storage cannot be used.
        """
        with self._exclusive(), self._speaking():
            state = self._state()
            self._files.invalidate_cache()
            found = self._files.find(self._root, detail=True) if self._files.exists(self._root) else {}
            names = {path.removeprefix(self._root).lstrip("/"): info for path, info in found.items()}
            there = {name: _version(info) for name, info in names.items() if _is_ours(name)}
            for name in sorted(state.keys() | there.keys()):
                self._pull_one(name, state, there.get(name))
            self._keep(state)

    def push(self) -> None:
        """Write what has changed on this machine back, and remove there what was removed here."""
        with self._exclusive(), self._speaking():
            paths = (path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink())
            marks = {path.relative_to(self.folder).as_posix(): _mark(path) for path in paths}
            here = {name: mark for name, mark in marks.items() if mark is not None and _is_ours(name)}
            state = self._state()
            for name in sorted(state.keys() - here.keys(), key=_manifests_first):
                self._remove(name)
                del state[name]
            for name in sorted(here, key=_manifests_first, reverse=True):
                if name not in state or state[name]["here"] != here[name]:
                    self._write(name, self.folder / name)
                    self._files.invalidate_cache()
                    there = _version(self._files.info(f"{self._root}/{name}"))
                    state[name] = {"here": here[name], "there": there}
                    self._keep(state)
            self._keep(state)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold a lock file there, so that a run on another machine does not write into the folder as well.

        The storage gives no better: two that start within the same second may both see no lock, and the one that
        finds another's afterwards stops. Raises InputError where another run holds it.
        """
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        mine = {"host": socket.gethostname(), "pid": os.getpid(), "token": uuid.uuid4().hex, "since": since}
        with self._speaking():
            held = self._lock()
            if held is not None and not _is_dead(held):
                raise self._held_by(held)
            self._write(_LOCK, json.dumps(mine).encode())
            if (held := self._lock()) != mine:
                raise self._held_by(held or {})
        try:
            yield
        finally:
            with self._speaking():
                if self._lock() == mine:
                    self._remove(_LOCK)

    def _pull_one(self, name: str, state: dict[str, Any], there: str | None) -> None:
        known, path = state.get(name), self.folder / name
        here = _mark(path)
        changed_there = there != (known["there"] if known else None)
        changed_here = here is not None and here != (known["here"] if known else None)
        if changed_here and changed_there and there is not None:
            problem = f"has changed here, in {self.folder}, and there since they were the same"
            remedy = f"remove {path} to take what is there, or the file there to keep yours"
            raise InputError(problem, file=f"{self.url}/{name}", remedy=remedy)
        if there is not None and (changed_there or here is None):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.name}.{os.getpid()}.part")
            try:
                self._files.get_file(f"{self._root}/{name}", str(part))
                os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
            state[name] = {"here": _mark(path), "there": there}
        elif there is None and known:
            if not changed_here:
                path.unlink(missing_ok=True)
            del state[name]

    def _write(self, name: str, content: Path | bytes) -> None:
        target = f"{self._root}/{name}"
        schemes = self._files.protocol
        whole = bool(_WHOLE & ({schemes} if isinstance(schemes, str) else set(schemes)))
        parent, _, last = target.rpartition("/")
        place = target if whole else f"{parent}/.{last}.part"
        if not whole:
            self._files.makedirs(parent, exist_ok=True)
        if isinstance(content, bytes):
            self._files.pipe_file(place, content)
        else:
            self._files.put_file(str(content), place)
        if not whole:
            self._files.mv(place, target)

    def _remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(f"{self._root}/{name}")

    def _lock(self) -> dict[str, Any] | None:
        self._files.invalidate_cache()
        try:
            held = json.loads(self._files.cat_file(f"{self._root}/{_LOCK}"))
        except FileNotFoundError:
            return None
        except ValueError:
            return {}
        return held if isinstance(held, dict) else {}

    def _held_by(self, held: Mapping[str, Any]) -> InputError:
        who = ", ".join(f"{key} {held[key]}" for key in ("host", "pid", "since") if key in held) or "unknown"
        remedy = f"wait for it, or remove {self.url}/{_LOCK} if it is no longer running"
        return InputError(plain(f"another run is writing here ({who})"), file=self.url, remedy=remedy)

    def _state(self) -> dict[str, Any]:
        path = self._home / "state.json"
        state: dict[str, Any] = read_json(path) if path.exists() else {}
        return state

    def _keep(self, state: Mapping[str, Any]) -> None:
        write_json(self._home / "state.json", state)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """One process of this machine at a time copies."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self._home / "lock").open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """One sentence for whatever the storage says; each has exceptions of its own."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            said = plain(without_passwords(str(error)).strip().split("\n")[0][:200] or type(error).__name__)
            raise InputError(f"cannot be used ({said})", file=self.url, remedy="mend this and run again") from error


def _storage(where: Address) -> tuple[Any, str]:
    """fsspec's file system for an address, and the folder's path in it."""
    scheme, url = where.url.partition("://")[0], str(where)
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(where.url)
    except ImportError as error:
        if scheme in {"s3", "s3a"} or error.name == "fsspec":
            raise MissingExtra(f"{scheme}://", "remote") from None
        raise InputError(plain(str(error)), file=url) from None
    except ValueError as error:
        said = plain(without_passwords(str(error)))
        raise InputError(said, file=url, remedy="give an address that fsspec knows, or a path") from None
    except OSError as error:
        raise InputError(f"cannot be used ({plain(str(error))})", file=url, remedy="mend this and run again") from None
    return files, str(root).rstrip("/")


def _version(info: Mapping[str, Any]) -> str:
    """What changes when a file there does: its size and all that the storage says of its content or time."""
    return " ".join([str(info.get("size")), *(f"{key}={info[key]}" for key in _VERSIONS if info.get(key))])


def _mark(path: Path) -> list[int] | None:
    """Size and time of a file on this machine, None where there is none."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return [state.st_size, state.st_mtime_ns]


def _is_ours(name: str) -> bool:
    """Not a lock, an unfinished file, or a name that would lead out of the folder."""
    parts = PurePosixPath(name).parts
    hidden = bool(parts) and parts[-1].startswith(".")
    return bool(parts) and not hidden and not name.endswith("/") and ".." not in parts and not name.startswith("/")


def _manifests_first(name: str) -> tuple[bool, str]:
    return not name.startswith("manifests/"), name


def _is_dead(held: Mapping[str, Any]) -> bool:
    """Whether the lock was left by a process of this machine that is no more."""
    if held.get("host") != socket.gethostname() or not isinstance(held.get("pid"), int):
        return False
    try:
        os.kill(held["pid"], 0)
    except OSError as error:  # of another user's process, that it may not be asked
        return isinstance(error, ProcessLookupError)
    return False
