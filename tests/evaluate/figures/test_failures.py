"""What failed is counted once, and where it happened: an answer is its agent's, a call of the judge is the judge's."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console
from support.results_folder import answer
from support.scripted_judge import CRITERIA, Scripted, fair, workspace

from ragassay.evaluate.compare import compare
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.evaluate.report.queries import query_views, read_evidence
from ragassay.evaluate.report.terminal import ranked_table
from ragassay.evaluate.results import Results
from ragassay.models.requests import Reply
from ragassay.workbench.index.build import build
from ragassay.workbench.index.read import Index

QUERIES = tuple(f"q{i}" for i in range(10))


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Ten queries, three agents; `ours` has no answer to q3, and the judge fails on what theirs says of q5."""
    answers = [
        answer(query, agent, None if (query, agent) == ("q3", "ours") else f"{agent} of {query}", f"p{place}")
        for query in QUERIES
        for place, agent in enumerate(("bm25-rag", "ours", "theirs"), 1)
    ]
    space = workspace(tmp_path_factory.mktemp("run"), answers, queries=QUERIES)

    def said(label, text):
        failing = label in ("pointwise", "games-first-b") and "theirs of q5" in text and "ours of q5" not in text
        return Reply(error="HTTP 500") if failing else fair(label, text)

    outcome = make_judgments(space, Scripted(said))
    compare(space)
    return space, Results.model_validate(json.loads(space.figures.read_text())), outcome


def test_an_answer_that_failed_is_one_failure_and_none_of_its_opponents(compared):
    _, results, outcome = compared
    assert results.failures.answers == {"bm25-rag": 0, "ours": 1, "theirs": 0}
    assert set(results.failures.retrieval.values()) == {0}, "there is a ranking of every query"
    assert sum("for want of an answer" in notice for notice in outcome.notices) == 2
    console = Console(width=200, file=StringIO())
    console.print(ranked_table(results))
    rows = {line.split()[0]: line.split()[-1] for line in console.file.getvalue().splitlines() if line.split()}
    assert [rows[agent] for agent in ("bm25-rag", "ours", "theirs")] == ["0", "1", "0"]


def test_what_the_judge_failed_on_is_the_judges_alone(compared):
    _, results, _ = compared
    found = results.failures
    assert (found.judge_passages, found.judge_answers, found.judge_games) == (0, 1, 1)
    games = next(row for row in results.audit.findings if row.key == "failed_games")
    assert (games.figure.value, games.figure.n) == (pytest.approx(1 / 28, abs=1e-6), 28)
    assert games.sentence.endswith(" 2 more were not played, since an answer had failed.")
    assert (results.flip_rate.n, results.flip_rate.n_failed) == (27, 1)
    assert results.first_shown_wins.n_failed == 1


def test_a_query_counts_what_failed_by_itself_in_the_report_and_the_workbench(compared, tmp_path):
    space, results, _ = compared
    views = query_views(read_evidence(space, results.agents), results.agents, 5)
    expected = {"q3": 1, "q5": len(CRITERIA) + 1}
    assert {view.query.id: view.n_failed for view in views if view.n_failed} == expected
    build(space, tmp_path / "index.sqlite")
    index = Index(tmp_path / "index.sqlite")
    assert {row["id"]: row["failed"] for row in index.rows("SELECT id, failed FROM queries WHERE failed")} == expected
    index.close()
