"""CPU-bound stages on a Dask cluster of two worker processes, one of which is killed while it works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import digest_encoder
from support.pdf_maker import break_page, make_pdf
from support.places import ROOT
from support.small_corpus import contents, edit, make_corpus

from ragassay.cli import main
from ragassay.cores import Cores, Helpers, beside
from ragassay.errors import InputError
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text

PAGES = [f"This is page {n} of a long document.\nWrite {n * 31} to register R{n} and wait." for n in range(1, 145)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    """A piece of work that has brought down two workers is given to no third."""
    import dask
    from distributed import LocalCluster

    address = {"dashboard_address": ":0", "host": "127.0.0.1"}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **address) as cluster,
    ):
        yield cluster


@pytest.fixture
def killer(cluster) -> Callable[[int, int], None]:
    """A `progress` that ends one worker process with -9 when the first piece of work is done; `killed` names it."""
    from distributed import Client

    def progress(done: int, total: int) -> None:
        if not progress.killed:
            assert done < total, "nothing is left to be lost"
            with Client(cluster.scheduler_address, set_as_default=False) as client:
                progress.killed += [next(iter(client.run(os.getpid).values()))]
            os.kill(progress.killed[0], signal.SIGKILL)

    progress.killed = []
    return progress


def test_embedding_gives_the_same_bytes_though_a_worker_is_killed(tmp_path: Path, cluster, killer) -> None:
    texts = [Text("passage", f"number {n % 6000}") for n in range(7000)] + [Text("query", "number 7")]
    cores = Cores("dask", cluster.scheduler_address)
    here, there = (EmbeddingCache("digest", tmp_path / name) for name in ("here", "there"))
    expected = Embedder("digest", here, digest_encoder.load).vectors(texts)
    found = Embedder("digest", there, digest_encoder.load, killer, cores).vectors(texts)
    assert killer.killed
    assert found.tobytes() == expected.tobytes()
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_documents_are_read_on_the_cluster_of_the_experiment_to_the_same_bytes(tmp_path: Path, cluster) -> None:
    corpus = make_corpus(tmp_path / "corpus", "file:m")
    break_page(make_pdf(corpus / "long.pdf", PAGES), 50)
    (corpus / "no document.pdf").write_text("prose")
    toml = corpus / "experiment.toml"
    assert main(["ingest", str(corpus), "--results", str(tmp_path / "here")]) == 5
    run = f'[run]\nbackend = "dask"\nscheduler = "{cluster.scheduler_address}"'
    toml.write_text(toml.read_text().replace("[run]", run))
    assert main(["ingest", str(corpus), "--results", str(tmp_path / "there")]) == 5
    there, here = contents(tmp_path / "there"), contents(tmp_path / "here")
    assert [name for name in here if there.get(name) != here[name]] == [] == sorted(there.keys() - here.keys())


def test_what_a_piece_of_work_raises_is_raised_here(cluster) -> None:
    cores = Cores("dask", cluster.scheduler_address)
    with pytest.raises(ValueError, match="invalid literal"):
        dict(cores.each(int, ["1", "x"]))
    assert dict(cores.each(int, ["1", "2"])) == {0: 1, 1: 2}


def test_work_that_brings_down_every_worker_ends_in_one_sentence(cluster) -> None:
    with pytest.raises(InputError, match=r"lost every worker that was given one piece of the work; give its workers"):
        list(Cores("dask", cluster.scheduler_address).each(ends_another_process_than(os.getpid()), [1]))


def ends_another_process_than(ours: int) -> Callable[[int], None]:
    def end(status: int) -> None:
        assert os.getpid() != ours, "the tests would end"
        os._exit(status)

    return end


@pytest.mark.parametrize("here", ["processes", "threads", "one"])
def test_on_this_machine(here) -> None:
    assert dict(Cores().each(int, (str(n) for n in range(5)), here, n_jobs=2)) == {n: n for n in range(5)}
    assert list(Cores().each(int, [], here)) == []


def test_one_piece_after_the_other_is_done_as_it_is_asked_for() -> None:
    done: list[int] = []
    results = Cores().each(done.append, range(100), "one")
    next(results)
    assert len(done) < 5
    results.close()


@pytest.mark.parametrize("address", ["nonsense", "http://127.0.0.1:9200", "tcp://127.0.0.1:abc"])
def test_an_address_that_is_none_is_said_without_waiting_for_it(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def client(*given: object, **settings: object) -> None:
        raise AssertionError("a Client that fails is closed for 20 s, and a traceback follows")

    monkeypatch.setattr("distributed.Client", client)
    with pytest.raises(InputError, match=rf"dask cluster at '{address}' cannot be reached"):
        list(Cores("dask", address).each(str, [1]))


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragassay.cores._SECONDS_TO_CONNECT", 0.2)
    with pytest.raises(InputError, match=r"dask cluster at 'tcp://127\.0\.0\.1:1' cannot be reached .*run\.scheduler"):
        list(Cores("dask", "tcp://127.0.0.1:1").each(int, ["1"]))


def test_a_cluster_without_workers() -> None:
    from distributed import LocalCluster

    said = pytest.raises(InputError, match="has no workers")
    with LocalCluster(n_workers=0, dashboard_address=":0", host="127.0.0.1") as empty, said:
        list(Cores("dask", empty.scheduler_address).each(int, ["1"]))


@pytest.mark.parametrize(("backend", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_an_extra_that_is_not_installed_is_named(backend, package, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=f"needs the extra '{backend}'; install it with .*ragassay\\[{backend}\\]"):
        list(Cores(backend, "tcp://127.0.0.1:1").each(int, ["1"]))


@pytest.mark.parametrize(
    ("lines", "said"),
    [('backend = "dask"', "needs scheduler"), ('scheduler = "x"', "goes with backend"), ('backend = "slurm"', "loky")],
)
def test_settings_that_do_not_go_together(tmp_path: Path, lines: str, said: str, capsys) -> None:
    corpus = make_corpus(tmp_path / "corpus", "file:m")
    edit(corpus, "[run]", f"[run]\n{lines}")
    assert main(["ingest", str(corpus), "--results", str(tmp_path / "results")]) == 2
    assert said in capsys.readouterr().err


def test_what_is_done_beside_raises_where_it_is_asked_for():
    waited = beside(lambda: int("no number"))
    assert beside(lambda: 7)() == 7
    with pytest.raises(ValueError, match="no number"):
        waited()


def test_helpers_are_other_processes_where_they_are_wanted():
    with Helpers(True) as helpers:
        there, bad = helpers.start(os.getpid), helpers.start(int, "no number")
        assert there() != os.getpid()
        assert helpers.each(abs, iter(range(-9, 3))) == [abs(n) for n in range(-9, 3)]
        with pytest.raises(ValueError, match="no number"):
            bad()
        assert helpers.beside(lambda: helpers.each(abs, [-1]))() == [1]
    with Helpers(False) as none:
        assert none.start(os.getpid)() == none.beside(os.getpid)() == os.getpid()


def started(code: str) -> subprocess.Popen[str]:
    """A program in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def gone(group: int, within_s: float = 20) -> bool:
    """Whether no process of a group lives any more, or will soon."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


HELPED = """
import os, signal, time
from multiprocessing.process import BaseProcess
from ragassay.cores import Helpers
"""


def test_an_interrupt_ends_helpers_with_the_process_that_they_help():
    asked = "    print(helpers.start(os.getpid)(), flush=True)\n    helpers.start(time.sleep, 600)()\n"
    process = started(f"{HELPED}with Helpers(True) as helpers:\n{asked}")
    assert process.stdout
    helper = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(helper, 0)


def test_an_interrupt_while_helpers_start_ends_them_too():
    """The first one is up and the next ones are not, as where a machine is busy."""
    interrupted = """
start = BaseProcess.start
def begin(self):
    start(self)
    BaseProcess.start = start
    time.sleep(2)
    print("begun", flush=True)
    os.killpg(0, signal.SIGINT)
BaseProcess.start = begin
"""
    asked = "    helpers.start(time.sleep, 600)()\n"
    process = started(f"{HELPED}{interrupted}with Helpers(True) as helpers:\n{asked}")
    assert process.stdout and process.stdout.readline() == "begun\n"
    assert process.wait(30) == -signal.SIGINT
    assert gone(process.pid)


def test_an_interrupt_held_back_is_answered_as_ever():
    code = """
def told(*_):
    print("told", flush=True)
signal.signal(signal.SIGINT, told)
start = BaseProcess.start
def begin(self):
    BaseProcess.start = start
    os.kill(os.getpid(), signal.SIGINT)
    print("begun", flush=True)
    start(self)
BaseProcess.start = begin
with Helpers(True) as helpers:
    print(helpers.start(abs, -7)(), flush=True)
assert signal.getsignal(signal.SIGINT) is told
"""
    process = started(HELPED + code)
    said = process.communicate(timeout=60)[0].split()
    assert (process.returncode, said) == (0, ["begun", "told", "7"])
