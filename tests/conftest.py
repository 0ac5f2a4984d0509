"""No test reaches the network: anything but loopback is refused, and hubs are told not to try."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.certificates import certificates_read_once
from support.often import CI
from support.opensearch_server import NO_SERVER, bench
from support.templates import templates_compiled_once

__all__ = ["bench", "certificates_read_once", "templates_compiled_once"]

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.pop("OPENAI_API_KEY", None)
os.environ.pop("ANTHROPIC_API_KEY", None)

# Where nothing compiled is kept, each worker and each process that a test starts compiles all of ragassay anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Six thousand tests and all of ragassay stay to the end: looking through them again and again is a third of the time
# that collecting takes.
gc.disable()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts what runs in the background so
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Neither an example's time nor that of drawing one says anything about the code where other work shares the cores.
# The examples are the same everywhere: what is drawn anew fails on another machine only.
ANYWHERE = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", ANYWHERE, max_examples=25)
settings.register_profile("ci", ANYWHERE, max_examples=100)
settings.load_profile("ci" if CI else "quick")

_connect = socket.socket.connect


def _only_loopback(self: socket.socket, address: Any) -> None:
    if isinstance(address, tuple) and address[0] not in {"127.0.0.1", "::1", "localhost"}:
        raise AssertionError(f"a test tried to reach {address}")
    _connect(self, address)


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    socket.socket.connect = _only_loopback  # type: ignore[method-assign]
    yield
    socket.socket.connect = _connect  # type: ignore[method-assign]


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Networks exported in tests are not left in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


EARLY = ("browser", "models", "demo")
"""Groups of tests that one worker runs, since what they share is long in coming; they go first, in this order."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several workers run the tests, a file is a group, unless it names another; a server has one worker.

    Whoever looks through the indexes of the server would meet those that another worker is making or removing.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            file = item.path.relative_to(Path(__file__).parent).with_suffix("").as_posix()
            item.add_marker(pytest.mark.xdist_group("opensearch" if file.startswith("retrieval/opensearch/") else file))
    items.sort(key=lambda item: (*EARLY, _group(item)).index(_group(item)))


def _group(item: pytest.Item) -> str:
    return next(mark.args[0] for mark in item.iter_markers("xdist_group"))


SLOW = pytest.StashKey[int]()


def pytest_deselected(items: list[pytest.Item]) -> None:
    if items:
        left = sum(item.get_closest_marker("slow") is not None for item in items)
        items[0].config.stash[SLOW] = items[0].config.stash.get(SLOW, 0) + left


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["slow"] = session.config.stash.get(SLOW, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[SLOW] = getattr(node, "workeroutput", {}).get("slow", 0)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many tests are left to CI, and which had no OpenSearch server."""
    if left := terminalreporter.config.stash.get(SLOW, 0):
        terminalreporter.write_line(f"{left} slow tests are left to CI; `make check` runs them too")
    skipped = terminalreporter.stats.get("skipped", [])
    without = [report.nodeid for report in skipped if NO_SERVER in str(report.longrepr)]
    if without:
        terminalreporter.section(f"{len(without)} tests had no OpenSearch server (see docs/opensearch.md)")
        for nodeid in without:
            terminalreporter.write_line(nodeid)
