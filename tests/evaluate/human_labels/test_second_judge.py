"""A dear judge on a sample of what a cheap one judged: its labels correct the figures, without bias."""

from __future__ import annotations

import numpy as np
import pytest
from support.results_folder import answer, findings, game, judgment

from ragassay.errors import InputError
from ragassay.evaluate.human_labels.corrections import Judged, correct_figures
from ragassay.evaluate.human_labels.second_judge import SecondJudge, second_labels
from ragassay.evaluate.human_labels.sheet import Drawn, draw_frame
from ragassay.evaluate.inputs.findings import Findings, Material
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Judgment, Query

QUERIES = tuple(f"q{i:03}" for i in range(80))
AGENTS = ("bm25", "knn")


def material() -> Material:
    answers = {(q, agent): answer(q, agent, "an answer") for q in QUERIES for agent in AGENTS}
    return Material(tuple(Query(_id=q, text="?") for q in QUERIES), AGENTS, {}, answers)


def judged_by_both(generator: np.random.Generator) -> tuple[list[Judgment], list[Judgment]]:
    """The dear judge's labels, and a cheap judge's, which likes the longer answers of knn: one grade up in a third."""
    dear, cheap = [], []
    for agent, shares in zip(AGENTS, ((0.3, 0.3, 0.4), (0.4, 0.3, 0.3)), strict=True):
        for query in QUERIES:
            label = float(generator.choice(3, p=shares))
            wrong = generator.random() < (0.35 if agent == "knn" else 0.1)
            seen = min(2.0, label + 1) if wrong else label
            dear.append(judgment(query, agent, "accuracy", label, judge="dear"))
            cheap.append(judgment(query, agent, "accuracy", seen, judge="cheap"))
    return dear, cheap


def corrected(there: Findings, cheap: list[Judgment], second: SecondJudge) -> dict[tuple[str, str | None], float]:
    """(agent, other) to the corrected mean or difference."""
    values = {a: {"accuracy": {r.query_id: r.label for r in cheap if r.subject == a}} for a in AGENTS}
    draws = resamples(QUERIES, 2, 7)
    found = correct_figures(there, Judged({}, values, ()), second.people, AGENTS, ["accuracy"], 5, draws)
    return {(f.agent, f.other): f.corrected.value for f in found.figures if f.corrected.value is not None}


def test_corrected_figures_are_unbiased_where_the_cheap_judge_is_not():
    generator, made = np.random.default_rng(11), material()
    errors, uncorrected = [], []
    for seed in range(40):
        dear, cheap = judged_by_both(generator)
        there = findings(made, pointwise=tuple(cheap))
        frame = draw_frame(there, ["accuracy"], 5, n=40, seed=seed, kinds=["answers"])
        second = second_labels(frame, dear)
        assert second.n_failed == 0 and 38 <= second.n_asked <= 42
        truth, said = (
            {a: np.mean([r.label for r in rows if r.subject == a]) for a in AGENTS} for rows in (dear, cheap)
        )
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
    there = findings(material(), pointwise=tuple(cheap))
    chance = {row.key: row.probability for row in draw_frame(there, ["accuracy"], 5, n=60, seed=3, kinds=["answers"])}
    by_label = {r.label: chance[r.query_id, r.subject, "accuracy"] for r in cheap}
    assert by_label[1.0] == pytest.approx(3 * by_label[0.0]) and by_label[0.0] == pytest.approx(by_label[2.0])
    assert sum(chance.values()) == pytest.approx(60)


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
