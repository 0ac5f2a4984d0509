"""The demo's first screen gives one answer: verdict, set, picture, pairs and ranks name the same agents everywhere."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from support.finished_run.run import Run
from support.made_up_results.page import Page

from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.report.terminal import RankedTable
from ragassay.evaluate.results import Results

pytestmark = pytest.mark.xdist_group("demo")


def told_apart(results: Results) -> dict[str, bool]:
    """Agent to whether the table of pairs tells the leader from it."""
    leader, found = results.verdict.leader, {}
    for row in results.comparisons:
        if row.measure == "points" and leader in (row.agent_a, row.agent_b):
            other = row.agent_b if row.agent_a == leader else row.agent_a
            found[other] = row.verdict == ("better" if row.agent_a == leader else "worse")
    return found


def test_verdict_set_pairs_ranks_and_order_name_the_same_agents(demo: Run) -> None:
    results = read_results(demo.results / "results.json")
    verdict = results.verdict
    assert verdict.leader == results.agents[0] and verdict.leader in verdict.sentence
    assert verdict.possible_best == (verdict.leader, *verdict.untold)
    assert (*verdict.possible_best, *verdict.told) == results.agents == tuple(verdict.p_best)
    assert all(agent in verdict.sentence for agent in verdict.untold)
    assert not any(f" {agent} " in verdict.sentence for agent in verdict.told)
    assert told_apart(results) == {agent: agent in verdict.told for agent in results.agents[1:]}
    assert results.rating_detail is not None
    ranks = results.rating_detail.ranks
    assert ranks[results.agents[0]] == (1, len(verdict.possible_best))
    assert {agent for agent, (low, _) in ranks.items() if low == 1} == set(verdict.possible_best)
    for agent, figure in verdict.differences.items():
        assert figure.ci_low is not None and (figure.ci_low >= 0) == (agent in verdict.told)


def test_page_and_terminal_show_that_answer(demo: Run) -> None:
    results = read_results(demo.results / "results.json")
    verdict = results.verdict
    stream = StringIO()
    Console(file=stream, width=100, no_color=True).print(RankedTable(results))
    lines = stream.getvalue().splitlines()
    begin = lines.index(next(line for line in lines if line.startswith("behind the leader"))) + 1
    drawn = lines[begin : begin + len(results.agents)]
    assert [line.split()[0] for line in drawn] == list(results.agents)
    assert [line.split()[0] for line in drawn[1:] if "not told" in line] == list(verdict.untold)
    page = Page((demo.results / "report.html").read_text(encoding="utf-8"))
    for agent in results.agents:
        row = next(row for row in page.of("verdict", agent) if row.cells[0].split()[0] == agent)
        said = "leads" if agent == verdict.leader else "told" if agent in verdict.told else "may be the best"
        assert " ".join(row.cells[0].split()[1:]) == said
