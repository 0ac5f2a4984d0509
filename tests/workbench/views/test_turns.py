"""Turns of conversations and answers of several searches: the page of a query, of a conversation, and the list."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest
from support.results_folder import TWO_SYSTEMS, answer, experiment, game, judgment, results_folder
from support.workbench import browsing

from ragassay.evaluate.compare import compare
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.records import Answer, Hop, Page, Passage, Query, Usage

CREDIT, CANADA, PAPERS = "The US credit is 2,000 a child.", "Canada pays 7,787 a child.", "Bring form 8812 with you."
TEXT = f"{CREDIT}\n{CANADA}\n{PAPERS}"
FIRST = "What is the US <b>tax</b> credit?"
HOPS = (
    Hop(query="canada child", passages=("p-credit",), tool="web", usage=Usage(input_tokens=900, output_tokens=100)),
    Hop(query="<i>canada</i> pays", passages=("p-credit", "p-canada")),
    Hop(query="Canada  child", error="timed out"),
    Hop(query="papers", passages=("p-canada", "p-papers")),
    Hop(query="more", passages=()),
)
"""Two pieces of three are found, one of them is not handed over; the last step comes when nothing is missing."""


def asked(id: str, text: str, turn: int, *history: str, **metadata: Any) -> Query:
    """history: what was said, the user first."""
    said = [{"role": ("user", "assistant")[n % 2], "text": one, "by": "person"} for n, one in enumerate(history)]
    told = {"conversation": "tax/1", "turn": turn, **metadata}
    return Query.model_validate({"_id": id, "text": text, "history": said, "metadata": told})


def span(words: str, grade: int = 2) -> dict[str, object]:
    return {"doc": "tax.pdf", "start": TEXT.index(words), "end": TEXT.index(words) + len(words), "grade": grade}


QUERIES = [
    Query(_id="q", text="How?"),
    asked(
        "t3",
        "And in Canada?",
        3,
        FIRST,
        "It is 2,000.",
        "Since when?",
        "Since 2018.",
        move="ellipsis",
        evidence=[span(CANADA), span(PAPERS), span(CREDIT, 1)],
        stand_alone="What does Canada pay?",
    ),
    asked("t1", FIRST, 1, move="stands-alone"),
    asked("t4", "Which papers?", 4, FIRST, "It is 3,000.", move="follow-up"),
]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    rows = [answer(q.id, agent, f"So says {agent}.", "p-canada") for q in QUERIES for agent in ("agentic", "single")]
    rows[2] = rows[2].model_copy(update={"hops": HOPS})
    places = {"p-credit": CREDIT, "p-canada": CANADA, "p-papers": PAPERS}
    labels = {("t1", "agentic"): 2, ("t1", "single"): 2, ("t3", "agentic"): 2, ("t3", "single"): 1, ("t4", "single"): 2}
    made = results_folder(
        tmp_path,
        TWO_SYSTEMS.format(one="agentic", other="single", more='criteria = ["accuracy"]'),
        queries=QUERIES,
        pages=[Page(doc="tax.pdf", page=1, text=TEXT)],
        passages=[Passage(_id=id, text=text, metadata=span(text)) for id, text in places.items()],
        answers=rows,
        relevance=[judgment("t4", "p-papers", "passage_relevance", 2, judge="openai:m")],
        pointwise=[
            judgment(q.id, agent, "accuracy", labels.get((q.id, agent)), judge="openai:m")
            for q in QUERIES
            for agent in ("agentic", "single")
        ],
        games=[game("t3", "agentic", "single", "a", first, judge="openai:m") for first in ("a", "b")],
    )
    for name in ("agentic", "single"):
        (made.corpus / f"{name}.jsonl").write_text("")
    compare(made)
    return made


def said(page: str) -> str:
    """The words of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_a_conversation_is_read_as_one(workspace: Workspace):
    with browsing(workspace) as client:
        page = client.get("/results/conversations/tax/1").text
        one = client.get("/results/conversations/tax/1?agents=single").text
        assert client.get("/results/conversations/tax").status_code == 404
        query = client.get("/results/queries/t3").text
    words = said(page)
    order = [FIRST, "not asked Since when?", "Since 2018.", "And in Canada?", "another one from here", "It is 3,000."]
    at = [words.index(part) for part in [*order, "Which papers?"]]
    assert at == sorted(at) and words.count("Since 2018.") == words.count("It is 2,000.") == 1
    assert "<b>tax</b>" not in page and "Asked alone: What does Canada pay?" in words
    assert "agentic 2 2 failed not known" in words and "single 2 1 2 no" in words
    assert "turn 3 · ellipsis" in words and 'href="/results/queries/t3#game-1"' in page
    assert "100.0 points" in words and page.count("So says agentic.") == 3
    assert "So says single." in one and "So says agentic." not in one
    assert 'href="/results/conversations/tax/1#turn-2">tax/1, turn 3</a>' in query


