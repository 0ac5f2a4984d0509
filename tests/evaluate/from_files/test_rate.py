"""`ragassay rate` and `score` on anybody's files: layouts, sections, spoilt files."""

from __future__ import annotations

import json
from math import exp, log, sqrt
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from scipy.stats import t
from support.json_lines import write_lines

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.from_files.rate import rate_file

RELEVANT_AT = (1, 1, 1, 2, 1, 4, 1, 2, 1, 1, 2, 1)
"""The rank of the relevant passage of each query."""
WINNERS = ("a", "b", "a", "a", "tie", "b", "a", "a", "b", "a")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_texts(name: str, lines: list[str]) -> None:
    Path(name).write_text("".join(f"{line}\n" for line in lines))


def write_run(copies: int = 1) -> None:
    """Queries `q00`, …, and their copies `q00-1`, …, which score the same."""
    names = {
        f"q{n:02}{f'-{copy}' if copy else ''}": rank for n, rank in enumerate(RELEVANT_AT) for copy in range(copies)
    }
    write_texts("qrels", [f"{name} 0 d{rank} 1" for name, rank in names.items()])
    write_texts("run", [f"{name} Q0 d{n} {n} {9 - n} t" for name in names for n in range(1, 6)])


def write_queries(sections: dict[str, Any]) -> None:
    rows = ({"_id": name, "text": "?", "metadata": {"section": section}} for name, section in sections.items())
    write_texts("queries.jsonl", [json.dumps(row) for row in rows])


def write_games(copies: int = 1) -> None:
    game = {"agent_a": "A", "agent_b": "B", "first": "a", "judge": "j"}
    names = [(f"q{n:02}{f'-{copy}' if copy else ''}", won) for n, won in enumerate(WINNERS) for copy in range(copies)]
    write_texts("games", [json.dumps(game | {"query_id": name, "winner": won}) for name, won in names])


def score(*options: str) -> int:
    return main(["score", "--qrels", "qrels", "--run", "run", "--measure", "RR(rel=1)@5", "--json", *options])


def rate(*options: str) -> int:
    return main(["rate", "--games", "games", "--bootstrap", "300", "--json", *options])


def test_score_has_students_interval_of_section_means_on_the_logit_scale(capsys: pytest.CaptureFixture[str]) -> None:
    write_run()
    write_queries({f"q{n:02}": f"s{n // 3}" for n in range(12)} | {"not judged": "s9"})
    assert score("--sections", "queries.jsonl") == 0
    found = json.loads(capsys.readouterr().out)["RR(rel=1)@5"]
    means = [sum(1 / rank for rank in RELEVANT_AT[n : n + 3]) / 3 for n in range(0, 12, 3)]
    mean = sum(means) / 4
    error = t.ppf(0.975, 3) * stdev(means) / sqrt(4)
    ends = [1 / (1 + exp(-(log(mean / (1 - mean)) + side * error / (mean * (1 - mean))))) for side in (-1, 1)]
    part = 0.06 * max(0.0, 4 * abs(mean - 0.5) - 1)
    pulled, n = (4 * mean + part) / (4 + 2 * part), 4 + 2 * part
    reach = sqrt((4 * error) ** 2 + 1.959964**2 * part * (pulled**2 + (1 - pulled) ** 2)) / n / (pulled * (1 - pulled))
    ends[0] = min(ends[0], 1 / (1 + exp(reach - log(pulled / (1 - pulled)))))
    assert (found["value"], found["ci_low"], found["ci_high"]) == pytest.approx((mean, *ends), abs=1e-7)
    assert found["n"] == 12


