"""A user's own retriever: what it gives becomes rankings, and what it does wrong is one query's failure."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from langchain_core.documents import Document

from ragassay.errors import InputError
from ragassay.retrieval.agents.own_agents import source_problem
from ragassay.retrieval.agents.python_agent import PythonRanker
from ragassay.retrieval.agents.worker import load_system, own_ranking
from ragassay.retrieval.rankers.ranker import Failed, QueriesFailed

IDS = frozenset(f"p{number}" for number in range(9))

FUNCTION = """
    def search(query, k):
        if query == "raises":
            raise RuntimeError("no index")
        if query == "hangs":
            import time
            time.sleep(60)
        if query == "dies":
            import os
            os._exit(3)
        if query == "unknown":
            return ["p1", "p99"]
        if query == "scored":
            return [("p3", 2.5), ("p2", 1), ("p1", 1)]
        return [f"p{number}" for number in range(8)][:k]
"""

RETRIEVER = """
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Ours(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            found = [("p4", 0.9), ("p2", 0.5), ("p4", 0.4), ("p1", 0.1)]
            return [Document(page_content=query, metadata={"id": i, "score": s}) for i, s in found]

    ours = Ours()
"""


@pytest.fixture
def ranker(tmp_path: Path):
    made: list[PythonRanker] = []

    def make(code: str, name: str = "search", timeout_s: float = 60) -> PythonRanker:
        (tmp_path / "own_code.py").write_text(textwrap.dedent(code))
        made.append(PythonRanker("ours", f"own_code:{name}", tmp_path, IDS, at_once=4, timeout_s=timeout_s))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_function_ranks_and_fails_for_single_queries(ranker) -> None:
    queries = ["any", "raises", "scored", "unknown", "dies", "hangs"]
    with pytest.raises(QueriesFailed) as raised:
        ranker(FUNCTION, timeout_s=3).search(queries, 2)
    found = dict(zip(queries, raised.value.found, strict=True))
    assert found["any"] == [("p0", 1.0), ("p1", 0.5)]
    assert found["scored"] == [("p3", 2.5), ("p2", 1.0)]
    assert found["raises"] == Failed("RuntimeError: no index")
    assert found["unknown"] == Failed("passage 'p99' is not in corpus.jsonl; name passages by their _id there")
    assert "the process ended with status 3" in found["dies"].error
    assert found["hangs"] == Failed("no answer within 3 s (timeout_s)")


def test_a_langchain_retriever_ranks_by_its_documents_ids(ranker) -> None:
    assert ranker(RETRIEVER, "ours").search(["any"], 3) == [[("p4", 0.9), ("p2", 0.5), ("p1", 0.1)]]


@pytest.mark.parametrize(
    ("code", "name", "says"),
    [
        ("def search(query): return []", "search", "cannot be called with a query's text and k alone"),
        ("async def search(query, k): return []", "search", "retriever 'ours': own_code:search is async"),
        (RETRIEVER, "Ours", "is not a function"),
        ("import no_such_package_here", "search", "retriever 'ours': the module own_code cannot be imported"),
    ],
)
def test_what_can_never_work_is_said_at_once(tmp_path: Path, monkeypatch, code: str, name: str, says: str) -> None:
    """As the process loads it, but here."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_code", raising=False)
    (tmp_path / "own_code.py").write_text(textwrap.dedent(code))
    with pytest.raises(InputError, match=says):
        load_system("ours", f"own_code:{name}", tmp_path, "retriever")
    sys.modules.pop("own_code", None)


def test_what_its_process_cannot_load_is_said_at_once(ranker) -> None:
    with pytest.raises(InputError, match=r"experiment\.toml: retriever 'ours': own_code:search is not a function"):
        ranker("search = 7")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("p1", "a list of passage ids"),
        (None, "not NoneType"),
        ([7], "not int"),
        ([("p1", "high")], "a score is a str"),
        ([("p1", True)], "a score is a bool"),
        ([(1, 0.5)], "a passage's id is 1"),
        ([("p1", float("nan"))], "not a finite number"),
        ([("p1", 0.1), ("p2", 0.9)], "the scores rise"),
        (["p1", ("p2", 0.9)], "some passages have a score"),
        ([Document(page_content="a")], "a passage's id is None"),
        ([""], "a passage's id is ''"),
    ],
)
def test_what_is_no_ranking_is_refused(given: object, says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        own_ranking(given, 5)


def test_what_the_source_tells_without_being_run(tmp_path: Path) -> None:
    (tmp_path / "own_code.py").write_text("def one(query): ...\ndef two(query, k): ...\ndef any(*given): ...\n")
    assert source_problem("own_code:one", tmp_path, 2) == "one cannot be called with a query's text and k alone"
    assert source_problem("own_code:two", tmp_path, 2) is None
    assert source_problem("own_code:any", tmp_path, 2) is None
    assert source_problem("own_code:two", tmp_path) == "two cannot be called with a query's text alone"
