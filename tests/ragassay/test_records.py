"""Records that failed: whose failure it is."""

from __future__ import annotations

from ragassay.records import NO_ANSWER, Judgment, own_failures


def test_what_an_answer_was_missing_for_is_no_failure_of_its_own():
    known = {"query_id": "q", "subject": "a", "judge": "j", "criterion": "c"}
    made = [Judgment(**known, label=1.0), Judgment(**known, label=None, error="the reply is empty")]
    made.append(Judgment(**known, label=None, error=f"{NO_ANSWER}no response"))
    assert own_failures(made) == [made[1]]
