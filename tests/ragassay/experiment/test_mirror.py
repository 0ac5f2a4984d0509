"""Corpora and results at addresses: through the command line, in memory and in folders behind file://."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, contents, make_corpus

from ragassay.cli import main
from ragassay.experiment.mirror import address


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache; removing it is being on another machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A corpus at file://…/elsewhere/mine, whose results go beside it."""
    make_corpus(tmp_path / "elsewhere" / "mine", "file:m")
    return tmp_path / "elsewhere"


def ingest(elsewhere: Path) -> int:
    return main(["ingest", f"file://{elsewhere}/mine", "--results", f"file://{elsewhere}/results"])


def test_a_whole_run_in_memory_goes_on_from_there_on_another_machine(tmp_path: Path, cache: Path, capsys) -> None:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        memory.put(str(corpus), "/bucket/corpora/mine", recursive=True)
        command = ["run", "memory://bucket/corpora/mine", "--results", "memory://bucket/results/mine"]
        assert main(command) == 0
        assert "report: memory://bucket/results/mine/report.html" in capsys.readouterr().out
        asked = len(server.requests)
        there = {path: bytes(file.getvalue()) for path, file in memory.store.items()}
        names = {path.removeprefix("/bucket/results/mine/") for path in there if "/results/" in path}
        assert {"corpus.jsonl", "results.json", "report.html", "manifests/ingest.json"} <= names
        assert not [name for name in names if name.rpartition("/")[2].startswith(".")]
        shutil.rmtree(cache)
        assert main(command) == 0
        assert len(server.requests) == asked > 0
        assert capsys.readouterr().err.count("up to date") == 8
        assert {path: bytes(file.getvalue()) for path, file in memory.store.items()} == there
    assert main(["ingest", str(corpus), "--results", str(tmp_path / "here")]) == 0
    assert there["/bucket/results/mine/corpus.jsonl"] == (tmp_path / "here" / "corpus.jsonl").read_bytes()


def test_only_what_changed_is_written_and_nothing_is_there_in_part(elsewhere: Path, monkeypatch) -> None:
    written: list[str] = []
    put = LocalFileSystem.put_file

    def keep(self, local: str, remote: str, **options: object) -> None:
        written.append(Path(remote).name)
        put(self, local, remote, **options)

    monkeypatch.setattr(LocalFileSystem, "put_file", keep)
    assert ingest(elsewhere) == 0
    assert written[-1] == ".ingest.json.part" and len(written) == len(set(written)) == 7
    before = contents(elsewhere / "results")
    assert ingest(elsewhere) == 0
    assert len(written) == 7 and contents(elsewhere / "results") == before


def test_a_storage_that_fails_halfway_leaves_the_old_file_and_the_next_run_goes_on(
    elsewhere: Path, cache: Path, monkeypatch, capsys
) -> None:
    assert ingest(elsewhere) == 0
    before = contents(elsewhere / "results")
    toml = elsewhere / "mine" / "experiment.toml"
    toml.write_text(toml.read_text().replace("passage_words = 40", "passage_words = 30"))

    def fail(self, local: str, remote: str, **options: object) -> None:
        Path(remote).write_bytes(Path(local).read_bytes()[:10])
        raise OSError("the disk is full")

    with monkeypatch.context() as failing:
        failing.setattr(LocalFileSystem, "put_file", fail)
        assert ingest(elsewhere) == 2
    assert "cannot be used (the disk is full)" in capsys.readouterr().err
    after = {name: data for name, data in contents(elsewhere / "results").items() if not name.endswith(".part")}
    assert after == before
    shutil.rmtree(cache)
    assert ingest(elsewhere) == 0
    found = contents(elsewhere / "results")
    assert found["corpus.jsonl"] != before["corpus.jsonl"]
    assert found["manifests/ingest.json"] != before["manifests/ingest.json"]


