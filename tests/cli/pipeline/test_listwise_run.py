"""A whole run with passages graded together and answers ranked together, and all that reads its games."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records
from support.judged_together import answers_in
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, contents, edit, make_corpus

from ragassay.cli import main
from ragassay.records import IDENTICAL

OWN = '\n[[agent]]\nname = "{name}"\nkind = "python"\ncallable = "{name}_{tag}:answer"\n'
TOGETHER = '[judge]\ngames = "listwise"\nrelevance_batch = 3\nrepeats = 1\n'


def planned(corpus: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict[str, Any]]]:
    capsys.readouterr()
    assert main(["plan", str(corpus), "--json"]) == 0
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads(capsys.readouterr().out):
        rows.setdefault(row["stage"], []).append(row)
    return rows


def corpus_of_four(folder: Path, base_url: str | None = None, judge: str = TOGETHER, tag: str = "ranked") -> Path:
    own = "".join(OWN.format(name=name, tag=tag) for name in ("ours", "theirs"))
    corpus = make_corpus(folder, "openai:gpt-4o", base_url, more=own)
    edit(corpus, 'style = "passage"', 'style = "passage"\nevidence = "section"')
    edit(corpus, "[judge]\n", judge)
    (corpus / f"ours_{tag}.py").write_text("def answer(query):\n    return 'As the manual says.'\n")
    (corpus / f"theirs_{tag}.py").write_text("def answer(query):\n    return 'Not as the manual says: ' + query\n")
    return corpus


def read_by_all(corpus: Path, results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures, report, rating, gate, a second run and a sheet."""
    games, lists = records(results / "games.jsonl"), records(results / "lists.jsonl")
    assert len(games) == 4 * 2 * 6 and len(lists) == 4 * 2 and all(game["error"] is None for game in games)
    figures = json.loads((results / "results.json").read_text())
    n_identical = sum(game["reason"] == IDENTICAL for game in games) // 2
    assert figures["flip_rate"]["n"] == 4 * 6 - n_identical and figures["first_shown_wins"]["n"] > 0
    assert {row["key"] for row in figures["audit"]["findings"]} >= {"flip_rate", "first_favoured", "repeat_consistency"}
    page = (results / "report.html").read_text()
    assert page.count("<h3>Ranked together</h3>") == 4 and "in balanced orders" in page
    assert "Each pair is judged in both orders" not in page

    capsys.readouterr()
    assert main(["rate", "--games", str(results / "games.jsonl"), "--json"]) == 0
    rated = json.loads(capsys.readouterr().out)
    assert rated["n_games"] == 48 and rated["n_verdicts"] == 24 and rated["flip_rate"] == figures["flip_rate"]
    assert main(["gate", str(results), "--baseline", str(results)]) == 0
    kept = contents(results)
    assert main(["run", str(corpus)]) == 0 and contents(results) == kept, "nothing is left to do"
    (results / "waves.json").unlink()
    assert main(["run", str(corpus)]) == 0 and not (results / "waves.json").exists(), "nor without it"
    assert main(["label-sheet", str(corpus), "--n", "5", "--kind", "games", "--out", "sheet.csv"]) == 0


def back_to_pairs(corpus: Path, results: Path) -> None:
    """No list is left behind."""
    edit(corpus, 'games = "listwise"', 'games = "all"')
    assert main(["run", str(corpus)]) == 0
    assert not (results / "lists.jsonl").exists()
    assert {"presentation", "place_a"}.isdisjoint(records(results / "games.jsonl")[0])
    assert "Ranked together" not in (results / "report.html").read_text()


def test_what_reads_games_reads_those_of_lists_and_back_to_pairs_none_is_left(tmp_path: Path, capsys):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = corpus_of_four(tmp_path / "mine", server.base_url)
        for stage in ("ingest", "questions", "retrieve", "answer"):
            assert main([stage, str(corpus)]) == 0
        before = planned(corpus, capsys)["judge"]
        assert main(["run", str(corpus)]) == 0
        after, n_calls = planned(corpus, capsys), len(server.requests)
        asked = Counter(
            body["response_format"]["json_schema"]["name"]
            for body in (request.body for request in server.requests)
            if "response_format" in body
        )
        results = tmp_path / "results" / "mine"
        read_by_all(corpus, results, capsys)
        back_to_pairs(corpus, results)
    assert [row["estimated"] for row in before] == [False, True]
    assert asked["ListwiseReply"] == 4 * 2 + 2, "queries times presentations, and one list's two again"
    assert asked["RelevanceReply"] < asked["RelevanceBatchReply"] <= 4 * 3 + 2
    assert sum(row["calls"] for rows in after.values() for row in rows) == n_calls
    assert all(row["from_cache"] == row["calls"] for rows in after.values() for row in rows)


