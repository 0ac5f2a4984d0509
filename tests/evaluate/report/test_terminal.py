"""What the terminal shows of a run, and of a screening."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from support.made_up_results.texts import AGENTS, CRITERIA, HOSTILE, TOLD
from support.made_up_results.workspace import make_workspace
from support.made_up_screen import LONG, made_up_screen

from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.report.terminal import RankedTable, ScreenTable
from ragassay.evaluate.report.wording import telling_criterion
from ragassay.evaluate.results import Results
from ragassay.evaluate.screening.screened import ScreenResults
from ragassay.files import write_json
from ragassay.records import Figure


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return read_results(make_workspace(tmp_path_factory.mktemp("run"), hostile=False).figures)


def printed(results: Results, width: int, *, color: bool = False) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, force_terminal=color, color_system="standard" if color else None).print(
        RankedTable(results)
    )
    return stream.getvalue()


def test_at_100_columns_a_line_an_agent_with_rating_interval_and_measures(results: Results) -> None:
    lines = printed(results, 100).splitlines()
    heading = next(line for line in lines if line.startswith("Agent"))
    told = telling_criterion(results)
    assert told in CRITERIA
    for name in ("points", "[95%]", "BT", "MRR@5 very", "MRR@5 somewhat", told, "failed"):
        assert name in heading
    for agent in AGENTS[:-1]:
        row = row_of(lines, agent)
        points, very = results.points[agent], results.retrieval[agent]["RR(rel=2)@5"]
        ends = f"[{100 * points.ci_low:.1f}, {100 * points.ci_high:.1f}]"
        assert f"{100 * points.value:.1f}" in row and ends in row
        assert f"{results.bradley_terry[agent].value:.0f}" in row
        assert f"{very.value:.3f}" in row and f"{results.pointwise[agent][told].value:.2f}" in row


def row_of(lines: list[str], agent: str) -> str:
    """The agent's row of the ranked table."""
    heading = next(at for at, line in enumerate(lines) if line.startswith("Agent"))
    return next(line for line in lines[heading:] if line.split()[:1] == [agent])


def graded(results: Results, **means: tuple[float | None, ...]) -> Results:
    """The results with these means of the agents on a criterion; None is a mean that failed, and all intervals +- 0.2
    but of what is called exact."""
    table: dict[str, dict[str, Figure]] = {agent: {} for agent in results.agents}
    for name, values in means.items():
        for agent, value in zip(results.agents, values, strict=False):
            half = 0.0 if name == "exact" else 0.2
            ends = (None, None) if value is None else (value - half, value + half)
            table[agent][name] = Figure(value=value, n=9, ci_low=ends[0], ci_high=ends[1])
    return results.model_copy(update={"pointwise": table})


def test_the_criterion_shown_is_the_one_that_tells_the_agents_apart(results: Results) -> None:
    level, apart, none = (2.0,) * 6, (1.9, 1.8, 1.5, 1.2, 0.9, 0.4), (None,) * 6
    assert telling_criterion(graded(results, accuracy=level, completeness=apart)) == "completeness"
    assert telling_criterion(graded(results, relevance=apart, completeness=apart)) == "relevance", "of equals the first"
    assert telling_criterion(graded(results, accuracy=level, exact=(1.5, 1.4) * 3, precision=level)) == "exact"
    assert telling_criterion(graded(results, completeness=apart, answer_correctness=level)) == "answer_correctness"
    assert telling_criterion(graded(results, completeness=apart, answer_correctness=none)) == "completeness"
    assert telling_criterion(graded(results, accuracy=level)) == "accuracy"
    assert telling_criterion(graded(results, accuracy=none)) is None and telling_criterion(graded(results)) is None
    wide = printed(graded(results, accuracy=level, answer_correctness=apart), 200)
    assert " correctness" in wide and "accuracy" not in wide and "0.40" in wide


def test_refusals_stand_in_the_table_where_they_were_asked_for(results: Results) -> None:
    shares = {agent: Figure(value=place / 8, n=8, n_failed=1) for place, agent in enumerate(results.agents)}
    text = printed(results.model_copy(update={"refusals": shares}), 200)
    heading = next(line for line in text.splitlines() if line.startswith("Agent"))
    assert "refusals" in heading and "12.5%" in text and "62.5%" in text
    assert "refusals" not in printed(results, 200)


@pytest.mark.parametrize("width", [40, 60, 80, 90, 100, 120, 200])
def test_nothing_is_wider_than_the_terminal_and_no_number_cut_off(results: Results, width: int) -> None:
    lines = printed(results, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "…" not in "".join(line for line in lines if line.split()[:1] != ["!"])
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("Agent")) + 2 :][: len(AGENTS)]
    assert [line.split()[0] for line in table] == [*AGENTS]


