"""`--sections` of `ragassay score` and `rate`: intervals over source sections, through the command line."""

from __future__ import annotations

import json
from math import exp, log, sqrt
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from scipy.stats import t

from ragassay.cli import main

RELEVANT_AT = (1, 1, 1, 2, 1, 4, 1, 2, 1, 1, 2, 1)
"""The rank of the relevant passage of each query."""
WINNERS = ("a", "b", "a", "a", "tie", "b", "a", "a", "b", "a")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_lines(name: str, lines: list[str]) -> None:
    Path(name).write_text("".join(f"{line}\n" for line in lines))


def write_run(copies: int = 1) -> None:
    """Queries `q00`, …, and their copies `q00-1`, …, which score the same."""
    names = {
        f"q{n:02}{f'-{copy}' if copy else ''}": rank for n, rank in enumerate(RELEVANT_AT) for copy in range(copies)
    }
    write_lines("qrels", [f"{name} 0 d{rank} 1" for name, rank in names.items()])
    write_lines("run", [f"{name} Q0 d{n} {n} {9 - n} t" for name in names for n in range(1, 6)])


def write_queries(sections: dict[str, Any]) -> None:
    rows = ({"_id": name, "text": "?", "metadata": {"section": section}} for name, section in sections.items())
    write_lines("queries.jsonl", [json.dumps(row) for row in rows])


def write_games(copies: int = 1) -> None:
    game = {"agent_a": "A", "agent_b": "B", "first": "a", "judge": "j"}
    names = [(f"q{n:02}{f'-{copy}' if copy else ''}", won) for n, won in enumerate(WINNERS) for copy in range(copies)]
    write_lines("games", [json.dumps(game | {"query_id": name, "winner": won}) for name, won in names])


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
    assert _ends(json.loads(capsys.readouterr().out)) == pytest.approx(_ends(alone), abs=1e-5)


def _ends(printed: dict[str, Any]) -> list[float]:
    figures = printed.get("ratings", printed).values()
    return [figure[end] for figure in figures for end in ("ci_low", "value", "ci_high")]


def test_rate_says_how_many_sections_there_were(capsys: pytest.CaptureFixture[str]) -> None:
    write_games()
    write_queries({f"q{n:02}": n // 5 if n < 8 else None for n in range(10)})
    assert rate("--sections", "queries.jsonl") == 0
    assert json.loads(capsys.readouterr().out)["parameters"]["n_sections"] == 4


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


def test_the_one_query_that_is_lacking_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    write_run()
    write_queries({f"q{n:02}": "s" for n in range(12) if n != 7})
    assert score("--sections", "queries.jsonl") == 2
    assert "queries.jsonl: lacks 1 query of qrels: 'q07'; add" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["bradley-terry", "elo"])
def test_rate_says_who_leads_whether_that_is_decided_who_may_be_the_best_and_what_it_may_lose(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """9 of 12 won is too little for two agents, 27 of 36 is enough, and it is not where threes go together."""
    won = ["a"] * 9 + ["b"] * 3
    game = {"agent_a": "A", "agent_b": "B", "first": "a", "judge": "j"}

    def told(copies: int, *options: str) -> dict[str, Any]:
        names = {f"q{n:02}-{copy}": n for n in range(12) for copy in range(copies)}
        write_lines("games", [json.dumps(game | {"query_id": name, "winner": won[n]}) for name, n in names.items()])
        write_queries({name: f"s{n}" for name, n in names.items()})
        assert rate("--method", method, "--tournaments", "50", *options) == 0
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
    write_lines("games", [json.dumps(game)])
    assert rate() == 0
    out = json.loads(capsys.readouterr().out)
    told = out["verdict"]
    assert (told["leader"], told["decided"], told["possible_best"], told["expected_loss"]) == (None, False, [], None)
    assert told["sentence"] == "Nothing can be said about which agent answers best: all 1 games failed."


def test_rate_prints_who_may_be_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    write_games()
    assert main(["rate", "--games", "games", "--bootstrap", "300"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "A leads, but is not told from B with these" in out