@pytest.mark.parametrize(("verb", "write"), [(score, write_run), (rate, write_games)])
def test_a_query_asked_again_in_its_section_tells_nothing_more(verb, write, capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert verb() == 0
    alone = json.loads(capsys.readouterr().out)
    write(copies=3)
    assert verb() == 0
    assert _ends(json.loads(capsys.readouterr().out)) != pytest.approx(_ends(alone), abs=1e-3)
    write_queries({f"q{n:02}{end}": f"s{n:02}" for n in range(12) for end in ("", "-1", "-2")})
    assert verb("--sections", "queries.jsonl") == 0
    found = json.loads(capsys.readouterr().out)
    assert _ends(found) == pytest.approx(_ends(alone), abs=1e-5)
    assert verb is score or found["parameters"]["n_sections"] == 10


def _ends(printed: dict[str, Any]) -> list[float]:
    figures = printed.get("ratings", printed).values()
    return [figure[end] for figure in figures for end in ("ci_low", "value", "ci_high")]


LINE = '{"_id": "q00", "text": "?", "metadata": {"section": "s"}}\n'


@pytest.mark.parametrize("verb", [score, rate])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LINE, "'q01', 'q02', 'q03', …; add them"),
        (LINE * 2, "has the id 'q00' twice"),
        ('{"_id": "q00", "text": "?"}\n', "names no query's section"),
        ('{"_id": "q00", "text": "?", "metadata": {"section": []}}\n', "names no query's section"),
        ("", "names no query's section"),
        ('{"text": "?"}\n', "queries.jsonl:1: _id"),
        (None, "queries.jsonl: "),
    ],
)
def test_bad_sections_are_one_sentence(verb, text: str | None, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_run()
    write_games()
    if text is not None:
        Path("queries.jsonl").write_text(text)
    assert verb("--sections", "queries.jsonl") == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("ragassay: ") and says in said and "\n" not in said


def test_rate_says_who_leads_whether_that_is_decided_who_may_be_the_best_and_what_it_may_lose(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """9 of 12 won is too little for two agents, 27 of 36 is enough, and it is not where threes go together."""
    won = ["a"] * 9 + ["b"] * 3
    game = {"agent_a": "A", "agent_b": "B", "first": "a", "judge": "j"}

    def told(copies: int, *options: str) -> dict[str, Any]:
        names = {f"q{n:02}-{copy}": n for n in range(12) for copy in range(copies)}
        write_texts("games", [json.dumps(game | {"query_id": name, "winner": won[n]}) for name, n in names.items()])
        write_queries({name: f"s{n}" for name, n in names.items()})
        assert rate(*options) == 0
        out: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert out["verdict"]["leader"] == "A" and 0 < out["verdict"]["expected_loss"] < 0.5
        return out["verdict"]

    few, many, together = told(1), told(3), told(3, "--sections", "queries.jsonl")
    assert [run["decided"] for run in (few, many, together)] == [False, True, False]
    assert [run["possible_best"] for run in (few, many, together)] == [["A", "B"], ["A"], ["A", "B"]]
    assert (
        few["expected_loss"] == pytest.approx(together["expected_loss"])
        and together["differences"] != many["differences"]
    )
    assert few["expected_loss"] > many["expected_loss"]


def test_rate_of_games_without_a_verdict_has_no_leader(capsys: pytest.CaptureFixture[str]) -> None:
    game = {"query_id": "q", "agent_a": "A", "agent_b": "B", "first": "a", "judge": "j", "winner": None, "error": "x"}
    write_texts("games", [json.dumps(game)])
    assert rate() == 0
    out = json.loads(capsys.readouterr().out)
    told = out["verdict"]
    assert (told["leader"], told["decided"], told["possible_best"], told["expected_loss"]) == (None, False, [], None)
    assert told["sentence"] == "Nothing can be said about which agent answers best: all 1 games failed."


GAMES = [("q1", "x", "y", "a"), ("q2", "y", "x", "b"), ("q3", "x", "z", "tie"), ("q4", "z", "y", "b")] * 2
WORDS = {"a": "model_a", "b": "model_b", "tie": "tie (bothbad)"}


def written(folder: Path, layout: str) -> Path:
    """The same games in a layout; none of them has an order but RAGElo's, whose agent_a is shown first."""
    rows = [(f"{query}{i}", one, other, winner) for i, (query, one, other, winner) in enumerate(GAMES)]
    if layout in {"ours.csv", "names.csv"}:
        told = [(q, a, b, {"a": a, "b": b, "tie": "tie"}[w] if layout == "names.csv" else w) for q, a, b, w in rows]
        header = "query_id,agent_a,agent_b,winner"
    elif layout == "ragelo.csv":
        told, header = (
            [(q, a, b, {"a": "A", "b": "B", "tie": "C"}[w]) for q, a, b, w in rows],
            "qid,agent_a,agent_b,answer",
        )
    elif layout == "kaggle.csv":
        told = [(q, a, b, int(w == "a"), int(w == "b"), int(w == "tie")) for q, a, b, w in rows]
        header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie"
    else:
        arena = [{"question_id": q, "model_a": a, "model_b": b, "winner": WORDS[w]} for q, a, b, w in rows]
        plain = [{"query_id": q, "agent_a": a, "agent_b": b, "winner": w} for q, a, b, w in rows]
        path = folder / layout
        objects = plain if layout == "ours.jsonl" else arena
        path.write_text(json.dumps(arena) if layout.endswith(".json") else "\n".join(map(json.dumps, objects)))
        return path
    path = folder / layout
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in told)]) + "\n")
    return path


