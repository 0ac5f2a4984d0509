"""`questions.evidence = "corpus"` from the command line: questions of text alone get graded evidence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, contents, edit, make_corpus

from ragassay.cli import main

QUESTIONS = ["What do I write 31 to register for?", "clerk\tWhat do I write 93 to register for?", "Who sings at sea?"]
SCREENED = """
[[chunking]]
name = "short"
by = "words"
size = 12
[[retriever]]
name = "b"
kind = "bm25"
[[retriever]]
name = "short-b"
kind = "bm25"
chunking = "short"
[search]
finalists = 1
"""


def schema_of(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("json_schema", {}).get("name"))


def asks_batch(body: dict[str, Any]) -> bool:
    """Whether several passages are to be graded."""
    return schema_of(body) == "RelevanceBatchReply"


def graded(body: dict[str, Any]) -> str:
    """Very relevant is what has the words of the question with its number; nothing else is relevant."""
    text = str(body["messages"][-1]["content"])
    wanted = next((f"write {n} to" for n in (31, 93) if f"I write {n} to" in text.split("<passage")[0]), "nobody")
    shown = text.split("<passage")[1:]
    rows = [{"number": n, "reason": "so.", "label": 2 * (wanted in one)} for n, one in enumerate(shown, 1)]
    return json.dumps({"grades": rows})


def answering(number: int, body: dict[str, Any]) -> Behaviour:
    return reply(graded(body)) if asks_batch(body) else answer_everything(number, body)


def failing_batches(number: int, body: dict[str, Any]) -> Behaviour:
    """Nobody grades anything."""
    return (
        reply("no.")
        if schema_of(body) in {"RelevanceBatchReply", "RelevanceReply"}
        else answer_everything(number, body)
    )


def asked_of(corpus: Path, server: ScriptedServer, more: str = "") -> Path:
    make_corpus(corpus, "openai:m", server.base_url, more=more)
    edit(corpus, 'style = "passage"', 'source = "own"\nevidence = "corpus"')
    (corpus / "questions.txt").write_text("\n".join(QUESTIONS) + "\n")
    return corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def test_pdfs_and_a_questions_txt_go_through_plan_run_and_screen(corpus: Path, capfd: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answering) as server:
        asked_of(corpus, server, SCREENED)
        assert main(["plan", str(corpus)]) == 0 and not server.requests
        assert main(["run", str(corpus)]) == 0
        printed = capfd.readouterr().out
        assert "page: results/mine/screen.html" in printed and "report: results/mine/report.html" in printed
        batches = [request.body for request in server.requests if asks_batch(request.body)]
    results = Path("results/mine")
    assert (
        "1 of the 3 questions that came without evidence"
        in json.loads((results / "manifests/questions.json").read_text())["notices"][0]
    )
    queries = records(results / "queries.jsonl")
    assert [query["text"] for query in queries] == [one.split("\t")[-1] for one in QUESTIONS]
    assert [query["metadata"].get("role") for query in queries] == [None, "clerk", None]
    for query in queries[:2]:
        (span,) = query["metadata"]["evidence"]
        assert (span["grade"], span["found_by"]) == (2, "bm25") and span["doc"] == "user manual.pdf"
        assert 0 < query["metadata"]["shared_words"] <= 1
    assert "evidence" not in queries[2]["metadata"]

    found = records(results / "found.jsonl")
    assert len(batches) == 2, "one request for each question that BM25 finds something for; the judge asks no batch"
    assert Counter(row["query_id"] for row in found).keys() == {query["_id"] for query in queries[:2]}
    assert all((row["label"] is None) == (row.get("error") is not None) for row in found)
    relevance = {(row["query_id"], row["subject"]): row["label"] for row in records(results / "relevance.jsonl")}
    shared = [row for row in found if (row["query_id"], row["passage"]) in relevance]
    assert shared and all(relevance[row["query_id"], row["passage"]] == row["label"] for row in shared)

    screened = json.loads((results / "screen.json").read_text())
    assert {one["name"] for one in screened["variants"]} == {"b", "short-b"}
    assert all(one["evidence_recall"]["n"] == 2 for one in screened["variants"])


def test_what_a_judge_fails_on_is_unjudged_and_counted_and_the_question_stays(corpus: Path, capfd):
    with ScriptedServer("openai", failing_batches) as server:
        asked_of(corpus, server)
        assert main(["ingest", str(corpus)]) == 0
        main(["questions", str(corpus)])
    results = Path("results/mine")
    manifest = json.loads((results / "manifests/questions.json").read_text())
    found = records(results / "found.jsonl")
    assert len(records(results / "queries.jsonl")) == len(QUESTIONS)
    assert found and all(row.get("label") is None and row["error"] for row in found)
    assert manifest["n_failed"] == len(found)
    assert f"questions: 3 records, {len(found)} failed, the commonest error: " in capfd.readouterr().err


def of_shallow_pools(corpus: Path, server: ScriptedServer) -> Path:
    """Pools of one passage, so that finalists hand over what nobody has judged; gives the results folder."""
    path = asked_of(corpus, server, SCREENED) / "experiment.toml"
    path.write_text(path.read_text().replace("pool_depth = 5", "pool_depth = 1"))
    return Path("results/mine")


def finalist(results: Path) -> dict[str, Any]:
    """The figures of the only one."""
    screened = json.loads((results / "screen.json").read_text())
    (name,) = screened["finalists"]
    return next(one for one in screened["variants"] if one["name"] == name)


def planned_of_screening(corpus: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """The calls that a plan says it takes."""
    assert main(["plan", str(corpus)]) == 0
    return next(line.split()[2] for line in capfd.readouterr().out.splitlines() if line.startswith("screen"))


def all_relevant(number: int, body: dict[str, Any]) -> Behaviour:
    n = str(body["messages"][-1]["content"]).count("<passage")
    rows = [{"number": place, "reason": "it says so.", "label": 2} for place in range(1, n + 1)]
    return reply(json.dumps({"grades": rows})) if asks_batch(body) else answer_everything(number, body)


def test_what_a_finalist_hands_over_unjudged_is_judged_before_it_is_compared(corpus: Path, capfd):
    with ScriptedServer("openai", all_relevant) as server:
        results = of_shallow_pools(corpus, server)
        planned = [planned_of_screening(corpus, capfd)]
        assert main(["ingest", str(corpus)]) == main(["questions", str(corpus)]) == 0
        assert [*planned, planned_of_screening(corpus, capfd)] == ["~3", "2"], "a request for each that has a pool"
        assert main(["run", str(corpus)]) == 0
        batches = [request for request in server.requests if asks_batch(request.body)]
        asked, screened = len(server.requests), contents(results)
        (results / "screen.json").unlink()
        assert main(["screen", str(corpus)]) == main(["run", str(corpus)]) == 0
        assert len(server.requests) == asked, "a second run asks nothing"
        kept = ("screen.json", "found-deeper.jsonl", "found.jsonl")
        assert all(contents(results)[name] == screened[name] for name in kept)
    rows, best = records(results / "found-deeper.jsonl"), finalist(results)
    pooled = {(row["query_id"], row["passage"]) for row in records(results / "found.jsonl")}
    assert len(batches) == len({row["query_id"] for row in rows}) == 2
    assert not pooled & {(row["query_id"], row["passage"]) for row in rows}
    assert {row["found_by"] for row in rows} == {best["name"]} and all(row["end"] > row["start"] for row in rows)
    assert best["unjudged"]["value"] == 0 and best["evidence_mrr"]["value"] > 0
    said = {(row["query_id"], row["subject"]): row["reason"] for row in records(results / "relevance.jsonl")}
    assert {said[row["query_id"], row["passage"]] for row in rows} == {"it says so."}, "the judge asks no more of these"


def test_what_a_judge_fails_on_stays_unjudged_when_a_finalist_is_compared(corpus: Path):
    script = [all_relevant]
    with ScriptedServer("openai", lambda number, body: script[-1](number, body)) as server:
        results = of_shallow_pools(corpus, server)
        assert main(["ingest", str(corpus)]) == main(["questions", str(corpus)]) == 0
        script.append(failing_batches)
        main(["screen", str(corpus)])
    rows, manifest = (
        records(results / "found-deeper.jsonl"),
        json.loads((results / "manifests/screen.json").read_text()),
    )
    assert rows and all(row["label"] is None and row["error"] for row in rows)
    assert manifest["n_failed"] == len(rows) and f"{len(rows)} could not be graded" in manifest["notices"][-1]
    assert finalist(results)["unjudged"]["value"] > 0.5 and finalist(results)["evidence_mrr"]["value"] == 1


def quoting(number: int, body: dict[str, Any]) -> Behaviour:
    """Everything is relevant; of each passage the first words are quoted, of the second what it does not say."""
    if not schema_of(body).endswith("Quotes"):
        return all_relevant(number, body)
    shown = str(body["messages"][-1]["content"]).split("<passage")[1:]
    words = [" ".join(one.split("</passage>")[0].split("\n", 2)[2].split()[:6]) for one in shown]
    rows = [{"number": n, "quotes": [one if n != 2 else "nobody said so"]} for n, one in enumerate(words, 1)]
    return reply(json.dumps({"passages": rows} | ({"answer": "By 31."} if "Answered" in schema_of(body) else {})))


def planned_of_questions(corpus: Path, capfd: pytest.CaptureFixture[str]) -> list[tuple[int, bool]]:
    """(calls, whether they are an estimate) of the stage."""
    capfd.readouterr()
    assert main(["plan", str(corpus), "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)
    return [(row["calls"], row["estimated"]) for row in rows if row["stage"] == "questions"]


def test_quotes_take_the_place_of_passages_and_golden_answers_come_with_them(corpus: Path, capfd):
    with ScriptedServer("openai", quoting) as server:
        path, results = asked_of(corpus, server, SCREENED) / "experiment.toml", Path("results/mine")
        plainly = path.read_text()
        wanted = plainly.replace("pool_depth = 5", "pool_depth = 5\nquotes = true\ngolden_answers = true")
        assert main(["ingest", str(corpus)]) == 0
        path.write_text(wanted)
        assert planned_of_questions(corpus, capfd) == [(2, False), (len(QUESTIONS), True)]
        path.write_text(plainly)
        assert main(["questions", str(corpus)]) == 0
        plain = records(results / "queries.jsonl")
        path.write_text(wanted)
        asked = len(server.requests)
        assert planned_of_questions(corpus, capfd) == [(asked + 2, False)]
        assert main(["questions", str(corpus)]) == 0 and len(server.requests) == asked + 2
        before, after = contents(results), len(server.requests)
        (results / "queries.jsonl").unlink()
        assert main(["questions", str(corpus)]) == 0 and len(server.requests) == after
        assert contents(results)["queries.jsonl"] == before["queries.jsonl"]
        assert main(["screen", str(corpus)]) == 0
    manifest = json.loads((results / "manifests/questions.json").read_text())
    texts: dict[str, str] = {}
    for page in records(results / "pages.jsonl"):
        texts[page["doc"]] = f"{texts[page['doc']]}\n{page['text']}" if page["doc"] in texts else page["text"]
    for query, whole in zip(records(results / "queries.jsonl"), plain, strict=True):
        spans, passages = query["metadata"].get("evidence", []), whole["metadata"].get("evidence", [])
        assert query["metadata"].get("expected_response") == ("By 31." if passages else None)
        assert [span["grade"] for span in spans] == [2] * len(passages)
        for n, (span, passage) in enumerate(zip(spans, passages, strict=True), 1):
            said = texts[span["doc"]][span["start"] : span["end"]]
            assert span == passage if n == 2 else len(said.split()) == 6
            assert passage["start"] <= span["start"] < span["end"] <= passage["end"]
    assert "do not stand in their passage" in manifest["notices"][-1] and manifest["n_failed"] == 0
    assert manifest["settings"]["questions.quotes"] is True
    screened = json.loads((results / "screen.json").read_text())
    assert all(0 < one["evidence_recall"]["value"] <= 1 for one in screened["variants"])


def test_requests_for_quotes_that_fail_leave_the_passages_and_are_told(corpus: Path):
    def answering_all_but_quotes(number: int, body: dict[str, Any]) -> Behaviour:
        return reply("no.") if schema_of(body) == "Quotes" else all_relevant(number, body)

    with ScriptedServer("openai", answering_all_but_quotes) as server:
        path = asked_of(corpus, server) / "experiment.toml"
        path.write_text(path.read_text().replace("pool_depth = 5", "pool_depth = 5\nquotes = true"))
        assert main(["ingest", str(corpus)]) == 0
        main(["questions", str(corpus)])
        asked = [request for request in server.requests if schema_of(request.body) == "Quotes"]
    manifest = json.loads(Path("results/mine/manifests/questions.json").read_text())
    assert manifest["n_failed"] == 2 and len(asked) == 4, "each is asked once more"
    assert "2 of 2 requests for quotes or golden answers failed" in manifest["notices"][-1]
    passages = {(row["doc"], row["start"], row["end"]) for row in records(Path("results/mine/found.jsonl"))}
    evidence = [one for q in records(Path("results/mine/queries.jsonl")) for one in q["metadata"].get("evidence", [])]
    assert evidence and all((one["doc"], one["start"], one["end"]) in passages for one in evidence)
