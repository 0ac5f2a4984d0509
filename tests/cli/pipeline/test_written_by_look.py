"""`[run] write_by_look`: questions are written for the looks that are taken, and for no others."""

from __future__ import annotations

import itertools
import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.need_replies import labelled
from support.pdf_maker import make_pdf
from support.small_corpus import answer_everything, make_corpus, page

from ragassay.cli import main
from ragassay.experiment.workspace import Workspace
from ragassay.records import Taken

SYSTEMS = """
[[agent]]
name = "good"
kind = "python"
callable = "systems:good"
[[agent]]
name = "bad"
kind = "python"
callable = "systems:bad"
"""
CODE = """
def good(query):
    return "gold: " + query


def bad(query):
    return "tin: " + query
"""
WRITING = {"WrittenQuestions", "Needs", "NeedQuestions", "Evidence"}
Script = Callable[[int, dict[str, Any]], Behaviour]


def step_of(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("json_schema", {}).get("name"))


def prefers_gold(number: int, body: dict[str, Any]) -> Behaviour:
    text = body["messages"][-1]["content"]
    if step_of(body) == "PairwiseReply":
        return reply(json.dumps({"reason": "so.", "verdict": "A" if text.find("gold:") < text.find("tin:") else "B"}))
    if (written := labelled(body)) is not None:
        return reply(json.dumps(written))
    return answer_everything(number, body)


def killing(*at: int) -> Script:
    def script(number: int, body: dict[str, Any]) -> Behaviour:
        if number in at:
            os.kill(os.getpid(), signal.SIGINT)
        return prefers_gold(number, body)

    return script


def make(
    corpus: Path, server: ScriptedServer, style: str = "passage", looks: int = 4, more: str = "", **table: Any
) -> Path:
    """Two systems of the user's, 24 questions of as many sections in four parts."""
    make_corpus(corpus, "openai:m", server.base_url)
    make_pdf(corpus / "third.pdf", [page(n) for n in range(7, 17)])
    path = corpus / "experiment.toml"
    asked = {"few_shot": 1, "evidence": "section", "sections": 24, "per_section": 2, "quota": {"openai:m": 24}} | table
    lines = "".join(f"{key} = {toml(value)}\n" for key, value in asked.items())
    text = path.read_text().replace("section_tokens = 200", "section_tokens = 100")
    head, tail = text.split("[questions]\n")
    _questions, rest = tail.split("[retrieval]\n")
    text = f'{head}[questions]\nstyle = "{style}"\n{lines}[retrieval]\n{rest}'
    text = text.replace("fusion_queries = 2", "agents = []")
    run = f"max_concurrency = 2\nlooks = {looks}\nwrite_by_look = true\n{more}\n{SYSTEMS}"
    path.write_text(text.replace("max_concurrency = 8", run))
    (corpus / "systems.py").write_text(CODE)
    return corpus.parent / "results" / corpus.name


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


def writing(server: ScriptedServer) -> Counter[str]:
    return Counter(json.dumps(one.body, sort_keys=True) for one in server.requests if step_of(one.body) in WRITING)


def outcome(results: Path) -> list[Any]:
    """What a run has come to: its test set with all that is said of it, the looks, the verdict."""
    names = ("planned", "queries", "parts", "pool", "rejected", "ledger", "looks")
    found = [records(results / f"{name}.jsonl") for name in names]
    figures = json.loads((results / "results.json").read_text())
    for look in found[-1]:
        del look["plan"]  # of the server's address, too
    return [*found, figures["verdict"], figures["points"], figures["stopped_early"]]


