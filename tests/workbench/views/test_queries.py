"""The list of queries and the page of one: search, order, parts for htmx, and hostile texts as text."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from starlette.testclient import TestClient
from support.made_up_results.texts import AGENTS
from support.made_up_results.workspace import make_workspace
from support.workbench import browsing

from ragassay.evaluate.figures.values import read_values
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records
from ragassay.records import Answer, Game, Judgment, Query
from ragassay.workbench.index.read import Index
from ragassay.workbench.views.queries import Listing, listing_of


def test_a_list_is_a_page_and_its_rows_are_a_part(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        page = client.get("/results/queries").text
        part = client.get("/results/queries?words=zzzznothing", headers={"hx-request": "true"}).text
    assert "<!doctype html>" in page and "12 of 12 queries" in page
    assert "<html" not in part and "0 of 12 queries" in part


def test_every_query_has_an_address_and_no_text_of_it_is_markup(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        addresses = re.findall(r'href="(/results/queries/[^"?]+)"', client.get("/results/queries").text)
        assert len(dict.fromkeys(addresses)) == 12
        calls = [f"{one.replace('/queries/', '/calls/')}?of={of}" for one in addresses[:3] for of in ("answer", "game")]
        for address in [*addresses, *calls]:
            page = client.get(address)
            assert page.status_code == 200
            assert not re.search(
                r"<(script(?! src)|img|iframe|svg on|svg/on)|javascript:[^&]*<|<[^>]*\son\w+=", page.text
            )
            assert "\x1b" not in page.text


def listed(client: TestClient, asked: str) -> list[str]:
    """The ids of the queries, in the list's order."""
    page = client.get(f"/results/queries?{asked}").text
    return re.findall(r'<th scope="row"[^>]*><a href="/results/queries/([^"?]+)', page)


def failed(workspace: Workspace) -> set[str]:
    rows: list[Answer | Judgment | Game] = [*read_records(workspace.games, Game)]
    rows += [*read_records(workspace.relevance, Judgment), *read_records(workspace.pointwise, Judgment)]
    for path in workspace.results.glob("answers/*.jsonl"):
        rows += read_records(path, Answer)
    return {row.query_id for row in rows if row.error is not None}


def test_the_list_is_narrowed_and_sorted_by_an_agents_values(tmp_path: Path):
    workspace = make_workspace(tmp_path)
    with browsing(workspace) as client:
        index = Index(workspace.workbench / "index.sqlite")
        name = "nDCG@5"
        values = index.column(name)["knn-rag"]
        ids = [row["id"] for row in index.queries(range(12))]
        low = sorted(ids[n] for n in np.flatnonzero(values <= 0.5))
        assert sorted(listed(client, f"measure={name}&agent=knn-rag&high=0.5")) == low and low
        order = listed(client, f"measure={name}&agent=knn-rag&sort=worth")
        there = [values[ids.index(one)] for one in order if not np.isnan(values[ids.index(one)])]
        assert there == sorted(there) and len(order) == 12
        assert set(listed(client, "failed=1")) == failed(workspace)
        assert listed(client, "places=1,3-4") == [ids[1], ids[3], ids[4]]
        assert len(listed(client, "measure=none&low=x&sort=no&places=&failed=0&from=x")) == 12


def test_rows_come_as_one_scrolls(tmp_path: Path):
    with browsing(make_workspace(tmp_path, 70, hostile=False)) as client:
        first = client.get("/results/queries?sort=words").text
        (more,) = set(re.findall(r'hx-get="([^"]*from=60[^"]*)"', first))
        rows = client.get(more.replace("&amp;", "&"), headers={"hx-request": "true"})
        assert rows.text.count("<tr") == 10 and "<table" not in rows.text and "from=" not in rows.text
        part = client.get("/results/queries?words=&sort=&kind=", headers={"hx-request": "true"})
        assert part.headers["hx-push-url"] == "/results/queries"


@pytest.mark.parametrize(("words", "marked"), [("ISR", "ISR"), ("far variants", "far")])
def test_words_that_were_looked_for_are_marked_in_question_or_answer(tmp_path: Path, words: str, marked: str):
    with browsing(make_workspace(tmp_path, hostile=False)) as client:
        assert f"<mark>{marked}</mark>" in client.get("/results/queries", params={"words": words}).text


