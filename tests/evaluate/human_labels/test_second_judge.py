"""A second judge: asked about a part drawn with known probabilities, in one round; its labels correct the figures."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from support.results_folder import answer, experiment, findings, game, judgment
from support.scripted_judge import AGENTS, CORRECTNESS, PASSAGES, Scripted, fair, workspace
from support.several_judges import PANEL, contrary

from ragassay.errors import InputError
from ragassay.evaluate.compare import compare
from ragassay.evaluate.human_labels.corrections import Judged, SecondJudge, correct_figures, second_labels
from ragassay.evaluate.human_labels.sheet import Drawn, draw_frame, draw_share
from ragassay.evaluate.inputs.findings import Findings, Material
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.report.page import report
from ragassay.evaluate.results import Results
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.files import read_records
from ragassay.models.requests import Reply
from ragassay.records import Game, Judgment, Query

QUERIES = tuple(f"q{i:02}" for i in range(12))
PLACES = {"bm25-rag": ("p1", "p2"), "ours": ("p3", "p2"), "theirs": ("p3",)}
RIGHT = {"bm25-rag": 9, "ours": 5, "theirs": 2}
CHEAP, DEAR = "openai:j", "anthropic:dear"


class TwoJudges(Scripted):
    """The cheap judge contradicts the dear one, which is sober and fails on what `fails` says."""

    def __init__(self, fails=lambda label, text: False, cheap=contrary):
        super().__init__(fair)
        self.fails, self.cheap = fails, cheap

    def _reply(self, batch, request):
        dear = batch.model == DEAR
        if dear and self.fails(batch.label, request.messages[-1].content):
            return Reply(error="HTTP 500")
        self.say = fair if dear else self.cheap
        return super()._reply(batch, request)

    def of_dear(self):
        return Counter(b.label for batches in self.rounds for b in batches if b.model == DEAR for _ in b.requests)


def answers():
    return [
        answer(query, agent, f"{'util/delay.h' if place < RIGHT[agent] else 'io.h'}, {agent} ({query})", *PLACES[agent])
        for place, query in enumerate(QUERIES)
        for agent in AGENTS
    ]


def judged(root, caller, **judge):
    tables = {"mode": "label", "model": CHEAP, "second": DEAR} | judge
    space = workspace(root, answers(), queries=QUERIES, **tables)
    return space, make_judgments(space, caller)


def compared(space):
    compare(space)
    return Results.model_validate(json.loads(space.figures.read_text()))


def test_it_is_asked_once_about_a_share_of_each_kind_and_about_nothing_else(tmp_path):
    caller = TwoJudges()
    space, outcome = judged(tmp_path, caller, second_share=0.25)
    frame = read_records(space.second_drawn, Drawn)
    drawn = [row for row in frame if row.drawn]
    passages = {row.query for row in drawn if row.kind == "passages"}
    taken = {(row.query, row.subject) for row in drawn if row.kind == "answers"}
    games = [row for row in drawn if row.kind == "games"]
    assert (len(passages), len(taken), len(games)) == (ceil(12 / 4), ceil(36 / 4), ceil(36 / 4))
    n = {"relevance": 9, "pointwise": 9, CORRECTNESS: 9, "games-first-a": 9, "games-first-b": 9}
    assert caller.of_dear() == n
    assert {batch.model for batch in caller.rounds[-1]} == {DEAR} and len(caller.rounds) == 3
    assert {row.judge for row in read_records(space.second_relevance, Judgment)} == {DEAR}
    assert {row.judge for row in read_records(space.relevance, Judgment)} == {CHEAP}
    assert Counter((g.query_id, f"{g.agent_a}:{g.agent_b}") for g in read_records(space.second_games, Game)) == {
        (row.query, row.subject): 2 for row in games
    }
    shown = [r for b in caller.rounds[-1] if b.label in {"pointwise", "games-first-a"} for r in b.requests]
    assert all(PASSAGES["p3"] in r.messages[-1].content for r in shown), "what the first judge found very relevant"
    assert not any(PASSAGES["p1"] in r.messages[-1].content for r in shown)
    assert outcome.n_records == 36 + 216 + 72 + 9 + 9 * 6 + 18


def test_asked_about_all_its_labels_are_the_corrected_figures(tmp_path):
    space, _ = judged(tmp_path, TwoJudges(), second_share=1.0)
    second = compared(space).second
    assert (second.judge, second.n_failed, second.n_asked) == (DEAR, 0, 12 * 3 + 36 * 5 + 36)
    means = {(row.measure, row.agent): row for row in second.corrected.figures if row.other is None}
    for agent, right in RIGHT.items():
        row = means["accuracy", agent]
        assert row.corrected.value == pytest.approx(2 * right / 12)
        assert row.judged.value == pytest.approx(2 - 2 * right / 12)
    # The sober judge finds p1 very relevant, the contrary one p3: it is the first of ours and theirs.
    assert means["RR(rel=2)@5", "bm25-rag"].corrected.value == 1 and means["RR(rel=2)@5", "ours"].corrected.value == 0
    assert means["RR(rel=2)@5", "bm25-rag"].judged.value == 0 and means["RR(rel=2)@5", "ours"].judged.value == 1
    won = means["win_rate", "bm25-rag"]
    assert won.corrected.value == pytest.approx((4 + 7) / 24) and won.judged.value == 0
    assert "labels" not in "".join(second.corrected.notes)


def test_what_it_fails_on_is_counted_and_has_no_label(tmp_path):
    caller = TwoJudges(fails=lambda label, text: label == CORRECTNESS)
    space, outcome = judged(tmp_path, caller, second_share=0.5)
    assert outcome.n_failed == 18 * 2 and any("of the second judge failed" in line for line in outcome.notices)
    results = compared(space)
    assert results.second.n_failed == 18 and results.corrected is None
    assert not {row.measure for row in results.second.corrected.figures} & {"answer_correctness"}


def test_lists_of_the_first_judge_are_drawn_as_pairs(tmp_path):
    def ranks(label, text):
        if not label.startswith("listwise"):
            return fair(label, text)
        return {"reason": "So it is.", "order": [[name] for name in "ABC" if f'<answer name="{name}">' in text]}

    caller = TwoJudges(cheap=ranks)
    space, _ = judged(tmp_path, caller, games="listwise", second_share=0.25)
    assert {row.presentation for row in read_records(space.second_games, Game)} == {None}
    assert caller.of_dear()["games-first-a"] == 9


def test_with_a_panel_it_is_asked_where_the_panel_is_unsure_and_the_report_has_both_sections(tmp_path):
    space, _ = judged(tmp_path, TwoJudges(cheap=fair), panel=("openai:j", "openai:k"), second_share=0.5)
    results = compared(space)
    report(space)
    html = space.report.read_text(encoding="utf-8")
    section = html[html.index('<section id="second">') :].split("</section>")[0]
    assert '<section id="judges">' in html and DEAR in section and "the panel" in section and "Means" in section
    assert results.panel is not None and results.second.n_failed == 0


def test_figures_without_its_file_are_refused_and_without_a_second_judge_nothing_is_left_of_it(tmp_path):
    space, _ = judged(tmp_path, TwoJudges())
    space.second_drawn.unlink()
    with pytest.raises(InputError, match="the second judge was not asked"):
        compare(space)
    assert space.second.exists()
    alone, _ = judged(tmp_path, TwoJudges(), second=None)
    assert not alone.second.exists() and "second" not in json.loads((compared(alone), alone.figures.read_text())[1])


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ({"model": CHEAP, "second": CHEAP}, "second is openai:j, which judges everything already"),
        ({"model": CHEAP, "second_share": 0.3}, "second_share is of a second judge"),
        ({"model": CHEAP, "second": DEAR, "second_share": 0}, "second_share"),
        ({"panel": list(PANEL), "model": PANEL[0], "second": PANEL[2]}, "judges everything already"),
    ],
)
def test_a_second_judge_that_cannot_be_is_refused(judge, said):
    with pytest.raises(ValueError, match=said):
        experiment(judge=judge)


MANY = tuple(f"q{i:03}" for i in range(80))
TWO = ("bm25", "knn")


def many_answers() -> Material:
    answers = {(q, agent): answer(q, agent, "an answer") for q in MANY for agent in TWO}
    return Material(tuple(Query(_id=q, text="?") for q in MANY), TWO, {}, answers)


def judged_by_both(generator: np.random.Generator) -> tuple[list[Judgment], list[Judgment]]:
    """The dear judge's labels, and a cheap judge's, which likes the longer answers of knn: one grade up in a third."""
    dear, cheap = [], []
    for agent, shares in zip(TWO, ((0.3, 0.3, 0.4), (0.4, 0.3, 0.3)), strict=True):
        for query in MANY:
            label = float(generator.choice(3, p=shares))
            wrong = generator.random() < (0.35 if agent == "knn" else 0.1)
            seen = min(2.0, label + 1) if wrong else label
            dear.append(judgment(query, agent, "accuracy", label, judge="dear"))
            cheap.append(judgment(query, agent, "accuracy", seen, judge="cheap"))
    return dear, cheap


def corrected(there: Findings, cheap: list[Judgment], second: SecondJudge) -> dict[tuple[str, str | None], float]:
    """(agent, other) to the corrected mean or difference."""
    values = {a: {"accuracy": {r.query_id: r.label for r in cheap if r.subject == a}} for a in TWO}
    draws = resamples(MANY, 2, 7)
    found = correct_figures(there, Judged({}, values, ()), second.people, TWO, ["accuracy"], 5, draws)
    return {(f.agent, f.other): f.corrected.value for f in found.figures if f.corrected.value is not None}


def test_corrected_figures_are_unbiased_where_the_cheap_judge_is_not():
    generator, made = np.random.default_rng(11), many_answers()
    errors, uncorrected = [], []
    for seed in range(24):
        dear, cheap = judged_by_both(generator)
        there = findings(made, pointwise=tuple(cheap))
        frame = draw_frame(there, ["accuracy"], 5, n=40, seed=seed, kinds=["answers"])
        second = second_labels(frame, dear)
        assert second.n_failed == 0 and 38 <= second.n_asked <= 42
        truth, said = ({a: np.mean([r.label for r in rows if r.subject == a]) for a in TWO} for rows in (dear, cheap))
        found = corrected(there, cheap, second)
        gaps = [each["bm25"] - each["knn"] for each in (truth, said)]
        errors.append([found["bm25", None] - truth["bm25"], found["knn", None] - truth["knn"]])
        errors[-1].append(found["bm25", "knn"] - gaps[0])
        uncorrected.append([said["bm25"] - truth["bm25"], said["knn"] - truth["knn"], gaps[1] - gaps[0]])
    spread = np.std(errors, axis=0) / np.sqrt(len(errors))
    assert (np.abs(np.mean(errors, axis=0)) < 2.5 * spread).all()
    assert (np.abs(np.mean(uncorrected, axis=0)) > [0.05, 0.2, 0.1]).all()


def test_what_the_cheap_judge_was_unsure_of_is_asked_about_more_often():
    _, cheap = judged_by_both(np.random.default_rng(1))
    there = findings(many_answers(), pointwise=tuple(cheap))
    chance = {row.key: row.probability for row in draw_frame(there, ["accuracy"], 5, n=60, seed=3, kinds=["answers"])}
    by_label = {r.label: chance[r.query_id, r.subject, "accuracy"] for r in cheap}
    assert by_label[1.0] == pytest.approx(3 * by_label[0.0]) and by_label[0.0] == pytest.approx(by_label[2.0])
    assert sum(chance.values()) == pytest.approx(60)


def drawn_of_looks(n: int, seed: int) -> list[tuple[str, str]]:
    """What is drawn of the answers to ten queries a look, a twentieth of each, all of one label, after n looks."""
    looks = [MANY[start : start + 10] for start in range(0, 10 * n, 10)]
    asked = tuple(query for look in looks for query in look)
    material = replace(
        many_answers(), queries=tuple(Query(_id=q, text="?") for q in asked), batches=tuple(map(frozenset, looks))
    )
    same = tuple(judgment(query, agent, "accuracy", 1.0) for query in asked for agent in TWO)
    there = findings(material, pointwise=same)
    rows = draw_share(there, (), ["accuracy"], 5, share=0.05, seed=seed)
    return [(row.query, row.subject) for row in rows if row.drawn]


def test_each_look_draws_for_itself_and_what_was_drawn_before_stays():
    """One answer a look: looks that began at one place would all take the same agent's, for every seed."""
    assert drawn_of_looks(3, 1) == drawn_of_looks(8, 1)[:3]
    agents = [{agent for _, agent in drawn_of_looks(8, seed)} for seed in range(10)]
    assert all(len(drawn_of_looks(8, seed)) == 8 for seed in range(3))
    assert sum(len(one) == 2 for one in agents) >= 8