@pytest.mark.parametrize(
    ("style", "kills"),
    [
        ("passage", (3, 20, 46)),
        pytest.param("need", (9, 20, 60, 75), marks=pytest.mark.slow),
    ],
)
def test_what_is_decided_at_the_second_of_four_looks_pays_for_half_of_the_writing_however_often_it_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], style: str, kills: tuple[int, ...]
) -> None:
    """Killed while the first part is written, while its answers are judged, and while the second part is written."""
    with ScriptedServer("openai", prefers_gold) as server:
        whole = make(tmp_path / "whole", server, style)
        assert main(["run", str(tmp_path / "whole"), "--until", "best"]) == 0
        paid = Counter(json.dumps(one.body, sort_keys=True) for one in server.requests)
        parts = records(whole / "parts.jsonl")
        steps = Counter(step_of(one.body) for one in server.requests)
        shown = [body for body in writing(server) if "WrittenQuestions" in body or '"Needs"' in body]
    looks = records(whole / "looks.jsonl")
    told = [(one["look"], one["looks"], one["queries"], one["planned"], one["decided"]) for one in looks]
    assert told == [(1, 4, 6, 24, False), (2, 4, 12, 24, True)]
    assert len(records(whole / "queries.jsonl")) == len(records(whole / "planned.jsonl")) == 12
    assert [len(part["sections"]) for part in parts] == [6] * 4 and [part["quota"] for part in parts] == [
        {"openai:m": 6}
    ] * 4
    assert [part["queries"] is None for part in parts] == [False, False, True, True]
    if style == "passage":
        assert steps["WrittenQuestions"] == 12
    texts = {one["_id"]: one["text"] for one in records(whole / "sections.jsonl")}
    written = {id for id, text in texts.items() if any(json.dumps(text)[1:-1] in body for body in shown)}
    assert {id for part in parts[:2] for id in part["sections"]} <= written
    unwritten = {id for part in parts[2:] for id in part["sections"]}
    assert not {one["metadata"]["section"] for one in records(whole / "pool.jsonl")} & unwritten
    saved = "12 of 24 queries, 24 of 48 answers and 12 of 24 games"
    assert f"Saved against the full plan: {saved}." in (whole / "report.html").read_text()

    statuses = []
    with ScriptedServer("openai", killing(*kills)) as server:
        results = make(tmp_path / "killed", server, style)
        for _ in range(len(kills) + 1):
            statuses.append(main(["run", str(tmp_path / "killed"), "--until", "best"]))
        again = Counter(json.dumps(one.body, sort_keys=True) for one in server.requests)
        assert statuses == [130] * len(kills) + [0]
        assert set(again) == set(paid) and again.total() <= paid.total() + 2 * len(kills), "no more than were under way"
        n_asked = len(server.requests)
        assert main(["run", str(tmp_path / "killed"), "--until", "best"]) == 0 and len(server.requests) == n_asked
    assert outcome(results) == outcome(whole)


def test_a_run_killed_once_a_look_is_on_record_looks_at_the_same_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and what is written for the next one."""
    from ragassay.evaluate import looks

    def taken_and_killed(workspace: Workspace) -> Taken:
        take(workspace)
        raise KeyboardInterrupt

    take, corpus = looks.take, tmp_path / "mine"
    with ScriptedServer("openai", prefers_gold) as server:
        results = make(corpus, server)
        monkeypatch.setattr(looks, "take", taken_and_killed)
        assert main(["run", str(corpus), "--until", "best"]) == 130
        assert len(records(results / "looks.jsonl")) == 1 and len(records(results / "planned.jsonl")) == 6
        monkeypatch.setattr(looks, "take", take)
        assert main(["run", str(corpus), "--until", "best"]) == 0
        bodies = Counter(json.dumps(one.body, sort_keys=True) for one in server.requests)
    assert [one["queries"] for one in records(results / "looks.jsonl")] == [6, 12]
    assert bodies.total() == len(bodies) == 12 + 3 * 2 * 12


def test_other_questions_for_an_earlier_look_begin_a_new_plan_and_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody rejects a question of the second part: the first look stands, the second is taken anew."""
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", prefers_gold) as server:
        results = make(corpus, server)
        assert main(["run", str(corpus), "--until", "best"]) == 0
        first, parts = records(results / "looks.jsonl"), records(results / "parts.jsonl")
        n_asked = len(server.requests)
        write_lines(corpus / "question-edits.jsonl", [{"id": parts[1]["queries"][0], "action": "reject"}])
        assert main(["run", str(corpus), "--until", "best"]) == 0
        assert not [one for one in server.requests[n_asked:] if step_of(one.body) in WRITING]
    again = records(results / "looks.jsonl")
    assert (
        again[0] == first[0] and [one["queries"] for one in again] == [6, 12] and again[1]["plan"] != first[1]["plan"]
    )
    notices = json.loads((results / "manifests" / "draw.json").read_text())["notices"]
    assert notices == ["from look 2 on a new plan begins: the 1 in looks.jsonl are of other questions"]


def test_the_users_own_questions_are_dealt_out_over_the_looks(tmp_path: Path) -> None:
    """Ten of them: five or so a look, but for those of a section that is written about, which go with its part."""
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", answer_everything) as server:
        results = make(corpus, server, looks=2, source="both", few_shot=0)
        own = [{"_id": f"own{n}", "text": f"Where does wire W{n} of the loom end?"} for n in range(8)]
        about = [
            {"_id": f"of{n}", "text": f"Is T{n} a port?", "metadata": {"section": "third-s0020"}} for n in range(2)
        ]
        write_lines(corpus / "queries.jsonl", [*own, *about])
        assert main(["run", str(corpus), "--until", "best"]) == 0
    looks, parts = records(results / "looks.jsonl"), records(results / "parts.jsonl")
    asked = [one["_id"] for one in records(results / "queries.jsonl")]
    ends = [0, *(one["queries"] for one in looks)]
    batches = [asked[start:end] for start, end in itertools.pairwise(ends)]
    assert len(batches) == 2 and {one["planned"] for one in looks} == {34}
    for part, batch in zip(parts, batches, strict=True):
        assert set(part["queries"]) <= set(batch) and 4 <= len(set(batch) - set(part["queries"])) <= 6
        assert ({"of0", "of1"} <= set(batch)) == ("third-s0020" in part["sections"])
    assert sorted(asked) == sorted(one["_id"] for one in records(results / "planned.jsonl"))


