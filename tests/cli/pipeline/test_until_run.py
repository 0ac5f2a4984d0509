"""`ragassay run --until`: what is known at a look pays for no more queries, and a kill changes neither."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.judged_together import answers_in
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, edit, make_corpus

from ragassay.cli import main

N = 80
OWN = """
[[agent]]
name = "{name}"
kind = "file"
path = "{name}.jsonl"
"""
WORSE = """
[[agent]]
name = "worse"
kind = "python"
callable = "worse_one:answer"
"""
SAYS = {"good": "gold", "bad": "tin"}


def schema_of(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("json_schema", {}).get("name"))


def is_gold(text: str) -> bool:
    return "gold" in text


def is_tin(text: str) -> bool:
    return "tin:" in text or "tin too" in text


def is_neither(text: str) -> bool:
    return not is_gold(text) and not is_tin(text)


def prefers_gold(number: int, body: dict[str, Any]) -> Behaviour:
    """Of two answers the one that says gold is better."""
    text = body["messages"][-1]["content"]
    if schema_of(body) == "ListwiseReply":
        shown = answers_in(text)
        groups = [[one for one in shown if word(shown[one])] for word in (is_gold, is_neither, is_tin)]
        return reply(json.dumps({"reason": "so.", "order": [group for group in groups if group]}))
    if schema_of(body) != "PairwiseReply":
        return answer_everything(number, body)
    if ("gold" in text) != ("tin" in text):
        return reply(json.dumps({"reason": "so.", "verdict": "C"}))
    return reply(json.dumps({"reason": "so.", "verdict": "A" if text.find("gold") < text.find("tin") else "B"}))


def killing(at: int) -> Any:
    """The same, and at that request the run is interrupted."""

    def script(number: int, body: dict[str, Any]) -> Behaviour:
        if number == at:
            os.kill(os.getpid(), signal.SIGINT)
        return prefers_gold(number, body)

    return script


def make(
    corpus: Path, server: ScriptedServer, more: str = "looks = 8", n: int = N, says: Mapping[str, str] = SAYS
) -> None:
    """Agents by a file each, and what each says to all of `n` questions."""
    make_corpus(corpus, "openai:m", server.base_url)
    path = corpus / "experiment.toml"
    text = path.read_text().replace('style = "passage"', 'source = "own"\nevidence = "section"')
    own = "".join(OWN.format(name=name) for name in says)
    text = text.replace("fusion_queries = 2", "agents = []")
    path.write_text(text.replace("max_concurrency = 8", f"max_concurrency = 2\n{more}\n{own}"))
    questions = [f"What does register R{n} do?" for n in range(n)]
    (corpus / "questions.txt").write_text("".join(f"{one}\n" for one in questions))
    for name, word in says.items():
        write_lines(corpus / f"{name}.jsonl", [{"query": one, "answer": f"{word}: {one}"} for one in questions])


@pytest.mark.parametrize("killed_at", [45, *(pytest.param(at, marks=pytest.mark.slow) for at in (5, 61, 110))])
def test_what_is_decided_at_the_second_of_eight_looks_pays_for_a_quarter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], killed_at: int
) -> None:
    """Ten wins of ten have a one-sided p of 2^-10, more than the 0.0225 / 8² of the first look; 20 of 20 of 2^-20."""
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", killing(killed_at)) as server:
        make(corpus, server)
        assert main(["run", str(corpus), "--until", "best"]) == 130
        assert main(["run", str(corpus), "--until", "best"]) == 0
        bodies = Counter(json.dumps(one.body, sort_keys=True) for one in server.requests)
        assert len(bodies) == 3 * 2 * 20 and len(server.requests) <= len(bodies) + 8, "no more than were under way"
        n_asked = len(server.requests)
        assert main(["run", str(corpus), "--until", "best"]) == 0
        assert len(server.requests) == n_asked
    results = corpus.parent / "results" / "mine"
    looks = records(results / "looks.jsonl")
    assert [(one["queries"], one["planned"], one["decided"], one["goes_on"]) for one in looks] == [
        (10, N, False, True),
        (20, N, True, False),
    ]
    assert 0.0225 * 3 / 64 < looks[1]["bound"] < 0.0225 * 4 / 64, "what this look may spend, and a little that overlaps"
    assert len(records(results / "queries.jsonl")) == 20 and len(records(results / "planned.jsonl")) == N
    figures = json.loads((results / "results.json").read_text())
    assert figures["looks"] == looks and figures["n_queries"] == 20 and figures["stopped_early"] is True
    early = "Stopped early, with 20 of 80 planned queries: what the leader is ahead by is overstated."
    printed = " ".join(capsys.readouterr().out.split())
    assert early in printed and "behind the leader, stopped early" in printed
    page = (results / "report.html").read_text()
    assert page.count(early) == 3 and "a clear lead, stopped early" in page and "Behind good, stopped early" in page
    saved = "60 of 80 queries, 120 of 160 answers and 60 of 80 games"
    assert f"Saved against the full plan: {saved}." in page
    assert main(["gate", str(results), "--baseline", str(results)]) == 0
    gated = " ".join(capsys.readouterr().out.split())
    assert gated.count("run: stopped early, with 20 of 80 planned queries: what the leader is ahead by is over") == 2
    told = "Stopped early, at look 2 of 8, with 20 of 80 planned queries (60 saved)"
    assert figures["notices"][0].startswith(told) and told in (results / "report.html").read_text()


@pytest.mark.parametrize(("until", "n_looks"), [("best", 2), ("good-enough", 1)])
def test_two_level_agents_are_good_enough_and_never_the_best(tmp_path: Path, until: str, n_looks: int) -> None:
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", prefers_gold) as server:
        make(corpus, server, "looks = 2\nmargin = 0.2", says={"good": "gold", "level": "gold as well"})
        assert main(["run", str(corpus), "--until", until]) == 0
    looks = records(corpus.parent / "results" / "mine" / "looks.jsonl")
    assert len(looks) == n_looks and not any(one["decided"] for one in looks) and all(one["safe"] for one in looks)
    assert not looks[-1]["goes_on"]
    figures = json.loads((corpus.parent / "results" / "mine" / "results.json").read_text())
    assert figures["stopped_early"] is (n_looks == 1)


def test_agents_told_from_the_leader_do_not_meet_each_other_any_more(tmp_path: Path) -> None:
    """Two that say gold are level and go to the end; two that say tin are told from them at the second look."""
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", prefers_gold) as server:
        make(corpus, server, "looks = 4", n=24, says={**SAYS, "better": "gold too", "worse": "tin too"})
        assert main(["run", str(corpus), "--until", "best"]) == 0
        n_games = sum(schema_of(one.body) == "PairwiseReply" for one in server.requests)
    results = corpus.parent / "results" / "mine"
    looks = records(results / "looks.jsonl")
    assert [sorted(one["told"]) for one in looks] == [[], ["bad", "worse"], ["bad", "worse"], ["bad", "worse"]]
    assert n_games == 2 * (12 * 6 + 12 * 5) == len(records(results / "games.jsonl"))
    points = json.loads((results / "results.json").read_text())["points"]
    assert [points[name]["value"] for name in ("good", "better")] == pytest.approx([5 / 6, 5 / 6], abs=1e-6)


def figures_of(value: Any, agent: str, mine: bool = False) -> Iterator[dict[str, Any]]:
    """Every figure in a record that stands under an agent's name."""
    if isinstance(value, dict):
        if mine and "value" in value and "n_failed" in value:
            yield value
        for name, part in value.items():
            yield from figures_of(part, agent, mine or name == agent)


