"""The decision's page: the report's sentence, any measure on any slice, and links to the queries behind each figure."""

from __future__ import annotations

import re
from pathlib import Path

from support.made_up_results.page import Page
from support.made_up_results.workspace import make_workspace
from support.made_up_screen import made_up_screen
from support.workbench import browsing

from ragassay.evaluate.figures.values import read_values
from ragassay.evaluate.report.page import read_results
from ragassay.files import read_json, read_records, write_json, write_records
from ragassay.records import Figure, Query, Taken
from ragassay.text import one_line

MARKUP = r"<(script(?! src)|img|iframe|svg/onload|b>alert)|\sstyle=|\son\w+="


def test_the_verdict_is_the_reports(tmp_path: Path):
    workspace = make_workspace(tmp_path, 20, hostile=False)
    with browsing(workspace) as client:
        page = Page(client.get("/results/decision").text)
    assert read_results(workspace.figures).verdict.sentence in page.text
    assert "20 queries" in page.text and len(set(page.ids)) == len(page.ids)


def test_what_to_bear_in_mind_stands_below_the_decision_and_real_queries_have_a_ranking_of_their_own(tmp_path: Path):
    workspace = make_workspace(tmp_path, 20)
    rows = list(read_records(workspace.queries, Query))
    write_records(workspace.queries, [row.model_copy(update={"metadata": {}}) for row in rows[:8]] + rows[8:])
    with browsing(workspace) as client:
        html = client.get("/results/decision").text
        real = Page(client.get("/results/decision?source=real").text).text
    results, page = read_results(workspace.figures), Page(html).text
    assert page.index(results.verdict.sentence) < page.index("To bear in mind") < page.index("Behind, in points")
    assert all(one_line(notice) in page for notice in results.notices) and "scan <b>3</b>.pdf could not be read" in page
    assert "8 queries of 8 sections" in real
    values = read_values(workspace.values).measures["points"]["hybrid-rag-fusion"]
    known = [value for row in rows[:8] if (value := values[row.id]) is not None]
    assert re.search(rf"hybrid-rag-fusion\s*{100 * sum(known) / len(known):.1f}\s*\[[^]]+\]", real)


def test_the_way_of_a_run_that_stopped_early_is_drawn_and_its_lead_said_to_be_overstated(tmp_path: Path):
    """20 of 80 queries: the leader's lead at both looks, what was saved, and the words beside each figure of the lead.

    Six agents: 15 pairs, of which one is not met by two that were told at the first look.
    """
    workspace = make_workspace(tmp_path, 20, hostile=False)
    figures = read_json(workspace.figures)
    agents = figures["agents"]
    pairs = len(agents) * (len(agents) - 1) // 2
    lead = {"value": 0.12, "n": 10, "n_failed": 0, "ci_low": -0.04, "ci_high": 0.28}
    first = Taken(
        plan="p",
        look=1,
        looks=8,
        queries=10,
        planned=80,
        leader=agents[0],
        told=tuple(agents[-2:]),
        untold=tuple(agents[1:-2]),
        lead=Figure(**lead),
        bound=0.0004,
        decided=False,
        safe=False,
        goes_on=True,
    )
    last = {"look": 2, "queries": 20, "told": tuple(agents[1:]), "untold": (), "decided": True, "goes_on": False}
    rows = [first.dump(), first.model_copy(update=last).dump()]
    write_json(workspace.figures, figures | {"looks": rows, "stopped_early": True})
    with browsing(workspace) as client:
        html = client.get("/results/decision").text
        other = client.get("/results/decision?measure=accuracy", headers={"hx-request": "true"}).text
    page = Page(html)
    early = "Stopped early, with 20 of 80 planned queries: what the leader is ahead by is overstated."
    assert page.text.count(early) == 2, "beside the verdict, and the agents on points"
    assert ", stopped early" in page.text and early not in other
    n, games = 60 * len(agents), 80 * pairs - 10 * pairs - 10 * (pairs - 1)
    answers = f"{n:,} of {80 * len(agents):,} answers"
    assert f"60 of 80 queries, {answers} and {games:,} of {80 * pairs:,} games." in page.text
    assert "look 1 of 8: 12" in html and "0.0004" in page.text and "went on" in page.text


def test_a_run_of_fixed_length_has_no_looks(tmp_path: Path):
    with browsing(make_workspace(tmp_path, 20)) as client:
        page = client.get("/results/decision").text
    assert "Until it was known" not in page and "topped early" not in page


def test_a_slice_is_a_part_for_htmx_and_has_an_address(tmp_path: Path):
    with browsing(make_workspace(tmp_path, 20)) as client:
        address = "/results/decision?measure=accuracy&against=knn-rag&length=short"
        part = client.get(address, headers={"hx-request": "true"}).text
        whole = client.get(address).text
    assert "<html" not in part and "short questions" in part and part.strip() in whole
    assert "The 5% hold for one look" in part
    assert re.search(r"knn-rag</span> less each other", part)


def test_what_is_misspelt_is_the_reports_own_look(tmp_path: Path):
    with browsing(make_workspace(tmp_path, 20)) as client:
        usual = client.get("/results/decision", headers={"hx-request": "true"}).text
        odd = client.get(
            "/results/decision?measure=none&against=%3Cb%3E&doc=../../etc&length=9", headers={"hx-request": "true"}
        )
    assert odd.text == usual


def test_each_column_of_the_heat_map_leads_to_its_query(tmp_path: Path):
    with browsing(make_workspace(tmp_path, 20)) as client:
        page = client.get("/results/decision").text
        heat = page[page.index('class="heatmap"') :]
        links = re.findall(r'<a href="([^"]+)" tabindex="-1">', heat)
        assert len(set(links)) == 20
        assert {client.get(link.replace("&amp;", "&")).status_code for link in links} == {200}


def test_where_an_interval_leaves_out_0_and_the_verdict_does_not_the_row_joins_them(tmp_path: Path):
    """Read off the rows themselves: both ends on one side of 0, and 'not told apart' beside them."""
    row = re.compile(r'<i>\[(−?)([\d.]+), (−?)([\d.]+)\]</i>(?:(?!</tr>).)*?<td class="told[^>]*>(.*?)</td>', re.DOTALL)
    joined = set()
    with browsing(make_workspace(tmp_path, 20, hostile=False)) as client:
        for measure in ("relevance", "accuracy", "win_rate"):
            page = client.get(f"/results/decision?measure={measure}", headers={"hx-request": "true"}).text
            for low_sign, low, high_sign, high, said in row.findall(page):
                if not (float(low) and float(high)):
                    continue  # rounded
                beyond = low_sign == high_sign
                assert ("beyond 0 by itself" in said) == (beyond and "not told apart" in said), (measure, said)
                joined.add("not with all 15 pairs" in said)
    assert joined == {True, False}


def test_few_queries_are_said_to_be_few(tmp_path: Path):
    with browsing(make_workspace(tmp_path, 4)) as client:
        assert "are too few to say who is better" in client.get("/results/decision").text


def test_no_text_of_a_hostile_folder_is_markup(tmp_path: Path):
    with browsing(make_workspace(tmp_path, 20, hostile=True)) as client:
        page = client.get("/results/decision").text
    assert not re.search(MARKUP, page) and "\x1b" not in page


def test_the_front_of_a_screening_is_shown(tmp_path: Path):
    workspace = make_workspace(tmp_path, 20)
    write_json(workspace.screen, made_up_screen().dump())
    with browsing(workspace) as client:
        page = client.get("/results/decision").text
    assert page.count('class="scatter"') == 4 and "The screening before" in page
