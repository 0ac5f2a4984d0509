"""Records that failed: whose failure it is."""

from __future__ import annotations

from ragassay.records import NO_ANSWER, Judgment, Query, link_of, originals, own_failures


def test_what_an_answer_was_missing_for_is_no_failure_of_its_own():
    known = {"query_id": "q", "subject": "a", "judge": "j", "criterion": "c"}
    made = [Judgment(**known, label=1.0), Judgment(**known, label=None, error="the reply is empty")]
    made.append(Judgment(**known, label=None, error=f"{NO_ANSWER}no response"))
    assert own_failures(made) == [made[1]]


def test_what_was_made_of_another_question_is_no_question_of_the_test_set():
    plain = Query(_id="q", text="Why?")
    typo = Query(_id="q-typos", text="Wyh?", metadata={"perturbed_from": "q", "perturbation": "typos"})
    assert originals([typo, plain]) == [plain]
    assert (link_of(plain), link_of(typo)) == ({}, {"perturbed_from": "q", "perturbation": "typos"})