@pytest.mark.parametrize(
    "layout",
    ["ours.jsonl", "ours.csv", "names.csv", "ragelo.csv", "kaggle.csv", "arena.json", "arena.jsonl"],
)
def test_every_layout_gives_the_ratings_of_the_same_games(tmp_path: Path, layout: str):
    games = [
        {"query_id": f"{q}{i}", "agent_a": a, "agent_b": b, "first": "a", "winner": w}
        for i, (q, a, b, w) in enumerate(GAMES)
    ]
    (tmp_path / "games.jsonl").write_text("\n".join(map(json.dumps, games)))
    expected = rate_file(tmp_path / "games.jsonl", "bradley-terry", bootstrap=100)
    found = rate_file(written(tmp_path, layout), "bradley-terry", bootstrap=100)
    assert found["ratings"] == expected["ratings"] and found["n_verdicts"] == len(GAMES)
    assert found["first_shown_wins"]["n"] == (expected["first_shown_wins"]["n"] if layout == "ragelo.csv" else 0)


def test_games_without_an_order_are_not_taken_for_the_two_orders_of_one(tmp_path: Path):
    """Two games of one query that contradict each other: with orders one tie, without two games."""
    rows = [
        {"query_id": "q", "agent_a": "x", "agent_b": "y", "winner": "a"},
        {"query_id": "q", "agent_a": "y", "agent_b": "x", "winner": "a"},
    ]
    (tmp_path / "g.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = rate_file(tmp_path / "g.jsonl", "elo")
    assert (found["n_verdicts"], found["flip_rate"]["n"], found["first_shown_wins"]["value"]) == (2, 0, None)
    (tmp_path / "g.jsonl").write_text("\n".join(json.dumps(row | {"first": "a"}) for row in rows))
    found = rate_file(tmp_path / "g.jsonl", "elo")
    assert (found["n_verdicts"], found["flip_rate"]["value"]) == (1, 1.0)


def test_a_game_without_a_winner_failed_and_is_no_tie(tmp_path: Path):
    (tmp_path / "g.csv").write_text("query_id,agent_a,agent_b,winner\nq1,x,y,a\nq2,x,y,\n")
    found = rate_file(tmp_path / "g.csv", "elo")
    assert (found["n_games"], found["n_failed"], found["n_verdicts"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("g.csv", "query_id,agent_a,agent_b,winner\nq1,x,y,draw\n", r"g.csv:2: winner is 'draw'; a game has query_id"),
        ("g.csv", "agent_a,agent_b,winner\nx,y,a\n", r"g.csv:2: has no 'query_id'; a game has"),
        ("g.csv", "query_id,left,right,winner\nq,x,y,a\n", r"g.csv:2: has no 'agent_a'; a game has"),
        ("g.csv", "query_id,agent_a,agent_b\nq,x,y\n", r"g.csv:2: has no 'winner'; a game has"),
        ("g.csv", "query_id,agent_a,agent_b,winner\nq,x,x,a\n", r"g.csv:2: .*plays itself"),
        ("g.json", '{"a": 1}', "is not a JSON array of games"),
        ("g.jsonl", '{"query_id": "q", "agent_a": "x"}', r"g.jsonl:1: has no 'agent_b'"),
    ],
)
def test_a_refusal_names_the_layout_wanted(tmp_path: Path, name: str, text: str, says: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=says):
        rate_file(tmp_path / name, "elo")


RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\n"
QRELS = "q1 0 d1 1\n"
GAME = {"query_id": "q", "agent_a": "A", "agent_b": "B", "first": "a", "judge": "j", "winner": "a"}


def said(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().err.strip()
    assert text.startswith("ragassay: ") and "\n" not in text
    return text


@pytest.mark.parametrize(
    ("qrels", "run", "measure", "says"),
    [
        ("q1 0 d1 1\nq1 0 d1 2\n", RUN, "AP", "qrels:2: gives 'd1' another label"),
        ("q1 0 d1 1e30\n", RUN, "AP", "qrels:1: label 1e30"),
        ("q1 0 d1 99999999999\n", RUN, "AP", "qrels:1: label"),
        ("q1 0 d1 1_0\n", RUN, "AP", "qrels:1: '1_0' is not a number"),
        ("q1 0 d1 nan\n", RUN, "AP", "qrels:1: 'nan' is not a finite number"),
        ("q9 0 d1 1\n", RUN, "AP", "shares no query"),
        ("", RUN, "AP", "qrels: has no query"),
        (QRELS, "q1 Q0 d1 1 inf t\n", "AP", "run:1: 'inf'"),
        (QRELS, RUN + "x" * 100_000 + "\n", "AP", "run:3: has 1 columns"),
        (QRELS, RUN, "alpha_nDCG@5", "is not a measure"),
        (QRELS, RUN, 'nDCG(dcg="exp-log2")@5', "is not a measure"),
        (QRELS, RUN, "R@99999999999999999999", "is not a measure"),
    ],
)
def test_score(qrels: str, run: str, measure: str, says: str, capsys: pytest.CaptureFixture[str]):
    Path("qrels").write_text(qrels)
    Path("run").write_text(run)
    assert main(["score", "--qrels", "qrels", "--run", "run", "--measure", measure]) == 2
    assert says in said(capsys)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (json.dumps(GAME | {"agent_a": ""}), "games:1: agent_a"),
        (json.dumps(GAME | {"probability": float("nan")}), "games:1: probability"),
        (json.dumps(GAME | {"probability": 5}), "games:1: probability"),
        (json.dumps(GAME | {"winner": None}), "games:1: exactly one of winner and error must be set"),
        ("[" * 100_000, "games:1: is not JSON"),
        ('{"query_id": ' + "9" * 5000 + "}", "games:1: is not JSON"),
        ("", "has no game"),
    ],
)
def test_rate(line: str, says: str, capsys: pytest.CaptureFixture[str]):
    Path("games").write_text(line + "\n")
    assert main(["rate", "--games", "games"]) == 2
    assert says in said(capsys)