def test_at_80_columns_what_failed_stays_and_a_missing_rating_is_a_dash(results: Results) -> None:
    text = printed(results, 80)
    assert "failed" in next(line for line in text.splitlines() if line.startswith("Agent"))
    assert results.failures is not None
    row = row_of(text.splitlines(), "knn-rag")
    assert row.split()[-1] == str(results.failures.answers["knn-rag"]) == "1" and "–" in row.split()
    some = results.model_copy(update={"failures": results.failures.model_copy(update={"judge_games": 1})})
    assert "the judge failed on 2 passages and 1 game" in printed(some, 100)


def test_what_is_wrong_comes_first_then_the_verdict(results: Results) -> None:
    text = " ".join(printed(results, 100).split())
    told = (*TOLD, results.verdict.sentence, "expected to lose 1.2 points", "behind the leader", "Agent points")
    places = [text.index(part) for part in told]
    assert places == sorted(places)
    assert "knn-rag has no rating" in text and "flip rate" in text


def test_a_note_on_the_ratings_is_said_once(results: Results) -> None:
    noted = results.model_copy(update={"bradley_terry_note": "all verdicts are ties"})
    assert printed(noted, 100).count("all verdicts are ties") == 1
    both = noted.model_copy(update={"notices": ["Bradley-Terry: all verdicts are ties"]})
    assert printed(both, 100).count("all verdicts are ties") == 1


def test_the_picture_has_a_line_for_each_agent_behind_the_leader(results: Results) -> None:
    lines = printed(results, 80).splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("behind the leader")) + 1
    leader = str(results.verdict.leader)
    assert lines[start].split() == [leader, "leads", f"{100 * results.verdict.p_best[leader]:.1f}%"]
    for line, (agent, figure) in zip(lines[start + 1 :], results.verdict.differences.items(), strict=False):
        assert line.split()[0] == agent and f"{100 * (figure.value or 0):.1f} [" in line
        assert ("not told" in line) == (agent in results.verdict.untold) == ("○" in line)
        assert f"{100 * results.verdict.p_best[agent]:.1f}%" in line and len(line) <= 80
    assert "○" not in printed(results, 45)


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    made = make_workspace(tmp_path, 1, hostile=False)
    text = made.figures.read_text(encoding="utf-8").replace("knn-rag-fusion", "[red]\\u001b[31m\\u202eevil[/red]")
    made.figures.write_text(text, encoding="utf-8")
    results = read_results(made.figures)
    write_json(made.figures, results.dump())
    out = printed(results, 100)
    assert "[red]\\x1b[31m\\x202eevil" in out
    assert "\x1b" not in out and "\u202e" not in out


def test_columns_that_have_no_room_are_named(results: Results) -> None:
    narrow, wide = (" ".join(printed(results, width).split()) for width in (60, 300))
    said = narrow.partition("left out for want of room, and in the report: ")[2]
    assert "MRR@5 somewhat" in said and "points" not in said.split(" flip rate")[0].split(", ")
    assert "left out" not in wide


def test_a_long_name_is_folded_and_not_cut(results: Results) -> None:
    long = "an-agent-whose-name-is-longer-than-its-column"
    renamed = results.model_copy(update={"agents": (long, *results.agents[1:])})
    lines = printed(renamed, 100).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(long[:28]))
    assert lines[first].split()[0] + lines[first + 1].split()[0] == long


def screened(results: ScreenResults, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(ScreenTable(results))
    return stream.getvalue()


def test_a_line_a_finalist_with_quality_interval_cost_and_failures_and_settings_that_matter():
    lines = screened(made_up_screen(), 180).splitlines()
    assert "chunking.size of bm25 matters: 160 is 0.164 better." in " ".join(lines)
    assert "nothing is told apart by kind" in " ".join(lines)
    assert lines[0].startswith(f"{LONG} leads, but cannot be told")
    header = next(line for line in lines if line.startswith("Finalist")).split()
    assert header[1:3] == ["recall", "[95%]"] and header[-5:] == ["tokens", "p50", "p95", "index", "failed"]
    plain = next(line for line in lines if line.startswith("plain (baseline)")).split()
    assert plain[2:] == ["0.512", "[0.411,", "0.613]", "–", "–", "812", "0.42", "ms", "1.1", "ms", "2.3", "MB", "0"]
    best = next(line for line in lines if line.startswith("hybrid-words") and "0.731" in line)
    assert (
        all(part in best for part in ("0.688", "0.705", "1,507", "18 ms", "1.3 s", "981 B")) and best.split()[-1] == "2"
    )


def test_wide_names_are_folded_and_what_has_no_room_is_named():
    text = screened(made_up_screen(), 80)
    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= 80
    table = [line.split("  ")[0] for line in lines[lines.index(next(x for x in lines if x.startswith("Finalist"))) :]]
    assert LONG in "".join(table)
    assert "left out for want of room, and in screen.html:" in text and "p95" in text
    assert "0.731   [0.642, 0.803]" in text


def test_names_are_plain_text_and_nothing_need_be_chosen():
    for name in HOSTILE:
        assert not set(screened(made_up_screen(best=name), 100)) & {"\x1b", "\x07", "\u202e"}
    assert screened(made_up_screen(chosen=None, effects=(), finalists=(), said=("None.",)), 100).strip() == "None."
