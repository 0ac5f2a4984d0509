"""`ragassay model fetch`: GGUF files from the Hugging Face hub, resumed where they stopped, with their SHA-256 kept.

A file lies in HF_HOME/ragassay/OWNER/REPO/, beside it `FILE.gguf.json` (a `Fetched`) and, until it is whole,
`FILE.gguf.COMMIT.part`. huggingface_hub's own hf_hub_download begins anew in each process (seen with 2.4), so only its
parts are used here: addresses, headers, the file's metadata, requests and their errors.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic import ValidationError

from ...errors import InputError, MissingExtra
from ...files import digest_file, naming, read_json, user_cache, write_json
from ...records import Record
from ...text import plain

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all) while a file arrives."""

_PART = r"[A-Za-z0-9._-]*[A-Za-z0-9_-]"
_NAME = re.compile(rf"local:hf:({_PART}/{_PART})/((?:{_PART}/)*{_PART}\.gguf)", re.IGNORECASE)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_RETRIES, _PAUSE_S = 5, 1.0


class Fetched(Record):
    """The record beside a fetched file. `size` in bytes; `size` and `mtime_ns` show later that it is still the same."""

    name: str
    endpoint: str
    commit: str
    sha256: str
    size: int
    mtime_ns: int


class _Remote(NamedTuple):
    """What the hub says of a file; `sha256` where its etag is one (large files)."""

    url: str
    endpoint: str
    commit: str
    size: int
    sha256: str | None


def fetch(name: str, *, progress: Progress | None = None) -> Path:
    """Fetch `local:hf:OWNER/REPO/FILE.gguf` and return where it lies. Nothing is asked of the network if it is there.

    Takes up what an interrupted fetch left. Raises MissingExtra without huggingface_hub; InputError where the hub
    cannot be reached, does not have the file, or does not give it, and where what arrived is damaged or not GGUF.
    """
    path = _path(name)
    if (record := _record(path)) and _unchanged(path, record):
        return path
    try:
        import filelock
        import huggingface_hub  # noqa: F401
    except ImportError:
        raise MissingExtra("fetching models", "local") from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(path.with_name(f".{path.name}.lock"), timeout=0):
            return _fetch(name, path, progress)
    except filelock.Timeout:
        raise InputError(f"{name} is being fetched by another process", remedy="wait for it") from None
    except OSError as error:
        raise InputError(f"{name} cannot be written there ({error.strerror})", file=path) from None


def fetched(name: str) -> Path:
    """Where a model fetched before lies. Raises InputError where it was not fetched, or changed since."""
    path = _path(name)
    record = _record(path)
    again = f"run `ragassay model fetch {name}`"
    if record is None:
        raise InputError(f"{name} has not been fetched", remedy=again)
    if not _unchanged(path, record):
        raise InputError(f"{name} is not the file that was fetched", file=path, remedy=f"{again} again")
    return path


def _path(name: str) -> Path:
    match = _NAME.fullmatch(name)
    if not match or ".." in name:
        raise InputError(f"'{plain(name)}' names no model on the hub", remedy="give local:hf:OWNER/REPO/FILE.gguf")
    home = Path(os.environ.get("HF_HOME") or user_cache() / "huggingface").expanduser()
    return home / "ragassay" / match[1] / match[2]


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _record(path: Path) -> Fetched | None:
    """The record beside `path`; None where there is none that can be read, as if nothing had been fetched."""
    beside = _record_path(path)
    try:
        return Fetched.model_validate(read_json(beside)) if beside.is_file() else None
    except (InputError, ValidationError):
        return None


def _unchanged(path: Path, record: Fetched) -> bool:
    state = path.stat() if path.is_file() else None
    return state is not None and (state.st_size, state.st_mtime_ns) == (record.size, record.mtime_ns)


def _fetch(name: str, path: Path, progress: Progress | None) -> Path:
    remote = _at_hub(name, lambda: _look_up(name))
    part = path.with_name(f"{path.name}.{remote.commit[:12]}.part")
    with naming(part), part.open("ab") as stream:
        if stream.tell() > remote.size:
            _empty(stream)
        _at_hub(name, lambda: _download(remote, stream, progress))
    sha256 = _checked(name, part, remote)
    os.replace(part, path)
    state = path.stat()
    record = Fetched(
        name=name,
        endpoint=remote.endpoint,
        commit=remote.commit,
        sha256=sha256,
        size=state.st_size,
        mtime_ns=state.st_mtime_ns,
    )
    write_json(_record_path(path), record.dump())
    return path


