"""One verdict: the report's, `ragassay rate --json`'s and that of assert_better."""

from __future__ import annotations

import json

import pytest
from support.compared import Made

import ragassay
from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.testing import assert_better

ORDER = ("bm25-rag-fusion", "bm25-rag", "knn-rag-fusion", "knn-rag")


def run(tmp_path, beaten, n=40):
    """Of two the one first in ORDER wins two queries of three, and the first agent all but every `beaten`-th; with 1 it
    shares its games with the second."""
    made = Made(tmp_path, n=n)

    def winner(query, a, b):
        first = min(a, b, key=ORDER.index)
        number = int(query[1:])
        loses = number % beaten == 0 if first == ORDER[0] and beaten > 1 else number % 3 == 0
        if beaten == 1 and first in ORDER[:2]:
            loses = number % 2 == 0 if {a, b} == set(ORDER[:2]) else number % 7 == 0
        return "b" if (first == a) == loses else "a"

    made.winners = {key: winner(*key[:3]) for key in made.winners}
    made.write()
    made.compare()
    return made.workspace.results


@pytest.mark.parametrize("beaten", [2, 3, 8])
def test_rate_says_what_the_report_says(tmp_path, capsys, beaten):
    folder = run(tmp_path, beaten)
    results = ragassay.read_results(folder).results
    assert main(["rate", "--games", str(folder / "games.jsonl"), "--json"]) == 0
    rated = json.loads(capsys.readouterr().out)
    assert rated["verdict"] == results.verdict.dump()
    assert rated["points"] == {agent: figure.dump() for agent, figure in results.points.items()}
    assert {agent: tuple(ends) for agent, ends in rated["ranks"].items()} == results.rating_detail.ranks


def test_the_agent_to_choose_is_better(tmp_path):
    folder = run(tmp_path, 8)
    assert_better(folder, ORDER[0])
    assert_better(ragassay.read_results(folder), ORDER[0], than=ORDER[1:])
    with pytest.raises(AssertionError, match=r"^Choose bm25-rag-fusion: with these .* ahead of every other agent"):
        assert_better(folder, ORDER[1])
    with pytest.raises(AssertionError, match=f"{ORDER[0]} is better than {ORDER[3]}"):
        assert_better(folder, ORDER[3], than=ORDER[:1])


def test_a_leader_that_is_not_told_is_better_only_than_those_it_is_told_from(tmp_path):
    folder = run(tmp_path, 1)
    verdict = ragassay.read_results(folder).results.verdict
    assert verdict.untold and verdict.told
    with pytest.raises(AssertionError, match="are level on these 40 queries"):
        assert_better(folder, verdict.leader)
    assert_better(folder, verdict.leader, than=verdict.told)
    with pytest.raises(AssertionError, match="not distinguishable"):
        assert_better(folder, verdict.leader, than=verdict.untold)


def test_a_leader_that_no_other_is_ahead_of_by_the_margin_is_safe(tmp_path):
    folder = run(tmp_path, 3, n=90)
    path = folder / "results.json"
    results = json.loads(path.read_text())
    results["verdict"] |= {"decided": False, "safe": True}
    path.write_text(json.dumps(results))
    leader = results["verdict"]["leader"]
    assert_better(folder, leader, or_safe=True)
    with pytest.raises(AssertionError):
        assert_better(folder, leader)


def test_an_agent_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="'bm25' is not an agent of the run"):
        assert_better(run(tmp_path, 8), "bm25")