def test_a_perturbed_turn_was_not_said(workspace: Workspace):
    link = {"perturbed_from": "t3", "perturbation": "typos"}
    told = {"_id": "t3.typos", "text": "And in Cnaada?", "metadata": QUERIES[1].metadata | link}
    copy = Query.model_validate(QUERIES[1].dump() | told)
    write_records(workspace.queries, [*QUERIES, copy])
    for agent in ("agentic", "single"):
        rows = read_records(workspace.answers(agent), Answer)
        write_records(workspace.answers(agent), [*rows, answer("t3.typos", agent, "Copied.", "p-canada")])
    compare(workspace)
    with browsing(workspace) as client:
        words = said(client.get("/results/conversations/tax/1").text)
        assert client.get("/results/queries/t3.typos").status_code == 200
    assert "3 turns were asked" in words and "Cnaada" not in words


def test_the_list_is_narrowed_by_conversation_and_move(workspace: Workspace):
    with browsing(workspace) as client:
        page = client.get("/results/queries?conversation=tax/1&move=ellipsis").text
        assert "1 of 4 queries: conversation tax/1, move ellipsis" in page and "turn 3 of tax/1" in page
        assert 'href="/results/conversations/tax/1"' in page
        assert 'name="move"' in page and 'name="conversation"' not in client.get("/results/decision").text


def test_each_step_stands_beside_the_evidence_that_it_found(workspace: Workspace):
    with browsing(workspace) as client:
        page = client.get("/results/queries/t3").text
        plain = client.get("/results/queries/q").text
    steps = said(page[page.index('<ol class="steps">') : page.index("<h2>Passages")])
    found = [
        "1 canada child P2 web · 1,000 tokens wasted Recall so far 0.00 · 100% of its passages are new",
        "2 <i>canada</i> pays P2 P1 first to find E1 Recall so far 0.50 · 50% of its passages are new",
        "3 Canada child Failed: timed out wasted , asked before Recall so far 0.50",
        "4 papers P1 P3 first to find E2 Recall so far 1.00 · 50% of its passages are new",
        "5 more found nothing surplus: all was found before Recall so far 1.00",
        "Found and not handed to the answer: E2 . Evidence lost: 0.50.",
    ]
    assert steps == " ".join(found)
    evidence = page[page.index('<ul class="evidence">') : page.index('<div class="answers-and-games">')]
    assert re.findall(r"<b>(E\d)</b> .*?>([^<>]+)</q>", evidence) == [("E1", CANADA), ("E2", PAPERS)]
    assert CREDIT in evidence, "what is of grade 1 stands there without a number"
    assert "found by step 4 of agentic, not handed to its answer" in said(page)
    assert "Said before" not in plain and "steps" not in plain.lower() and "Conversation" not in plain


def test_steps_without_text_as_evidence(workspace: Workspace):
    """A query of labels alone has passages as evidence; one of nothing has only its steps, and says so."""
    rows = list(read_records(workspace.answers("agentic"), Answer))
    hops = (Hop(query="papers", passages=("p-papers",)),)
    write_records(workspace.answers("agentic"), [row.model_copy(update={"hops": hops}) for row in rows])
    with browsing(workspace) as client:
        labelled, none = (said(client.get(f"/results/queries/{id}").text) for id in ("t4", "t1"))
    assert "first to find P2 Recall so far 1.00" in labelled and "Evidence lost: 1.00" in labelled
    assert "What these steps brought is not known: no evidence of this query is known." in none


def test_a_prompt_is_made_again_with_what_was_said_before(tmp_path: Path):
    agents = ("bm25-rag", "bm25-rag-fusion")
    made = results_folder(
        tmp_path,
        experiment(retrieval={"retrievers": ["bm25"]}),
        queries=QUERIES,
        passages=[Passage(_id="p1", text="…")],
        answers=[answer(query.id, agent, "So.", "p1") for query in QUERIES for agent in agents],
    )
    with browsing(made) as client:
        page = client.get("/results/queries/t3").text
        assert "Said before" in page and "US &lt;b&gt;tax&lt;/b&gt; credit?" in page
        told = client.get("/results/calls/t3", params={"of": "answer"}).text
        assert "&lt;turn role=&#34;user&#34;" in told