def _look_up(name: str) -> _Remote:
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url

    match = _NAME.fullmatch(name)
    assert match is not None
    endpoint = (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")
    found = get_hf_file_metadata(hf_hub_url(match[1], match[2], endpoint=endpoint), endpoint=endpoint)
    if found.commit_hash is None or found.size is None:
        raise InputError(f"{endpoint} does not answer as a Hugging Face hub does", remedy="check HF_ENDPOINT")
    url = hf_hub_url(match[1], match[2], revision=found.commit_hash, endpoint=endpoint)
    sha256 = found.etag if found.etag and _SHA256.fullmatch(found.etag) else None
    return _Remote(url, endpoint, found.commit_hash, found.size, sha256)


def _download(remote: _Remote, stream: IO[bytes], progress: Progress | None) -> None:
    """Append to `stream` what is missing. Short breaks are bridged: 5 more tries, counted anew when bytes arrive."""
    import httpx2

    left = _RETRIES
    while (before := stream.tell()) < remote.size:
        try:
            _take(remote, stream, progress)
        except (httpx2.ConnectError, httpx2.TimeoutException, httpx2.RemoteProtocolError):
            left = _RETRIES if stream.tell() > before else left
            if not left:
                raise
            left -= 1
            time.sleep(_PAUSE_S)
        else:
            break
    if stream.tell() != remote.size:
        raise OSError(f"{stream.tell()} bytes came in place of {remote.size}")


def _take(remote: _Remote, stream: IO[bytes], progress: Progress | None) -> None:
    """One download from where `stream` ends; from the start where the server does not give a part of a file."""
    from huggingface_hub import constants
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, http_stream_backoff

    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    if stream.tell():
        headers["Range"] = f"bytes={stream.tell()}-"
    with http_stream_backoff(
        "GET",
        remote.url,
        headers=headers,
        timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT,
        retry_on_exceptions=(),
        retry_on_status_codes=(408, 429),
    ) as response:
        hf_raise_for_status(response)
        if response.status_code == 200:
            _empty(stream)
        for chunk in response.iter_bytes(constants.DOWNLOAD_CHUNK_SIZE):
            stream.write(chunk)
            if progress:
                progress(stream.tell(), remote.size)


def _empty(stream: IO[bytes]) -> None:
    stream.seek(0)
    stream.truncate()


def _checked(name: str, part: Path, remote: _Remote) -> str:
    """The SHA-256 of a whole file. Raises InputError, and drops the file, where it is not what the hub has."""
    sha256 = digest_file(part)
    with part.open("rb") as stream:
        magic = stream.read(4)
    if remote.sha256 not in {None, sha256}:
        problem = f"{name} arrived damaged (its SHA-256 is not the hub's)"
    elif magic != b"GGUF":
        problem = f"{name} is not a GGUF file"
    else:
        return sha256
    part.unlink()
    raise InputError(problem, remedy="fetch it again, or name another file")


def _at_hub(name: str, step: Callable[[], Any]) -> Any:
    """Run a step that talks to the hub; its failures become InputErrors of one sentence."""
    import httpx2
    from huggingface_hub import errors

    again = f"run `ragassay model fetch {name}` again: it goes on where it stopped"
    try:
        return step()
    except errors.GatedRepoError:
        remedy = "accept them on the model's page and set HF_TOKEN"
        raise InputError(f"the hub gives {name} only to those who accepted its terms", remedy=remedy) from None
    except (errors.RepositoryNotFoundError, errors.RemoteEntryNotFoundError, errors.RevisionNotFoundError):
        raise InputError(f"the hub has no {name}", remedy="check the name (or set HF_TOKEN if it is private)") from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        remedy = "set HF_TOKEN to a token that may read it" if status in {401, 403} else again
        raise InputError(f"the hub does not give {name} (status {status})", remedy=remedy) from None
    except (httpx2.HTTPError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        said = plain(" ".join(str(error).split()))[:200] or type(error).__name__
        raise InputError(f"the hub cannot be reached or broke off ({said})", remedy=again) from None
