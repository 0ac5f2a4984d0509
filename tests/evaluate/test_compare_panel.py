"""`compare` and the report with a panel: figures are the majority's, with each judge and their disagreement beside."""

from __future__ import annotations

import json

import pytest
from support.results_folder import answer
from support.scripted_judge import AGENTS, Scripted, fair, workspace
from support.several_judges import PANEL, ByModel

from ragassay.errors import InputError
from ragassay.evaluate.compare import compare
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.evaluate.report.judge import panel_lines
from ragassay.evaluate.report.page import report
from ragassay.evaluate.results import Results

QUERIES = tuple(f"q{i:02}" for i in range(12))
PLACES = {"bm25-rag": ("p1", "p2"), "ours": ("p3", "p2"), "theirs": ("p3",)}


def answers():
    """bm25-rag is right in 9 of 12, ours in 5, theirs in 2; the others are wrong."""
    right = {"bm25-rag": 9, "ours": 5, "theirs": 2}
    return [
        answer(query, agent, f"It is in {'util/delay.h' if place < right[agent] else 'io.h'}, says {agent} ({query})."
               , *PLACES[agent])
        for place, query in enumerate(QUERIES)
        for agent in AGENTS
    ]  # fmt: skip


def compared(root, caller, **judge):
    space = workspace(root, answers(), queries=QUERIES, mode="label", **judge)
    make_judgments(space, caller)
    compare(space)
    return space, Results.model_validate(json.loads(space.figures.read_text()))


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    """(workspace, results) of three judges, one of whom contradicts the two others; all are asked again."""
    root = tmp_path_factory.mktemp("panel")
    return compared(root, ByModel(), model=PANEL[0], panel=PANEL, repeats=1, repeat_share=1.0)


def test_two_of_three_that_agree_give_the_figures_of_one_of_them_alone(panel, tmp_path):
    _, many = panel
    alone, one = compared(tmp_path, Scripted(fair), model=PANEL[0])
    tables = ("retrieval", "pointwise", "win_rate", "wins", "comparisons", "bradley_terry", "elo", "pool")
    for name in ("verdict", *tables):
        assert getattr(many, name) == getattr(one, name), name
    assert one.panel is None and "panel" not in json.loads(alone.figures.read_text())
    assert many.settings["judge_model"] == "openai:j, openai:k, anthropic:l"
    assert many.flip_rate.n == 3 * one.flip_rate.n
    changed = workspace(tmp_path, answers(), queries=QUERIES, model=PANEL[0], panel=PANEL)
    with pytest.raises(InputError, match="the panel has changed"):
        compare(changed)


def test_each_judge_stands_beside_the_panel_and_disagreement_is_counted(panel):
    _, results = panel
    sober, contrary, third = results.panel.judges
    assert [one.judge for one in results.panel.judges] == list(PANEL)
    # 36 games: bm25-rag and ours differ in 4 queries, bm25-rag and theirs in 7, ours and theirs in 3.
    assert (sober.agrees.value, third.agrees.value, sober.agrees.n) == (1.0, 1.0, 36)
    assert contrary.agrees.value == pytest.approx(22 / 36, abs=1e-6)
    apart = {row.criterion: row.figures["not_unanimous"] for row in results.panel.disagreement}
    assert (apart["game"].value, apart["game"].n) == (pytest.approx(14 / 36, abs=1e-6), 36)
    assert apart["passages"].value == pytest.approx(2 / 3, abs=1e-6)  # of labels 0, 1 and 2 the middle one is its own
    assert apart["accuracy"].value == 1.0 and apart["game"].ci_low < 14 / 36 < apart["game"].ci_high
    assert sober.leaders == ("bm25-rag",) and "bm25-rag" not in contrary.leaders
    assert {row.key for row in sober.audit.findings} >= {"flip_rate", "first_favoured", "length_effect", "own_answers"}
    assert {row.key for row in results.audit.findings} == {"longer_wins", "length_effect", "failed_games"}


def test_each_judge_is_held_against_its_own_labels_when_asked_again(panel):
    _, results = panel
    for one in results.panel.judges:
        again = {row.subject: row.figure for row in one.audit.findings if row.key == "repeat_consistency"}
        assert {figure.value for figure in again.values()} == {1.0} and again["games"].n == 72
        assert sum(figure.n for figure in again.values()) == 12 * 3 + 36 * 6 + 72


def test_what_one_judge_fails_on_is_counted_and_the_others_decide_only_where_they_are_the_majority(tmp_path):
    caller = ByModel(fails=lambda label, text: label.startswith("games") and "(q00)" in text)
    _, results = compared(tmp_path, caller, model=PANEL[0], panel=PANEL)
    third = results.panel.judges[2]
    assert (third.agrees.n, third.agrees.n_failed) == (33, 3)
    failed = next(row for row in third.audit.findings if row.key == "failed_games").figure
    assert failed.value == pytest.approx(3 / 36, abs=1e-6)
    assert next(row for row in results.audit.findings if row.key == "failed_games").figure.value == 0
    game = next(row for row in results.panel.disagreement if row.criterion == "game")
    assert game.figures["not_unanimous"].n == 36


def test_a_judge_that_favours_a_place_is_found_out_in_its_own_audit_alone(tmp_path):
    class OneFavours(ByModel):
        def _reply(self, batch, request):
            if batch.model == PANEL[1] and batch.label.startswith("games"):
                return Scripted(lambda label, text: {"reason": "First.", "verdict": "A"})._reply(batch, request)
            return super()._reply(batch, request)

    _, results = compared(tmp_path, OneFavours(), model=PANEL[0], panel=PANEL)
    found = [{row.key: row.figure for row in one.audit.findings} for one in results.panel.judges]
    assert [one["flip_rate"].value for one in found] == [0.25, 1.0, 0.25]  # of 36 games both are right in 9
    assert [one["first_favoured"].n for one in found] == [9, 36, 9] and found[1]["first_favoured"].value == 1
    assert results.flip_rate.value == pytest.approx((9 + 36 + 9) / 108, abs=1e-6)
    assert any(notice.startswith("openai:k: ") for notice in results.notices)


def test_the_report_and_the_terminal_show_the_judges_side_by_side(panel):
    space, results = panel
    report(space)
    html = space.report.read_text(encoding="utf-8")
    section = html[html.index('<section id="judges">') :].split("</section>")[0]
    assert all(judge in section for judge in PANEL) and section.count("audited</summary>") == 3
    assert "judges differ on" in html and "Judges differ" in html and "38.9%" in section
    [line] = panel_lines(results)
    assert line.startswith("3 judges, figures by their majority; not of one mind on 38.9% [")
    assert "openai:j bm25-rag" in line