@pytest.mark.parametrize(
    ("holder", "status"),
    [({"host": "another", "pid": 1}, 2), ({"host": socket.gethostname(), "pid": os.getpid()}, 2),
     ({"host": socket.gethostname(), "pid": 2**22 + 1}, 0), ("no JSON", 2)],
)  # fmt: skip
def test_a_lock_is_said_and_one_left_by_a_kill_here_is_taken_over(elsewhere: Path, holder, status, capsys) -> None:
    lock = elsewhere / "results" / ".lock"
    lock.parent.mkdir()
    lock.write_text(holder if isinstance(holder, str) else json.dumps(holder))
    assert ingest(elsewhere) == status
    assert ("another run is writing here" in capsys.readouterr().err) == bool(status)
    assert lock.exists() == bool(status)
    assert (elsewhere / "results" / "corpus.jsonl").exists() == (not status)


def test_a_file_that_changed_here_and_there_is_said(elsewhere: Path, cache: Path, capsys) -> None:
    assert ingest(elsewhere) == 0
    (mirrored,) = cache.rglob("results/corpus.jsonl")
    mirrored.write_text("here\n")
    (elsewhere / "results" / "corpus.jsonl").write_text("there, longer\n")
    assert ingest(elsewhere) == 2
    assert "has changed here" in capsys.readouterr().err
    mirrored.unlink()
    assert ingest(elsewhere) == 0


def test_what_was_removed_there_is_not_used(elsewhere: Path) -> None:
    assert ingest(elsewhere) == 0
    pages = (elsewhere / "results" / "pages.jsonl").read_text()
    (elsewhere / "mine" / "errata.pdf").unlink()
    assert ingest(elsewhere) == 0
    assert "errata" in pages and "errata" not in (elsewhere / "results" / "pages.jsonl").read_text()


def test_what_stands_in_the_cache_after_a_kill_is_used_and_written_back(elsewhere: Path, cache: Path) -> None:
    assert ingest(elsewhere) == 0
    (mirrored,) = cache.rglob("results/corpus.jsonl")
    (mirrored.parent / "replies").mkdir()
    (mirrored.parent / "replies" / "paid.jsonl").write_text("")
    assert ingest(elsewhere) == 0
    assert (elsewhere / "results" / "replies" / "paid.jsonl").exists()


def test_s3_without_its_package_names_the_extra(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    assert main(["run", "s3://bucket/corpora/mine", "--results", "s3://bucket/results/mine"]) == 2
    assert "s3:// needs the extra 'remote'; install it with" in capsys.readouterr().err


@pytest.mark.parametrize(("url", "said"), [("nowhere://x/y", "Protocol not known"), ("memory://none/at-all", "no exp")])
def test_an_address_that_leads_nowhere(url: str, said: str, capsys) -> None:
    assert main(["run", url]) == 2
    assert said in capsys.readouterr().err


def test_a_password_in_an_address_is_not_shown(capsys) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{nobody.getsockname()[1]}/mine"
        assert main(["run", f"ftp://me:pass-4711@{where}"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"ragassay: ftp://me:…@{where}: cannot be used (") and "pass-4711" not in said


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sftp://me:a/b?c@host:22/x", "sftp://me:…@host:22/x"),
        ("abfs://container@account.dfs.core.windows.net/x", "abfs://container@account.dfs.core.windows.net/x"),
        ("s3://bucket/x:y@z", "s3://bucket/x:y@z"),
    ],
)
def test_only_the_password_is_left_out(url: str, shown: str) -> None:
    assert str(address(url)) == shown


def test_other_verbs_say_that_they_take_paths(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["new", "s3://bucket/corpora/mine"])
    assert ended.value.code == 2
    assert "only an experiment's CORPUS and --results can be elsewhere" in capsys.readouterr().err


def test_a_name_that_leads_out_of_the_folder_is_left_alone(tmp_path: Path, cache: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    corpus = make_corpus(tmp_path / "mine", "file:m")
    memory.put(str(corpus), "/bucket/mine", recursive=True)
    memory.store["/bucket/mine/../../../escaped.pdf"] = memory.store["/bucket/mine/errata.pdf"]
    assert main(["ingest", "memory://bucket/mine"]) == 0
    assert not list(tmp_path.rglob("escaped.pdf"))
