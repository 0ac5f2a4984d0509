"""A measure without an upper end, of which little is good, through compare, report, gate and the workbench."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.made_up_results.page import Page
from support.results_folder import answer, assessment, two_systems
from support.workbench import browsing

from ragassay.evaluate.compare import compare
from ragassay.evaluate.report.page import report
from ragassay.evaluate.statistics.sign_flip import flip_p
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json
from ragassay.records import Query

QUERIES = [Query(_id=f"q{i}", text=f"What is {i}?") for i in range(12)]
AGENTS = ("fluent", "garbled")


def perplexity(agent: str, number: int) -> float | None:
    """Around 4 of the one, and in the hundreds of the other, whose answer to q5 is beyond all others."""
    if agent == "fluent":
        return 3.0 + number % 3
    return 900.0 if number == 5 else 400.0 + 10 * number


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Compared, with a report; the perplexity of fluent's answer to q0 is missing."""
    labels = {(query.id, agent): perplexity(agent, n) for n, query in enumerate(QUERIES) for agent in AGENTS}
    labels["q0", "fluent"] = None
    rows = [assessment(*key, "perplexity", label) for key, label in labels.items()]
    answers = [answer(query.id, agent, f"{agent} {query.id}", "p1") for query in QUERIES for agent in AGENTS]
    more = '[evaluate]\njudges = ["perplexity"]\n'
    made = two_systems(tmp_path, *AGENTS, more, queries=QUERIES, answers=answers, judgments=rows)
    compare(made)
    report(made)
    return made


def test_means_pairs_and_insights_have_the_right_direction(workspace: Workspace) -> None:
    """The mean of fluent by hand: q1 to q11 have 4, 5, 3, 4, 5, 3, …, 45 / 11."""
    found = read_json(workspace.figures)
    figure = found["evaluations"]["fluent"]["perplexity"]
    assert figure["value"] == pytest.approx(45 / 11) and (figure["n"], figure["n_failed"]) == (11, 1)
    (pair,) = [row for row in found["comparisons"] if row["measure"] == "perplexity"]
    better = {"better": pair["agent_a"], "worse": pair["agent_b"]}[pair["verdict"]]
    assert better == "fluent" and (pair["difference"]["n"], pair["difference"]["n_failed"]) == (11, 1)
    told = {one["kind"]: one for one in found["insights"] if one["measure"] == "perplexity"}
    assert (told["best"]["subject"], told["worst"]["subject"], told["best"]["told_apart"]) == (
        "fluent",
        "garbled",
        True,
    )
    assert not any("%" in one["sentence"] for one in told.values())
    assert not found.get("threshold_shares") and not found.get("problems"), "it has no threshold"


def test_the_report_shows_no_share_of_a_scale_without_end(workspace: Workspace) -> None:
    page = workspace.report.read_text(encoding="utf-8")
    rows = [row for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL) if "perplexity" in row.lower()]
    assert rows and not any("%" in re.sub(r"<[^>]*>", "", row) for row in rows)
    assert "inf" not in re.sub(r"<[^>]*>", " ", page).split() and "nan" not in page.split()


def test_the_workbench_says_what_the_report_says(workspace: Workspace) -> None:
    figures = read_json(workspace.figures)["evaluations"]
    with browsing(workspace) as client:
        page = client.get("/results/decision?measure=perplexity&against=garbled").text
        worst = client.get("/results/queries?measure=perplexity&sort=worth").text
    text = Page(page).text
    for agent in AGENTS:
        one = figures[agent]["perplexity"]
        assert f"{one['value']:,.3f}[{one['ci_low']:,.3f}, {one['ci_high']:,.3f}]" in text
    assert "%" not in text.replace("95%", "").replace("5%", "") and not {"inf", "nan"} & set(re.split(r"[^a-z]+", text))
    assert "lost 11" in text and "fluent" in text
    assert Page(worst).text.index("What is 5?") < Page(worst).text.index("What is 1?"), "the worst stands first"
    (column,) = re.findall(r"<title>q5: .*?</a>", page)
    shades = {row: shade for shade, row in re.findall(r'class="(h.)" d="M\d+ (\d)', column)}
    assert shades == {"0": "h8", "1": "h0"}, "of fluent the best, of garbled the worst there is"


def test_whole_numbers_of_any_size_are_tested_without_their_whole_distribution() -> None:
    """All of one sign: only two of 2^n choices of signs are as far, whatever the sizes."""
    sums = np.array([1e12, *(400.0 + number for number in range(9))])
    assert flip_p(sums, 7) == pytest.approx(2 / 2**10, rel=1e-5)
    assert flip_p(np.array([1e300, -1e300, 2.0]), 7) == 1
