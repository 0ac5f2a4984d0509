"""The page: it holds every figure, loads and runs nothing, and no text in it can become anything but text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.finished_run.page_words import check_page
from support.made_up_results.page import Page, Row
from support.made_up_results.texts import AGENTS, LONG_WORD, TOLD
from support.made_up_results.workspace import make_workspace
from support.results_folder import judgment

from ragassay.errors import InputError
from ragassay.evaluate.report.page import PARTS, by_question, kinds_line, read_results, read_validity, render, report
from ragassay.evaluate.report.queries import Evidence, read_evidence
from ragassay.evaluate.results import Results
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_file, read_json, read_records, write_json, write_records
from ragassay.records import Figure, Judgment, Query, QuestionsCheck


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("run"))
    report(made)
    return made


@pytest.fixture(scope="module")
def html(workspace: Workspace) -> str:
    return workspace.report.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def results(workspace: Workspace) -> Results:
    return read_results(workspace.figures)


def row_of(page: Page, section: str, agent: str, wanted: int = 0) -> Row:
    return [row for row in page.of(section, agent) if row.cells[0].strip() == agent][wanted]


def words(figure: Figure, digits: int, times: int = 1, sign: str = "") -> list[str]:
    """What a cell must say of a figure, formatted here and not by the code under test."""

    def text(value: float) -> str:
        return f"{round(value * times, digits) + 0.0:,.{digits}f}".replace("-", "−")

    parts = [f"n {figure.n:,}"] + ([f"{figure.n_failed} failed"] if figure.n_failed else [])
    if figure.value is None:
        return [*parts, "–"]
    interval = [] if figure.ci_low is None else [f"[{text(figure.ci_low)}, {text(figure.ci_high or 0)}]"]
    return [*parts, text(figure.value) + sign, *interval]


def unsaid(cell: str, figure: Figure, digits: int, times: int = 1, sign: str = "") -> list[str]:
    """What of that a cell does not say."""
    return [part for part in words(figure, digits, times, sign) if part not in cell]


def test_the_page_is_well_formed_and_ids_are_there_once(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    links = [given["href"] for tag, given in page.tags if tag == "a"]
    assert links and all(str(link).removeprefix("#") in page.ids for link in links)


def test_it_loads_and_runs_nothing(page: Page, html: str) -> None:
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "image", "use"}
    names = {name for _, given in page.tags for name in given}
    assert not any(name.startswith("on") for name in names)
    assert not names & {"src", "srcset", "action", "xlink:href", "background"}
    assert "url(" not in html and "@import" not in html
    policy = next(given for tag, given in page.tags if given.get("http-equiv") == "Content-Security-Policy")
    assert str(policy["content"]).startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")


def test_hostile_text_stays_text(page: Page, html: str) -> None:
    assert "</script><script>alert(1)</script>" in page.text
    assert "<img src=x onerror=alert(2)>" in page.text
    assert "{{ 7*7 }} {% raw %} &amp; https://evil.example/x" in page.text
    assert "scan <b>3</b>.pdf" in page.text
    assert LONG_WORD in page.text
    assert "\\x202egnp.exe\\x202c" in page.text and "\\x1b[31mred" in page.text
    assert not set(html) & set("\x00\x07\x1b\x7f\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_the_first_thing_it_says_is_what_to_choose_then_what_to_bear_in_mind(page: Page, results: Results) -> None:
    told = [results.verdict.sentence, *TOLD, "scan <b>3</b>.pdf could not be read", "P(best)"]
    places = [page.text.index(text) for text in (*told, "What next", "Best first")]
    assert places == sorted(places)


def test_a_run_without_trouble_has_no_notices_and_each_passage_once(tmp_path: Path) -> None:
    made = make_workspace(tmp_path, 2, hostile=False, failures=False)
    report(made)
    html = made.report.read_text(encoding="utf-8")
    pool = {judgment.subject for judgment in read_records(made.relevance, Judgment)}
    assert html.count("The section .progmem.data holds constants") == len(pool)
    page = Page(html)
    assert "notices" not in page.ids and "To bear in mind" not in page.text
    assert " failed" not in page.text.split("Every query\n")[1].split("Where the questions come from\n")[0].replace(
        "F failed", ""
    )


def test_every_figure_stands_in_its_row_and_column(page: Page, workspace: Workspace, results: Results) -> None:
    check_page(page, read_json(workspace.figures))
    for agent in AGENTS:
        people = row_of(page, "retrieval", agent, 1).said[1:]
        for cell, figure in zip(people, results.retrieval_people[agent].values(), strict=True):
            assert not unsaid(cell, figure, 3)


def test_refusals_stand_with_what_answering_took_and_are_no_bad_grade(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, hostile=False)
    rows = read_records(workspace.pointwise, Judgment)
    asked = dict.fromkeys((row.query_id, row.subject) for row in rows if row.error is None)
    told = [Judgment(query_id=q, subject=a, judge="j", criterion="refusal", label=0) for q, a in asked]
    write_records(workspace.pointwise, [*rows, told[0].model_copy(update={"label": 1.0}), *told[1:]])
    shares = {agent: Figure(value=0.25, n=8, n_failed=4, ci_low=0.1, ci_high=0.5) for agent in AGENTS}
    results = read_results(workspace.figures).model_copy(update={"refusals": shares})
    page = Page(render(results, read_evidence(workspace, results.agents), 5))
    for agent in AGENTS:
        assert not unsaid(row_of(page, "answers", agent, -1).said[-1], shares[agent], 1, 100, "%")
    assert page.text.count("refusal: yes") == 1 and page.text.count("refusal: no") == len(told) - 1


def test_usage_not_measured_is_said_and_not_counted_as_nothing(page: Page, results: Results) -> None:
    rows = [row for row in page.rows if row.section == "usage"][1:]
    for row, used in zip(rows[:-1], results.usage, strict=True):
        if used.input_tokens is None:
            assert [cell.strip() for cell in row.cells[3:]] == ["not measured"] * 3
        else:
            assert row.cells[3].strip() == f"{used.input_tokens:,}"
    total = sum(used.cost_usd for used in results.usage if used.cost_usd is not None)
    assert rows[-1].cells[-1].strip() == f"${total:.2f}"
    assert "12 of 900 calls came without usage" in page.text


def test_whether_written_questions_look_like_the_experts_stands_with_where_they_come_from(tmp_path: Path) -> None:
    folder = make_workspace(tmp_path)
    assert "&lt;questions&gt;" not in render(read_results(folder.figures), read_evidence(folder, []), 5)
    check = QuestionsCheck(n_experts=36, n_written=36, auc=None, said="experts' <questions> are told apart")
    write_json(folder.questions_check, check.dump())
    html = render(read_results(folder.figures), read_evidence(folder, []), 5)
    assert html.count("Experts&#39; &lt;questions&gt; are told apart.") == 1
    noted = read_results(folder.figures).model_copy(update={"notices": ("openai:m wrote none", check.said)})
    html = render(noted, read_evidence(folder, []), 5)
    assert "<li>openai:m wrote none</li>\n<li>Experts&#39; &lt;questions&gt; are told apart</li>" in html
    write_json(folder.questions_check, {"auc": 1})
    with pytest.raises(InputError, match="questions-check"):
        read_evidence(folder, [])


def test_the_kinds_of_written_questions_stand_beside_the_shares_asked_for() -> None:
    """Counted by hand; a query of the user's own is none of a model's, whatever its `kind` says."""
    kinds = ["fact", "fact", "keyword", "riddle", None]
    of = [{"model": "m", "section": "s"} | ({"kind": kind} if kind else {}) for kind in kinds]
    queries = [Query(id=f"q{n}", text="?", metadata=one) for n, one in enumerate([*of, {"kind": "fact"}])]
    line = kinds_line(queries, {"fact": 0.5, "multi-hop": 1 / 3, "keyword": 1 / 6, "several": 0.0})
    assert line == (
        "Of 5 written queries by kind, with the share asked for: 2 fact (50%), 0 multi-hop (33.3%), 1 keyword (16.7%), "
        "1 riddle (0%), 1 of no known kind"
    )
    assert kinds_line(queries[4:], {"fact": 1.0}) == "" == kinds_line(queries, {})


@pytest.mark.parametrize(("source", "shown"), [("synthetic", 1), ("own", 0)])
def test_the_page_says_kinds_where_models_wrote_from_needs(tmp_path: Path, source: str, shown: int) -> None:
    folder = make_workspace(tmp_path)
    questions = folder.experiment.questions.model_copy(update={"source": source, "style": "need"})
    folder = replace(folder, experiment=folder.experiment.model_copy(update={"questions": questions}))
    queries = read_records(folder.queries, Query)
    place = {"model": "<m>", "section": "s", "kind": "<b>fact</b>"}
    write_records(folder.queries, [query.model_copy(update={"metadata": place}) for query in queries])
    html = render(read_results(folder.figures), read_evidence(folder, []), 5)
    assert html.count(f"{len(queries)} &lt;b&gt;fact&lt;/b&gt; (0%)") == shown


def test_a_missing_value_is_a_dash_with_its_reason_and_never_zero(page: Page, results: Results) -> None:
    rating = row_of(page, "ranking", "knn-rag")
    assert rating.cells[2].split() == ["–", *str(results.bradley_terry_note).split(), "n", "0", "60", "failed"]
    people = row_of(page, "retrieval", "knn-rag", 1)
    assert people.cells[2].split()[0] == "–" and "no value: all 12 failed" in people.cells[2]


def test_every_query_with_its_answers_passages_reasons_and_games(page: Page, workspace: Workspace) -> None:
    shown = page.text[page.text.index("Every query\n") :]
    assert shown.count("passages [1], [2] …") == 12 and shown.count("Games, row against") == 12
    assert "Source: avr-libc-user-manual.pdf, pp. 20–24." in page.text
    assert "the provider answered 503 five times <b>" in shown
    assert "the reply did not fit the schema" in shown
    assert "tie: the orders disagree" in shown and "failed: refused" in shown
    assert "The section .progmem.data holds constants" in shown
    assert "store table in flash" in shown and "hybrid-rag-fusion shown first" in shown


def test_files_that_are_not_there_leave_their_part_out(tmp_path: Path) -> None:
    made = make_workspace(tmp_path, 2, hostile=False)
    for path in sorted(made.results.rglob("*")):
        if path.is_file() and path != made.figures and path != made.queries:
            path.unlink()
    report(made)
    page = Page(made.report.read_text(encoding="utf-8"))
    assert "No answer on record." in page.text and "Best first" in page.text


def test_no_games_no_figures_and_no_queries_still_make_a_page(tmp_path: Path) -> None:
    made = make_workspace(tmp_path, 1, hostile=False, failures=False)
    data = read_json(made.figures)
    empty = {"value": None, "n": 0}
    nothing = {"leader": None, "sentence": "Nothing was judged."}
    tables = ("points", "wins", "win_rate", "elo", "bradley_terry", "retrieval", "pointwise", "pointwise_labels")
    data |= {key: {} for key in (*tables, "answers")}
    data |= {"flip_rate": empty, "first_shown_wins": empty, "usage": [], "ledger": [], "tests": [], "verdict": nothing}
    write_json(made.figures, data)
    made.queries.unlink()
    report(made)
    page = Page(made.report.read_text(encoding="utf-8"))
    assert row_of(page, "ranking", AGENTS[0]).cells[1].split()[0] == "–"
    assert "Not measured: no calls are on record." in page.text


def test_no_figures_yet_or_of_another_layout_is_one_sentence(tmp_path: Path) -> None:
    made = make_workspace(tmp_path, 1, hostile=False)
    write_json(made.figures, read_json(made.figures) | {"surprise": 1})
    with pytest.raises(InputError, match=r"surprise.*run `ragassay compare` again"):
        report(made)
    made.figures.unlink()
    with pytest.raises(InputError, match=r"no figures yet; run `ragassay compare`"):
        report(made)


def test_pages_that_look_wrong_are_shown_with_their_share_and_only_where_there_are_some(tmp_path: Path):
    workspace = make_workspace(tmp_path, 2, hostile=False, failures=False)
    report(workspace)
    assert "Pages to look at" not in workspace.report.read_text(encoding="utf-8")
    row = {"doc": "a.pdf", "n_pages": 8, "reasons": ["2 words"], "excerpt": "Page <script>x</script>"}
    lines = [row | {"page": page, "reasons": row["reasons"] * (1 + (page == 5))} for page in (2, 3, 4, 5)]
    workspace.suspicious_pages.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report(workspace)
    html = workspace.report.read_text(encoding="utf-8")
    shown = html[html.index('<section id="suspicious">') :]
    shown = shown[: shown.index("</section>")]
    assert "4 of 8" in shown and "50%" in shown and "<script>" not in shown
    assert [page for page in range(9) if f'<td class="num">{page}</td>' in shown] == [2, 3, 5]


def evidence(labels: dict[tuple[str, str], float | None]) -> Evidence:
    queries = [Query(_id=q, text="?") for q in dict.fromkeys(q for q, _ in labels)]
    rows = {key: [judgment(*key, "accuracy", label), judgment(*key, "refusal", 1)] for key, label in labels.items()}
    return Evidence(queries, {}, {}, {}, {}, {}, rows, {}, [])


def test_questions_stand_from_hardest_to_easiest_in_shades():
    labels = {("q1", "a"): 2, ("q2", "a"): 0, ("q1", "b"): 1, ("q2", "b"): None}
    found = by_question(evidence(labels), ["a", "b"])
    assert found and found.n_queries == 2
    drawn = dict(re.findall(r'class="(h\w)" d="(.*?)"', found.picture))
    assert {shade: path.split("h")[0] for shade, path in drawn.items()} == {
        "h0": "M0 0",
        "h8": "M1 0",
        "h4": "M1 1",
        "hx": "M0 1",
    }
    assert found.n_failed == 1


def test_hostile_names_are_text(tmp_path):
    made = make_workspace(tmp_path)
    found = by_question(read_evidence(made, AGENTS), AGENTS)
    assert found and "<script" not in found.picture and by_question(evidence({("q1", "a"): 1}), ["a"]) is None


NOTHING = {"said": [], "warnings": [], "abstained": None}


def with_validity(root: Path, digest: str | None = None, **parts: object) -> Workspace:
    folder = make_workspace(root)
    queries = digest_file(folder.queries) if digest is None else digest
    found = dict.fromkeys(PARTS, NOTHING) | parts | {"queries": queries, "n_written": 3}
    folder.validity.write_text(json.dumps(found))
    return folder


def test_warnings_come_first_and_a_part_says_one_line(tmp_path: Path):
    folder = with_validity(
        tmp_path,
        leak={"said": ["No <b>word</b> is shared.", "More."], "warnings": [], "abstained": None},
        authors=NOTHING | {"warnings": ["a favours bm25.", "b favours knn."], "said": ["Two wrote."]},
        people=NOTHING | {"abstained": "Nobody asked.", "figures": {"new": 1}},
    )
    lines = read_validity(folder)
    assert [(line.part, line.warning) for line in lines][:2] == [("authors", True), ("leak", False)]
    assert [line.said for line in lines if line.said] == [
        "a favours bm25. b favours knn.",
        "No <b>word</b> is shared.",
        "Not said: Nobody asked.",
    ]
    report(folder)
    page = folder.report.read_text()
    assert 'href="validity.html"' in page and "Authors, a warning:" in page
    assert "No &lt;b&gt;word&lt;/b&gt; is shared." in page and "<b>word</b>" not in page


def test_without_it_or_of_other_queries_the_report_is_as_it_was_and_another_layout_is_said(tmp_path: Path):
    folder = make_workspace(tmp_path / "one")
    report(folder)
    without = folder.report.read_text()
    other = with_validity(tmp_path / "two", digest="0" * 64)
    report(other)
    assert other.report.read_text() == without and 'id="validity"' not in without
    folder.validity.write_text("{}")
    with pytest.raises(InputError, match=r"validity\.json"):
        read_validity(folder)