def test_lists_of_earlier_looks_stay_where_queries_come_later(tmp_path: Path) -> None:
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", answer_everything) as server:
        results = make(corpus, server, looks=2)
        path = corpus / "experiment.toml"
        path.write_text(path.read_text().replace("[judge]\n", '[judge]\ngames = "listwise"\n'))
        assert main(["run", str(corpus), "--until", "best"]) == 0
        lists = Counter(json.dumps(one.body) for one in server.requests if step_of(one.body) == "ListwiseReply")
    assert len(lists) == lists.total() == 24 * 2
    assert [one["queries"] for one in records(results / "looks.jsonl")] == [12, 24]


def test_a_plan_says_what_all_looks_cost_and_how_much_is_likely(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", prefers_gold) as server:
        make(corpus, server)
        for n_cached in (0, 12):
            capsys.readouterr()
            assert main(["plan", str(corpus), "--until", "best", "--json"]) == 0
            rows = json.loads(capsys.readouterr().out)
            (row,) = [row for row in rows if row["stage"] == "questions"]
            assert (row["calls"], row["from_cache"]) == (24, n_cached)
            assert main(["plan", str(corpus), "--until", "best"]) == 0
            said = " ".join(capsys.readouterr().out.split())
            assert "At most 24 queries, as above, in up to 4 looks" in said
            assert "writing, answers and judging then cost" in said
            if not n_cached:
                assert not server.requests
                assert main(["run", str(corpus), "--until", "best"]) == 0


def test_without_the_option_nothing_of_it_is_on_record(tmp_path: Path) -> None:
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", answer_everything) as server:
        results = make(corpus, server, looks=2)
        assert main(["run", str(corpus), "--until", "best"]) == 0
        n_written = writing(server).total()
        path = corpus / "experiment.toml"
        path.write_text(path.read_text().replace("write_by_look = true\n", ""))
        assert main(["run", str(corpus), "--until", "best"]) == 0
        assert writing(server).total() == n_written == 24, "what was written for looks counts"
    assert not (results / "parts.jsonl").exists() and "plans" not in json.loads((results / "look.json").read_text())
    for name in ("questions", "draw"):
        manifest = (results / "manifests" / f"{name}.json").read_text()
        assert "by_look" not in manifest and "parts.jsonl" not in manifest


@pytest.mark.parametrize(
    ("until", "edit", "said"),
    [
        (["--until", "best"], ("looks = 4", "looks = 5"), "the first of 5 looks would have queries from 5 sections"),
        (["--until", "best"], ('"openai:m" = 24', '"openai:m" = 22'), "queries from 5 sections, and no agent is told"),
        ([], ("looks = 4", "looks = 4"), "write_by_look goes with until, in [run] or as --until"),
        (
            ["--until", "best"],
            ("looks = 4", "looks = 4\nmax_queries = 12"),
            "run.max_queries chooses among all questions",
        ),
        (
            ["--until", "best"],
            ("[questions]\n", '[questions]\nkeep = "kept.txt"\n'),
            "questions.keep chooses among all",
        ),
        (["--until", "best"], ("[questions]\n", '[questions]\nsource = "own"\n'), "your own are not written"),
    ],
)
def test_what_cannot_be_written_look_by_look_is_refused_before_paying(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], until: list[str], edit: tuple[str, str], said: str
) -> None:
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", prefers_gold) as server:
        make(corpus, server, "need")
        path = corpus / "experiment.toml"
        path.write_text(path.read_text().replace(*edit))
        (corpus / "kept.txt").write_text("q-1\n")
        assert main(["run", str(corpus), *until]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert said in told and "experiment.toml" in told and not server.requests
        if "write_by_look goes with" in said:
            assert main(["questions", str(corpus)]) == 2 and not server.requests


def test_evidence_from_the_whole_corpus_is_looked_for_part_by_part_and_nothing_is_graded_twice(tmp_path: Path) -> None:
    """Grades at random; the run goes to its end."""
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", answer_everything) as server:
        results = make(corpus, server, evidence="corpus", pool_depth=2, per_section=4)
        assert main(["run", str(corpus), "--until", "best"]) in (0, 1)
        bodies = Counter(json.dumps(one.body, sort_keys=True) for one in server.requests)
    assert bodies.total() == len(bodies)
    found = Counter((one["query_id"], one["passage"]) for one in records(results / "found.jsonl"))
    planned = [one["_id"] for one in records(results / "planned.jsonl")]
    assert max(found.values()) == 1 and set(planned) <= {query for query, _ in found}
    assert [id for part in records(results / "parts.jsonl") for id in part["queries"]] == planned
    assert len(records(results / "looks.jsonl")) == 4