@pytest.mark.parametrize("games", ["all", "listwise"])
def test_agents_told_are_asked_every_other_batch_and_what_they_were_not_asked_is_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], games: str
) -> None:
    """Told at the second of six looks they answer the third and the fifth batch, not the fourth and the sixth."""
    corpus, by_file = tmp_path / "mine", {"worse": "tin too"} if games == "listwise" else {}
    with ScriptedServer("openai", prefers_gold) as server:
        make(corpus, server, 'looks = 6\neliminate = "answers"', n=36, says={**SAYS, "better": "gold too", **by_file})
        path = corpus / "experiment.toml"
        text = path.read_text().replace("agents = []", 'agents = ["rag"]\nrepeats = 2')
        path.write_text(text.replace("[judge]\n", f'[judge]\ngames = "{games}"\n') + ("" if by_file else WORSE))
        (corpus / "worse_one.py").write_text(
            f"from pathlib import Path\n\ndef answer(query):\n"
            f"    with Path({str(tmp_path / 'asked')!r}).open('a') as asked:\n        asked.write(query + '\\n')\n"
            f"    return 'tin too: ' + query\n"
        )
        assert main(["run", str(corpus), "--until", "best"]) == 0
        n_games = sum(schema_of(one.body) == "PairwiseReply" for one in server.requests)
    results = corpus.parent / "results" / "mine"
    told = {"bm25-rag", "bad", "worse"}
    looks, queries = records(results / "looks.jsonl"), [one["_id"] for one in records(results / "queries.jsonl")]
    assert [set(one.get("not_asked", ())) for one in looks] == [set(), set(), set(), told, set(), told]
    left = {(query, agent) for query in (*queries[18:24], *queries[30:]) for agent in told}
    assert {(one["query_id"], one["agent"]) for one in records(results / "not-asked.jsonl")} == left
    for agent in ("good", "better", *told):
        answered = [one["query_id"] for one in records(results / "answers" / f"{agent}.jsonl")]
        assert answered == [query for query in queries if (query, agent) not in left]
    if not by_file:
        asked = (tmp_path / "asked").read_text().splitlines()
        assert len(asked) == len(set(asked)) == 24, "at no look again"
    assert n_games == (2 * (12 * 10 + 12 * 7 + 12) if games == "all" else 0)

    found = json.loads((results / "results.json").read_text())
    for agent in told:
        rows = list(figures_of(found, agent))
        assert len(rows) > 20 and not any(one["n_failed"] for one in rows)
        assert {one["n"] for part in ("pointwise", "answers") for one in found[part][agent].values()} <= {24, 0}
        assert found["points"][agent]["n"] == found["verdict"]["differences"][agent]["n"] == 24
    pairs = {(one["agent_a"], one["agent_b"]): one for one in found["comparisons"] if one["measure"] == "accuracy"}
    assert {(one["difference"]["n"], one["difference"]["n_failed"]) for one in pairs.values()} == {(36, 0), (24, 0)}
    assert not any(one["lacking_a"] or one["lacking_b"] for one in found["comparisons"])
    assert not any(any(one.values()) if isinstance(one, dict) else one for one in found["failures"].values())
    assert not left & {(one["query_id"], one["agent"]) for one in records(results / "values.jsonl")}
    page, said = (results / "report.html").read_text(), "3 agents that were told from the leader were asked every other"
    assert page.count(said) == 1 and "Not asked, by plan: bm25-rag, bad, worse." in page
    unplayed = 108 if games == "listwise" else 144
    assert f"Saved against the full plan: 48 of 216 answers and {unplayed} of 360 games." in page
    capsys.readouterr()
    assert main(["gate", str(results), "--baseline", str(results)]) == 0
    assert "lacking" not in capsys.readouterr().out
    assert {row["subject"] for row in sheet(corpus, capsys)[1]}


