"""What `compare` says to choose, and how sure that is."""

from __future__ import annotations

import pytest
from support.compared import Made, experiment

from ragassay.records import Query


def two(tmp_path, winner, n, sections=0):
    """Two agents; queries from so many sections, or each on its own."""
    setup = experiment(["bm25"])
    made = Made(tmp_path, n=n, setup=setup)
    places = [{"section": f"s{i % sections}"} if sections else {} for i in range(n)]
    made.queries = [Query(id=q.id, text="?", metadata=at) for q, at in zip(made.queries, places, strict=True)]
    made.winners = {key: winner(int(key[0][1:])) for key in made.winners}
    made.write()
    return made.compare()


@pytest.mark.parametrize(
    ("winner", "n", "sentence"),
    [
        (lambda i: "a", 12, "Choose bm25-rag: with these 12 queries it is ahead"),
        (lambda i: "a", 5, "bm25-rag leads, but these 5 queries are too few to be sure."),
        (lambda i: "aab"[i % 3], 12, "bm25-rag leads, but these 12 queries cannot tell it from bm25-rag-fusion."),
        (lambda i: "ab"[i % 2], 12, "bm25-rag and bm25-rag-fusion are level on these 12 queries."),
        (lambda i: "b", 1, "bm25-rag-fusion leads, but on one query."),
    ],
)
def test_the_verdict_says_how_sure_it_is(tmp_path, winner, n, sentence):
    results = two(tmp_path, winner, n)
    assert results.verdict.sentence.startswith(sentence)
    assert results.verdict.decided == sentence.startswith("Choose")


def test_a_sure_choice_of_two_is_one_that_the_sign_test_makes(tmp_path):
    """Of 12 queries without ties, 10 is the fewest that a two-sided sign test calls significant at 5% (p = 0.039)."""
    assert not two(tmp_path / "9", lambda i: "a" if i < 9 else "b", 12).verdict.decided
    assert two(tmp_path / "11", lambda i: "a" if i < 11 else "b", 12).verdict.decided


@pytest.mark.parametrize(("sections", "words"), [(1, "one section"), (5, "5 sections")])
def test_many_queries_of_few_sections_are_few(tmp_path, sections, words):
    verdict = two(tmp_path, lambda i: "a", 12, sections).verdict
    assert not verdict.decided
    assert verdict.sentence == f"bm25-rag leads, but these 12 queries come from {words}, too few to be sure."


def test_of_a_judge_that_says_whoever_is_shown_first_nobody_leads(tmp_path):
    """Every winner changes with the order: 100% flips, where guessing gives as many."""
    made = Made(tmp_path, n=30, setup=experiment(["bm25"]))
    made.winners = {key: key[3] for key in made.winners}
    made.write()
    results = made.compare()
    verdict = results.verdict
    assert any(notice.startswith("The judge favours the answer shown first (100%") for notice in results.notices)
    assert {figure.value for figure in results.bradley_terry.values()} == {500.0}
    assert verdict.leader is None and not verdict.decided and not verdict.possible_best
    assert verdict.sentence.startswith("No agent can be said to lead. The judge may be guessing: 30 of 30")
    assert {row.verdict for row in results.comparisons if row.measure == "points"} == {"not distinguishable"}