def as_shown(number: int, body: dict[str, Any]) -> Behaviour:
    """Every list comes back in the order in which it was shown."""
    schema = body.get("response_format", {}).get("json_schema", {})
    if schema.get("name") != "ListwiseReply":
        return answer_everything(number, body)
    letters = answers_in(body["messages"][1]["content"])
    return reply(json.dumps({"reason": "So they stand.", "order": [[letter] for letter in letters]}))


def test_a_judge_that_repeats_the_order_is_named_before_everything_else(tmp_path: Path, capsys):
    with ScriptedServer("openai", as_shown) as server:
        corpus = corpus_of_four(tmp_path / "mine", server.base_url, judge='[judge]\ngames = "listwise"\n', tag="echoed")
        edit(corpus, "sections = 4", "sections = 8")
        edit(corpus, "= 4 }", "= 12 }")
        assert main(["run", str(corpus)]) in (0, 1)
    said = capsys.readouterr().out
    results = tmp_path / "results" / "mine"
    notices = json.loads((results / "results.json").read_text())["notices"]
    assert notices[0].startswith("The judge may be repeating the order it was shown: 24 of 24 lists")
    assert notices[1].startswith("The judge may be guessing")
    assert "shown earlier wins 100.0%" in said and "first shown wins" not in said
    page = (results / "report.html").read_text()
    assert page.index("may be repeating the order") < page.index("may be guessing") < page.index("What next")
    assert "Pairs won from place 4" in page and "with the order shown given back" in page
    assert "both orders" not in page and "shown first" not in page and "First shown" not in page


def test_an_agent_that_joins_later_is_ranked_against_anchors_and_everything_reads_its_games(tmp_path: Path, capsys):
    judge = '[judge]\ngames = "listwise"\nrelevance_batch = 3\nanchors = 3\n'
    with ScriptedServer("openai", answer_everything) as server:
        corpus = corpus_of_four(tmp_path / "mine", server.base_url, judge=judge, tag="joined")
        assert main(["run", str(corpus)]) == 0
        before = len(server.requests)
        (corpus / "late_joined.py").write_text("def answer(query):\n    return 'A late word on ' + query\n")
        with (corpus / "experiment.toml").open("a") as settings:
            settings.write(OWN.format(name="late", tag="joined"))
        assert main(["run", str(corpus)]) == 0
        new = [request.body["response_format"]["json_schema"]["name"] for request in server.requests[before:]]
    assert Counter(new) == {"PointwiseReply": 4, "CorrectnessReply": 4, "ListwiseReply": 4 * 2}
    results = tmp_path / "results" / "mine"
    games, figures = records(results / "games.jsonl"), json.loads((results / "results.json").read_text())
    met = Counter(game["agent_a"] for game in games if game["agent_b"] == "late")
    assert sum(met.values()) == 4 * 2 * 3 and set(met.values()) == {6}, "three of four on each query, in turn"
    assert figures["wins"]["late"]["ours"]["n"] == 3 and figures["wins"]["ours"]["theirs"]["n"] == 4
    assert "late joined later: on each query ranked against 3 of the 4 agents before" in figures["notices"]
    page = (results / "report.html").read_text()
    assert page.count("List 2, shown as") == 4 * 2 and page.count("List 1, shown as") == 4 * 2
    capsys.readouterr()
    assert main(["rate", "--games", str(results / "games.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_verdicts"] == 4 * (6 + 3)
    assert main(["gate", str(results), "--baseline", str(results)]) == 0
    assert main(["label-sheet", str(corpus), "--n", "5", "--kind", "games", "--out", "sheet.csv"]) == 0
    assert sum(row["calls"] - row["from_cache"] for rows in planned(corpus, capsys).values() for row in rows) == 0


@pytest.mark.parametrize(
    ("judge", "says"),
    [
        ('games = "listwise"\nmode = "probability"', "a list is not one token"),
        ('games = "listwise"\ngames_prompt = "own.md"', "give listwise_prompt as well"),
        ('relevance_batch = 2\nrelevance_prompt = "own.md"', "give relevance_batch_prompt as well"),
        ("relevance_batch = 51", "relevance_batch"),
        ('games = "listwise"\npresentations = 9', "presentations"),
        ('games = "listwise"\nlistwise_prompt = "nowhere.md"', "nowhere.md"),
        ('games = "listwise-adaptive"\nmode = "probability"', "a list is not one token"),
        ('games = "listwise"\nanchors = 8', "anchors"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is_paid(tmp_path: Path, capsys, judge: str, says: str):
    corpus = corpus_of_four(tmp_path / "mine", judge=f"[judge]\n{judge}\n")
    assert main(["plan", str(corpus)]) == 2
    told = capsys.readouterr().err
    assert says in told and ("experiment.toml" in told or "nowhere.md" in told) and "Traceback" not in told
    assert not (tmp_path / "results").exists()


def test_a_model_that_the_command_line_names_is_held_to_it_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = corpus_of_four(tmp_path / "mine")
    assert main(["plan", str(corpus), "--model", "local:smollm2-135m"]) == 2
    assert "a list is not one token" in capsys.readouterr().err
