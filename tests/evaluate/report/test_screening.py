"""The screening on a page: every figure of `screen.json` is there, and no name in it can become anything but text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.made_up_results.page import Page
from support.made_up_results.texts import HOSTILE
from support.made_up_results.workspace import make_workspace
from support.made_up_screen import LONG, figure, made_up_screen, variant

from ragassay.errors import InputError
from ragassay.evaluate.report import TEMPLATES
from ragassay.evaluate.report.page import report
from ragassay.evaluate.report.screening import read_screen, screen_page, write_screen_page
from ragassay.evaluate.screening.screened import ScreenResults
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_json


def page_of(results: ScreenResults) -> Page:
    return Page(screen_page(results, "manuals"))


@pytest.fixture(scope="module")
def page() -> Page:
    return page_of(made_up_screen())


def cells(page: Page, first: str) -> list[str]:
    """Of the row whose first cell begins so, the texts."""
    return next([" ".join(cell.split()) for cell in row.cells] for row in page.rows if row.cells[0].startswith(first))


def test_finalists_stand_with_every_figure_n_failures_and_intervals(page: Page):
    header = cells(page, "Evidence")
    assert [header[1], header[2]] == ["B plain", f"1 {LONG}"]
    plain, best = cells(page, "recall")[1:]
    assert plain.startswith("0.512 [0.411, 0.613]") and "n 40" in plain
    assert best.startswith("0.731 [0.642, 0.803]") and "n 38" in best and "2 failed" in best
    assert [cell[:1] for cell in cells(page, "nDCG")[1:]] == ["–", "0"]
    assert cells(page, "recall at 1,200 tokens")[2].startswith("0.705 [0.610, 0.790]")
    assert cells(page, "tokens")[1:] == ["812 n 40", "1,507 n 40"]
    assert cells(page, "latency p50")[1:] == ["0.42 ms", "18 ms"]
    assert cells(page, "latency p95")[1:] == ["1.1 ms", "1.3 s"]
    assert cells(page, "index: time")[1:] == ["–", "3.2 s"]
    assert cells(page, "index: size")[1:] == ["2.3 MB", "981 B"]


def test_the_leader_is_shown_before_and_after(page: Page):
    assert cells(page, "evidence recall of")[1:] == ["0.731 [0.642, 0.803] n 38 2 failed", "0.694 [0.590, 0.780]"]
    assert cells(page, "its lead over the second, dear")[1].startswith("0.076 [0.010, 0.142]")
    assert cells(page, "its lead over the second, dear")[2].startswith("0.031 [−0.040, 0.102]")
    assert cells(page, "its lead over the baseline, plain")[2].startswith("0.183 [0.070, 0.296]")


def test_settings_that_matter_stand_before_those_of_which_nothing_is_told(page: Page):
    assert page.text.index("160 is 0.164 better") < page.text.index("Nothing told apart")
    assert page.text.index("Nothing told apart") < page.text.index("kind: nothing is told apart.")
    large = cells(page, "160")
    assert large[2:] == ["0.164 [0.114, 0.214] n 40", "< 0.001", "0.641"]
    assert cells(page, "kind")[1:] == ["all kinds", "bm25", "−0.017 [−0.067, 0.033]", "0.620", "0.533"]


def test_all_variants_the_best_first_and_what_has_no_value_last(page: Page):
    rows = page.rows[-4:]
    assert [row.cells[0].strip() for row in rows] == [LONG, "dear", "plain", "broken"]
    none = [" ".join(cell.split()) for cell in rows[3].cells[1:5]]
    assert none == ["– no query has a value n 0 40 failed", "–", "–", "0"]


def test_the_picture_has_a_mark_a_variant_higher_where_better_and_further_right_where_dearer():
    html = screen_page(made_up_screen(), "manuals")
    tokens, latency = re.findall(r'<svg class="scatter".*?</figure>', html, re.DOTALL)
    found = re.findall(r'<title>([\w.-]+):.*?<circle class="dot" cx="([\d.]+)%" cy="([\d.]+)"', tokens)
    at = {name: (float(x), float(y)) for name, x, y in found}
    assert sorted(at, key=lambda name: at[name][0]) == ["plain", LONG, "dear"]
    assert sorted(at, key=lambda name: at[name][1]) == [LONG, "dear", "plain"]
    assert "1 variant is not shown" in tokens and "2 variants are not shown" in latency
    assert f"plain (B): 0.512 at 812 tokens; {LONG} (1): 0.731 at 1,507 tokens" in tokens


def test_badges_of_finalists_with_equal_figures_do_not_cover_each_other():
    names = [f"v{number}" for number in range(6)]
    rows = tuple(variant(name, figure(0.5, 0.4, 0.6), 100, 0.01) for name in names)
    html = screen_page(made_up_screen(variants=rows, finalists=tuple(names), chosen=None), "manuals")
    panel = re.findall(r'<svg class="scatter".*?</figure>', html, re.DOTALL)[0]
    at = re.findall(r'<circle cx="(-?[\d.]+)" cy="(-?[\d.]+)" r="9"/>', panel)
    assert len(at) == len(set(at)) == 6


def test_hostile_names_and_sentences_stay_text():
    for text in HOSTILE:
        made = made_up_screen(best=text)
        named = made.model_copy(update={"said": (text, *made.said), "quality": "evidence_recall"})
        html = screen_page(named, text)
        page = Page(html)
        assert not {tag for tag, _ in page.tags} & {"script", "img", "link", "iframe"}
        assert not [name for _, given in page.tags for name in given if name.startswith("on")]
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", html)


def test_without_a_chosen_variant_effects_or_finalists_the_page_says_what_there_is():
    said = ("No variant has a value on half of the queries, so that none can be chosen.",)
    page = page_of(made_up_screen(chosen=None, effects=(), finalists=(), said=said))
    assert said[0] in page.text
    assert "before and after" not in page.text and "What each setting does" not in page.text
    empty = page_of(made_up_screen(variants=(), chosen=None, effects=(), finalists=(), said=()))
    assert "0 variants of retrievers" in empty.text


def test_a_page_of_150_variants_is_below_150_kb():
    rows = tuple(variant(f"{LONG}-{at}", figure(at / 150, at / 200, 1), 100 + at, 0.001 + at) for at in range(150))
    made = made_up_screen()
    html = screen_page(made.model_copy(update={"variants": (*rows, *made.variants)}), "manuals")
    assert len(html.encode()) < 150_000


def test_it_is_a_section_of_the_report_where_retrievers_were_screened(tmp_path: Path):
    workspace = make_workspace(tmp_path)
    write_json(workspace.screen, made_up_screen().dump())
    report(workspace)
    assert "screening" not in Page(workspace.report.read_text(encoding="utf-8")).ids
    tables = workspace.experiment.model_dump(exclude_unset=True) | {"retriever": [{"name": "plain", "kind": "bm25"}]}
    screened = Workspace(workspace.corpus, workspace.results, Experiment.model_validate(tables))
    report(screened)
    page = Page(screened.report.read_text(encoding="utf-8"))
    assert "screening" in page.ids and len(page.ids) == len(set(page.ids))
    assert f"{LONG} leads, but cannot be told from dear." in page.text


def test_a_page_that_has_no_screening_any_more_is_removed(tmp_path: Path):
    workspace = Workspace(tmp_path, tmp_path, Experiment.model_construct())
    write_json(workspace.screen, made_up_screen().dump())
    write_screen_page(workspace)
    assert workspace.screen_page.is_file()
    workspace.screen.unlink()
    write_screen_page(workspace)
    assert not workspace.screen_page.exists()


def test_a_file_of_another_layout_is_one_sentence(tmp_path: Path):
    path = tmp_path / "screen.json"
    with pytest.raises(InputError, match="no screening yet"):
        read_screen(path)
    write_json(path, {"variants": 3})
    with pytest.raises(InputError, match=r"screen\.json"):
        read_screen(path)


def test_its_styles_are_of_no_class_that_other_parts_of_the_report_use():
    templates = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.j2")}
    others = "".join(text for name, text in templates.items() if not name.startswith("screen"))
    used = {word for words in re.findall(r'class="([\w -]+)', others) for word in words.split()}
    rules = re.sub(r"\{[^}]*\}", "{}", (TEMPLATES / "screening.css").read_text(encoding="utf-8"))
    bare = re.findall(r"(?:^|[{},])\s*(?:\w+)?\.([a-z]+)", rules, re.MULTILINE)
    assert bare and not set(bare) & used