def test_what_narrows_the_list_is_said_and_its_columns_are_chosen(tmp_path: Path):
    workspace = make_workspace(tmp_path)
    rows = list(read_records(workspace.queries, Query))
    own = [row.model_copy(update={"metadata": {"kind": "multi-hop"}}) for row in rows[:4]]
    write_records(workspace.queries, [*own, *rows[4:]])
    with browsing(workspace) as client:
        page = client.get("/results/queries?source=real&kind=multi-hop&failed=answers").text
        assert "1 of 12 queries: real, kind multi-hop, answers failed" in page
        assert "knn-rag-fusion" in page and listed(client, "source=real&failed=answers") == ["q004"]
        assert len(listed(client, "source=written")) == 8
        chosen = client.get("/results/queries?agents=knn-rag&figures=accuracy&figures=none&show=answers").text
    assert chosen.count('data-name="knn-rag"') == 12 and 'data-name="bm25-rag"' not in chosen
    assert chosen.count('data-name="accuracy"') == 12 and 'data-name="mean"' not in chosen
    assert "Declare the variable with PROGMEM" in chosen and "503 five times &lt;b&gt;" in chosen


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_list_is_taken_along_as_a_file(tmp_path: Path, kind: str):
    """The rows of the page, with what a spreadsheet might run held back in CSV alone."""
    workspace, formula = make_workspace(tmp_path), '=HYPERLINK("https://evil.example")'
    rows = [
        row.model_copy(update={"answer": formula, "error": None})
        for row in read_records(workspace.answers("bm25-rag"), Answer)
    ]
    write_records(workspace.answers("bm25-rag"), rows)
    with browsing(workspace) as client:
        answer = client.get(f"/results/queries.{kind}?places=2-3&sort=words&agents=bm25-rag&agents=knn-rag")
        order = listed(client, "places=2-3&sort=words")
        assert client.get("/results/queries.xls").status_code == 404
    assert "attachment" in answer.headers["content-disposition"]
    told: list[dict[str, Any]]
    lines = answer.text.splitlines()
    told = list(csv.DictReader(io.StringIO(answer.text))) if kind == "csv" else [json.loads(line) for line in lines]
    assert [(row["query_id"], row["agent"]) for row in told] == [
        (id, agent) for id in order for agent in ("bm25-rag", "knn-rag")
    ]
    assert {row["answer"] for row in told if row["agent"] == "bm25-rag"} == {"'" * (kind == "csv") + formula}
    failed = next(row for row in told if row["query_id"] == "q004" and row["agent"] == "knn-rag")
    assert not failed["answer"] and "503" in failed["error"] and {"points", "accuracy"} <= set(failed)


def test_the_next_query_is_the_next_of_the_list(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        order = listed(client, "sort=failed")
        page = client.get(f"/results/queries/{order[3]}?sort=failed").text
        assert f'rel="prev" href="/results/queries/{order[2]}?sort=failed"' in page
        assert f'rel="next" href="/results/queries/{order[4]}?sort=failed"' in page and "4 of 12" in page


def test_a_query_shows_its_answers_grades_games_and_what_failed(tmp_path: Path):
    workspace = make_workspace(tmp_path, hostile=False)
    query = sorted(failed(workspace))[0]
    games = [game for game in read_records(workspace.games, Game) if game.query_id == query]
    labels = [j for path in (workspace.relevance, workspace.pointwise) for j in read_records(path, Judgment)]
    with browsing(workspace) as client:
        page = client.get(f"/results/queries/{query}").text
        compared = client.get(f"/results/queries/{query}?reference=bm25-rag").text
    assert page.count("shown first</b>") == len(games)
    assert page.count("failed: ") >= sum(game.error is not None for game in games)
    assert page.count('class="dot c') >= 5 and 'href="#passage-1"' in page and 'id="passage-1"' in page
    assert all(j.error is None or j.error in page for j in labels if j.query_id == query)
    assert "the reference</b>" in compared and "the reference</b>" not in page


def test_answers_stand_by_who_won_with_their_games_and_why_one_failed(tmp_path: Path):
    workspace = make_workspace(tmp_path, hostile=False)
    answers = {agent: list(read_records(workspace.answers(agent), Answer)) for agent in AGENTS}
    for agent, rows in answers.items():  # every one another, so that none stand together
        said = [row if row.answer is None else row.model_copy(update={"answer": f"{agent} says"}) for row in rows]
        write_records(workspace.answers(agent), said)
    points = read_values(workspace.values).measures["points"]
    with browsing(workspace) as client:
        page = client.get("/results/queries/q004").text
    cards = re.findall(r'<article class="card".*?</article>', page, re.DOTALL)
    order = [re.search(r'class="ag c\d+">([^<]+)', card)[1] for card in cards]  # type: ignore[index]
    given = [points[agent].get("q004") for agent in order]
    known = [value for value in given if value is not None]
    assert sorted(order) == sorted(AGENTS) and known == sorted(known, reverse=True) and len(known) > 3
    for card, value in zip(cards, given, strict=True):
        assert value is None or f"{100 * value:.1f} points" in card
    (failed,) = [card for card in cards if "Failed " in card]
    assert "knn-rag" in failed and "before a model was asked" in failed and "its only answer that failed" in failed
    first = re.search(r"<span>beat (.*?)</span>", cards[0], re.DOTALL)
    assert first is not None
    number = re.findall(r'href="#game-(\d+)"', first[1])[0]
    game = page[page.index(f'id="game-{number}"') :].split("</li>")[0]
    assert "wins" in game and game.count("shown first</b>") == 2 and game.count("prompt and reply</a>") == 2


def test_an_address_says_what_was_asked_for():
    given = {"words": "a b", "kind": "fact", "sort": "worth", "measure": "RR@5", "low": "0.25", "failed": "1"}
    listing = listing_of(given | {"high": "nan", "agent": "", "places": "0-3"})
    assert dict(parse_qsl(listing.address())) == given | {"places": "0-3"}
    assert listing_of(dict(parse_qsl(listing.address(sort="place")))).sort == "place"
    assert Listing().address() == ""
