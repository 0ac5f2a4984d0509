"""`ragassay model fetch` against a hub on loopback, through HF_ENDPOINT."""

from __future__ import annotations

import hashlib
import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.loopback.hub_server import COMMIT, HubServer

from ragassay.errors import InputError
from ragassay.models.local.fetch import fetch, fetched

NAME = "local:hf:someone/tiny-GGUF/tiny.Q4_0.gguf"
CONTENT = b"GGUF" + random.Random(1).randbytes(300_000)


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tests tell hubs not to try (HF_HUB_OFFLINE); these have a hub."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    with HubServer("someone/tiny-GGUF", {"tiny.Q4_0.gguf": CONTENT, "notes.gguf": b"<html>log in</html>"}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf home"))
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield server


def test_the_file_its_digest_and_the_progress(hub: HubServer, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = fetch(NAME, progress=lambda done, total: seen.append((done, total)))
    assert path == tmp_path / "hf home/ragassay/someone/tiny-GGUF/tiny.Q4_0.gguf"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    record = json.loads(path.with_name("tiny.Q4_0.gguf.json").read_text())
    assert record["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    assert (record["commit"], record["name"], record["endpoint"]) == (COMMIT, NAME, hub.endpoint)
    assert fetched(NAME) == path


def test_a_second_fetch_asks_nothing_of_the_network(hub: HubServer) -> None:
    path = fetch(NAME)
    hub.status = 500
    assert fetch(NAME) == path
    assert len(hub.ranges) == 1


def test_a_connection_that_is_cut_is_taken_up_within_the_fetch(hub: HubServer) -> None:
    chunk = 10 * 1024 * 1024  # huggingface_hub writes by such chunks
    hub.files = {"tiny.Q4_0.gguf": b"GGUF" + bytes(chunk + 200_000)}
    hub.cut_after = [chunk + 100_000]
    assert fetch(NAME).read_bytes() == hub.files["tiny.Q4_0.gguf"]
    assert hub.ranges == [None, f"bytes={chunk}-"]


def test_a_fetch_that_is_interrupted_is_taken_up_by_the_next(hub: HubServer, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    fetch_dir = tmp_path / "hf home/ragassay/someone/tiny-GGUF"
    part = fetch_dir / f"tiny.Q4_0.gguf.{COMMIT[:12]}.part"
    with pytest.raises(KeyboardInterrupt):
        fetch(NAME, progress=interrupt)
    part.write_bytes(CONTENT[:123_456])  # what kill -9 leaves: as much as had reached the disk
    with pytest.raises(InputError, match="has not been fetched"):
        fetched(NAME)

    seen: list[tuple[int, int]] = []
    path = fetch(NAME, progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert hub.ranges == [None, "bytes=123456-"]
    assert seen[0][0] > 123_456
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert not part.exists()


def test_a_hub_that_gives_no_part_of_a_file_gives_all_of_it(hub: HubServer) -> None:
    chunk = 10 * 1024 * 1024
    hub.files = {"tiny.Q4_0.gguf": b"GGUF" + random.Random(2).randbytes(chunk + 200_000)}
    hub.cut_after, hub.only_whole = [chunk + 100_000], True
    seen: list[tuple[int, int]] = []
    path = fetch(NAME, progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == hub.files["tiny.Q4_0.gguf"]
    assert hub.ranges == [None, f"bytes={chunk}-"]
    assert [done for done, _ in seen] == [chunk, chunk, path.stat().st_size]


def test_a_part_that_is_longer_than_the_file_is_not_taken_up(hub: HubServer, tmp_path: Path) -> None:
    part = tmp_path / f"hf home/ragassay/someone/tiny-GGUF/tiny.Q4_0.gguf.{COMMIT[:12]}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(len(CONTENT) + 1))
    assert fetch(NAME).read_bytes() == CONTENT
    assert hub.ranges == [None]


def test_what_arrives_damaged_is_refused_and_fetched_anew(hub: HubServer) -> None:
    hub.damaged = True
    with pytest.raises(InputError, match="arrived damaged"):
        fetch(NAME)
    hub.damaged = False
    assert fetch(NAME).read_bytes() == CONTENT
    assert hub.ranges == [None, None]


def test_a_file_changed_since_is_noticed_and_fetched_again(hub: HubServer) -> None:
    path = fetch(NAME)
    path.write_bytes(b"GGUF other")
    with pytest.raises(InputError, match="is not the file that was fetched"):
        fetched(NAME)
    assert fetch(NAME).read_bytes() == CONTENT


def test_what_is_not_gguf_is_refused(hub: HubServer) -> None:
    with pytest.raises(InputError, match="is not a GGUF file"):
        fetch("local:hf:someone/tiny-GGUF/notes.gguf")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("local:hf:someone/tiny-GGUF/other.gguf", "the hub has no"),
        ("local:hf:someone/else/tiny.gguf", "the hub has no"),
    ],
)
def test_what_the_hub_does_not_have(hub: HubServer, name: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        fetch(name)
    assert "\n" not in str(caught.value)


def test_a_gated_repository(hub: HubServer) -> None:
    hub.gated = True
    with pytest.raises(InputError, match=r"accepted its terms.*HF_TOKEN"):
        fetch(NAME)


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_hub_that_answers_with_an_error(hub: HubServer, status: int) -> None:
    hub.status = status
    with pytest.raises(InputError, match="the hub ") as caught:
        fetch(NAME)
    assert "\n" not in str(caught.value)


def test_a_hub_that_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(InputError, match="cannot be reached"):
        fetch(NAME)


@pytest.mark.parametrize(
    "name",
    [
        "local:hf:tiny.gguf",
        "local:hf:someone/tiny.gguf",
        "local:hf:someone/tiny/model.bin",
        "local:hf:someone/tiny/../../x.gguf",
        "local:hf:../tiny/x.gguf",
        "local:hf:some one/tiny/x.gguf",
        "openai:gpt-4o",
    ],
)
def test_names_that_name_no_file_on_the_hub(name: str) -> None:
    with pytest.raises(InputError, match="names no model on the hub"):
        fetch(name)


def test_a_folder_that_cannot_be_written_to(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"cannot be written there \(Not a directory\)"):
        fetch(NAME)


def test_a_damaged_record_counts_as_none(hub: HubServer) -> None:
    path = fetch(NAME)
    path.with_name("tiny.Q4_0.gguf.json").write_text('{"name":')
    with pytest.raises(InputError, match="has not been fetched"):
        fetched(NAME)
    assert fetch(NAME) == path
    assert fetched(NAME) == path