def test_rate_says_how_sure_the_order_is(capsys: pytest.CaptureFixture[str]):
    pairs = (("A", "B"), ("B", "C"), ("C", "A"))
    games = [GAME | {"query_id": f"q{n}", "agent_a": a, "agent_b": b} for n in range(9) for a, b in pairs]
    write_lines(Path("games"), games)
    assert main(["rate", "--games", "games", "--bootstrap", "100"]) == 0
    shown = capsys.readouterr().out
    assert "P(best)" in shown and "1 to 3" in shown and "9 queries" in shown
    assert "1 of 1 triples of agents run in a circle" in shown


def test_score_says_which_queries_are_scored_0_for_want_of_a_ranking_and_takes_a_label_twice_alike_once(
    capsys: pytest.CaptureFixture[str],
):
    Path("qrels").write_text(QRELS * 2 + "q2 0 d1 1\n")
    Path("run").write_text(RUN)
    assert main(["score", "--qrels", "qrels", "--run", "run", "--measure", "AP"]) == 0
    assert "queries of the qrels that the run lacks, each scored 0: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "option",
    [
        ["--seed", "-1"],
        ["--k-factor", "1e308"],
        ["--k-factor", "nan"],
        ["--k-factor", "0"],
        ["--initial", "1e308"],
        ["--tournaments", "1000000000000"],
        ["--bootstrap", "1000000000000"],
        ["--bootstrap", "5"],
    ],
)
def test_rate_with_numbers_out_of_range(option: list[str], capsys: pytest.CaptureFixture[str]):
    Path("games").write_text(json.dumps(GAME) + "\n")
    assert main(["rate", "--games", "games", *option]) == 2
    assert "it must be" in said(capsys)