def row(query: str, subject: str, criterion: str, drawn: bool, probability: float = 0.25) -> Drawn:
    kind = "games" if criterion == "game" else "answers"
    named = {"query": query, "subject": subject, "criterion": criterion}
    return Drawn(item=f"i{query}", kind=kind, probability=probability, drawn=drawn, swapped=True, **named)


def test_only_what_was_drawn_counts_and_what_failed_is_said():
    frame = [row(f"q{i}", "bm25", "accuracy", drawn=i < 3) for i in range(5)]
    frame += [row("q0", "bm25:knn", "game", True, 0.5), row("q1", "bm25:knn", "game", True)]
    said = [judgment("q0", "bm25", "accuracy", 2.0), judgment("q1", "bm25", "accuracy", None)]
    said += [judgment("q4", "bm25", "accuracy", 1.0), judgment("q0", "bm25", "completeness", 1.0)]
    games = [game("q0", "knn", "bm25", "a", first, judge="openai:j") for first in ("a", "b")]
    games += [game("q1", "bm25", "knn", w, f, judge="openai:j") for w, f in (("a", "a"), ("b", "b"))]
    found = second_labels(frame, said, verdicts(games))
    assert (found.n_asked, found.n_failed) == (5, 2)
    assert [(label.who, label.key, label.value) for label in found.people.labels] == [
        ("openai:j", ("q0", "bm25", "accuracy"), 2.0),
        ("openai:j", ("q0", "bm25:knn", "game"), 0.0),
        ("openai:j", ("q1", "bm25:knn", "game"), 0.5),
    ]
    assert found.people.inclusion is not None
    assert found.people.inclusion["q0", "bm25:knn", "game"] == 0.5 and ("q4", "bm25", "accuracy") not in (
        found.people.inclusion
    )


def test_there_must_be_something_to_draw():
    with pytest.raises(InputError, match="there is nothing to label yet"):
        draw_frame(findings(), ["accuracy"], 5, n=10, seed=1)