def test_lists_of_earlier_looks_stay_and_the_plan_says_how_many_queries_are_likely(tmp_path: Path, capsys) -> None:
    """The server's lists name no winner, so that the run goes to its end, and each of them is asked once."""
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", answer_everything) as server:
        make(corpus, server, "looks = 3", n=30)
        edit(corpus, "[judge]\n", '[judge]\ngames = "listwise"\n')
        assert main(["plan", str(corpus), "--until", "best"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "At most 30 queries, as above, in up to 3 looks, until the best is known" in said
        assert main(["run", str(corpus), "--until", "best"]) == 0
        lists = Counter(json.dumps(one.body) for one in server.requests if schema_of(one.body) == "ListwiseReply")
    assert len(lists) == sum(lists.values()) == 30 * 2
    looks = records(corpus.parent / "results" / "mine" / "looks.jsonl")
    assert [one["queries"] for one in looks] == [10, 20, 30] and not looks[-1]["goes_on"]


def test_what_is_asked_again_and_what_a_second_judge_is_asked_stays_from_look_to_look(tmp_path: Path) -> None:
    """Whatever was asked at any of three looks is on record after the last: none was drawn anew."""
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", answer_everything) as server:
        make(corpus, server, "looks = 3", n=30)
        path, more = corpus / "experiment.toml", 'repeats = 2\nrepeat_share = 0.25\nsecond = "openai:dear"\n'
        text = path.read_text().replace("[judge]\n", f"[judge]\n{more}")
        path.write_text(text + text[text.index('[models."openai:m"]') :].replace("openai:m", "openai:dear"))
        assert main(["run", str(corpus), "--until", "best"]) == 0
        asked = Counter(json.dumps(one.body, sort_keys=True) for one in server.requests)
    results = corpus.parent / "results" / "mine"
    assert len(records(results / "looks.jsonl")) == 3
    again = {(one["query_id"], one["subject"], one["criterion"][:4], one["sample"]) for one in repeats_of(results)}
    n_games = sum(criterion == "game" for _, _, criterion, _ in again)
    games = [n for body, n in asked.items() if "PairwiseReply" in body and '"model": "m"' in body]
    assert (len(games), sum(games)) == (60, 60 + 2 * n_games) and n_games == 2 * 8
    said = [one for one in records(results / "second" / "games.jsonl") if one["error"] is None]
    assert len(said) == sum('"model": "dear"' in body and "PairwiseReply" in body for body in asked) > 0


def repeats_of(results: Path) -> list[dict[str, Any]]:
    return records(results / "repeats.jsonl")


def sheet(corpus: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, list[dict[str, Any]]]:
    """A sheet of games, and the lines of what it could draw."""
    capsys.readouterr()
    assert main(["label-sheet", str(corpus), "--kind", "games", "--n", "8"]) == 0
    out = Path(capsys.readouterr().out.split(": ")[0])
    return out, records(corpus / "label-samples" / f"{out.stem.removeprefix('label-sheet-')}.jsonl")


def test_people_label_a_sample_of_each_look_and_correcting_after_a_stop_is_a_new_analysis(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Interrupted while the second look of eight is judged, when ten games are; twenty are at its end."""
    corpus = tmp_path / "mine"
    results = corpus.parent / "results" / "mine"
    with ScriptedServer("openai", killing(110)) as server:
        make(corpus, server)
        assert main(["run", str(corpus), "--until", "best"]) == 130
        first, drawn_first = sheet(corpus, capsys)
        assert main(["run", str(corpus), "--until", "best"]) == 0
        second, drawn_second = sheet(corpus, capsys)
        asked = [{row["query"] for row in rows} for rows in (drawn_first, drawn_second)]
        assert [len(one) for one in asked] == [10, 10] and not asked[0] & asked[1]
        assert all(sum(row["drawn"] for row in rows) == 8 for rows in (drawn_first, drawn_second))
        said = "what people's labels correct after that is a new analysis"
        assert said not in (results / "results.json").read_text()
        for out in (first, second):
            out.write_bytes(out.read_bytes().replace(b",\r\n", b",1\r\n"))
            assert main(["label-sheet", str(corpus), "--take", str(out), "--who", "ann"]) == 0
        n_asked = len(server.requests)
        assert main(["run", str(corpus), "--until", "best"]) == 0
        figures = json.loads((results / "results.json").read_text())
        assert len(server.requests) == n_asked and figures["corrected"]["n_labels"] == 16
        assert said in figures["corrected"]["notes"][-1] and said in figures["notices"][-1]

        texts = {one["_id"]: one["text"] for one in records(results / "planned.jsonl")}
        drawn = {row["query"] for rows in (drawn_first, drawn_second) for row in rows}
        untouched = next(text for query, text in texts.items() if query not in drawn)
        in_first = texts[drawn_first[0]["query"]]
        whole = (corpus / "questions.txt").read_text()
        for text, status in ((in_first, 2), (untouched, 0)):
            (corpus / "questions.txt").write_text(whole.replace(f"{text}\n", "What is new?\n"))
            capsys.readouterr()
            assert main(["run", str(corpus), "--until", "best"]) == status
            if status:
                refused = " ".join(capsys.readouterr().err.split())
        n_asked = len(server.requests)
        assert "1 of its questions" in refused and "move this sheet elsewhere" in refused
        assert first.stem.removeprefix("label-sheet-") in refused and second.stem[12:] not in refused

        (corpus / "questions.txt").write_text("".join(f"Where is register S{n}?\n" for n in range(N)))
        capsys.readouterr()
        assert main(["run", str(corpus), "--until", "best"]) == 2
        assert "was drawn from another test set than the one that is planned" in capsys.readouterr().err
        for path in (corpus / "label-samples").iterdir():
            path.unlink()
        (corpus / "questions.txt").write_text("".join(f"What does register R{n} do?\n" for n in range(20)))
        (corpus / "labels.csv").write_text("who,when,query,subject,criterion,label\nann,,gone,good:bad,game,1\n")
        assert main(["run", str(corpus), "--until", "best"]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert "labels the query 'gone', which the planned test set does not have" in told
        assert len(server.requests) == n_asked, "before anything is paid for"


def test_a_run_of_fixed_length_after_one_that_looked_knows_nothing_of_its_plan(tmp_path: Path, capsys) -> None:
    corpus = tmp_path / "mine"
    results = corpus.parent / "results" / "mine"
    with ScriptedServer("openai", answer_everything) as server:
        make(corpus, server, 'looks = 2\neliminate = "answers"', n=12)
        assert main(["run", str(corpus), "--until", "best"]) == 0
        assert (results / "not-asked.jsonl").exists() and "planned" in sheet(corpus, capsys)[1][0]
        assert main(["run", str(corpus)]) == 0
    left = ("planned.jsonl", "look.json", "not-asked.jsonl")
    assert not any((results / name).exists() for name in left) and len(records(results / "queries.jsonl")) == 12
    capsys.readouterr()
    assert main(["label-sheet", str(corpus), "--kind", "answers", "--n", "8"]) == 0
    drawn = max((corpus / "label-samples").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert not any("planned" in row for row in records(drawn))


@pytest.mark.slow
def test_what_a_stage_has_cost_counts_once_towards_the_limit_however_often_it_looks(tmp_path: Path) -> None:
    """The judge grades evidence before the first look; a limit a little above what the whole run costs is enough."""
    cost = 100.0
    for name in ("whole", "limited"):
        corpus = tmp_path / name
        with ScriptedServer("openai", answer_everything) as server:
            make(corpus, server, f"looks = 4\nmax_cost_usd = {1.15 * cost}", n=40)
            edit(corpus, 'evidence = "section"', 'evidence = "corpus"')
            edit(corpus, "timeout_s = 20.0", "prices_usd_per_million = { input = 1000.0, output = 1000.0 }")
            edit(corpus, "max_concurrency = 2", "max_concurrency = 1")
            assert main(["run", str(corpus), "--until", "best"]) == 0
        results = corpus.parent / "results" / name
        assert len(records(results / "looks.jsonl")) == 4
        usage = json.loads((results / "results.json").read_text())["usage"]
        cost = sum(one["cost_usd"] or 0.0 for one in usage)
        assert {one["stage"] for one in usage} == {"questions", "judge"} and cost > 0


def test_another_plan_begins_anew_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "mine"
    results = corpus.parent / "results" / "mine"
    with ScriptedServer("openai", prefers_gold) as server:
        make(corpus, server)
        assert main(["run", str(corpus), "--until", "best"]) == 0
        first = records(results / "looks.jsonl")
        edit(corpus, "looks = 8", "looks = 4")
        capsys.readouterr()
        assert main(["run", str(corpus), "--until", "best"]) == 0
    again = records(results / "looks.jsonl")
    assert [one["queries"] for one in again] == [20] and again[0]["plan"] != first[0]["plan"]
    manifest = json.loads((results / "manifests" / "draw.json").read_text())
    assert "a new plan of looks begins: the 2 in looks.jsonl" in manifest["notices"][0]


@pytest.mark.parametrize(
    ("more", "n", "said"),
    [
        ("looks = 16", N, "its first of 16 looks has queries from 5 sections"),
        ("margin = 0.0", N, "run.margin"),
        ("max_queries = 0", N, "run.max_queries"),
        ("max_queries = 4", N, "has queries from 1 sections"),
    ],
)
def test_a_plan_that_cannot_tell_anything_is_refused_before_paying(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str, n: int, said: str
) -> None:
    corpus = tmp_path / "mine"
    with ScriptedServer("openai", prefers_gold) as server:
        make(corpus, server, more, n=n)
        assert main(["run", str(corpus), "--until", "good-enough"]) == 2
        assert said in " ".join(capsys.readouterr().err.split()) and not server.requests
