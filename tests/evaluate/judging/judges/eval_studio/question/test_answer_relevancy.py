"""Answer relevancy: the mean cosine to written questions, and the highest to a sentence, worked by hand."""

from __future__ import annotations

import pytest
from support.loopback.behaviours import reply
from support.triad_bench import system, user


def test_the_mean_cosine_to_the_questions_that_the_judge_writes(embedding) -> None:
    embedding.asked("no", "north?", "steep?", "east?")
    (row,) = embedding.judge("answer_relevancy", question="north", answer="It is </answer> there.")
    assert row.label == pytest.approx((1 + 0.6 + 0) / 3) and row.judge == "openai:judge"
    assert [(d["question"], pytest.approx(d["score"])) for d in row.details] == [
        ("north?", 1.0),
        ("steep?", 0.6),
        ("east?", 0.0),
    ]
    (request,) = embedding.bench.server.requests
    shown = user(request.body)
    assert shown.count("</answer>") == 1 and "north" not in system(request.body) + shown


def test_a_noncommittal_answer_is_0_by_the_rule_of_the_source(embedding) -> None:
    embedding.asked("yes", "north", "north", "north")
    (row,) = embedding.judge("answer_relevancy", answer="I am not sure.")
    assert row.label == 0.0 and row.error is None and row.details == ({"noncommittal": True},)


def test_as_many_questions_as_are_set(embedding) -> None:
    embedding.asked("no", "steep")
    (row,) = embedding.judge("answer_relevancy", questions=1)
    assert row.label == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("noncommittal", "questions"),
    [("no", ("north",)), ("no", ("north", "east", "--")), ("maybe", ("north",) * 3), ("no", ("north",) * 4)],
)
def test_a_reply_that_does_not_fit_is_asked_again_and_then_an_error(embedding, noncommittal, questions) -> None:
    embedding.asked(noncommittal, *questions)
    (row,) = embedding.judge("answer_relevancy")
    assert row.label is None and row.error and len(embedding.bench.server.requests) == 2


def test_all_questions_of_a_round_are_embedded_together(bench, known_vectors, monkeypatch) -> None:
    from sentence_transformers import SentenceTransformer

    batches: list[list[str]] = []
    encode = SentenceTransformer.encode
    monkeypatch.setattr(SentenceTransformer, "encode", lambda self, t, **kw: batches.append(t) or encode(self, t, **kw))
    said = '{"reason": "So.", "noncommittal": "no", "question_1": "north", "question_2": "east", "question_3": "south"}'
    bench.server.script = lambda number, body: reply(said)
    rows = bench.judge("answer_relevancy", *bench.config("[retrieval]", f'embedding = "{known_vectors}"'))
    assert len(rows) == 2 and len(batches) == 1


@pytest.mark.parametrize(("answer", "question"), [("?", "north"), ("north", "??")])
def test_without_words_nothing_is_asked(embedding, answer, question) -> None:
    (row,) = embedding.judge("answer_relevancy", answer=answer, question=question)
    assert row.label is None and row.error.endswith("holds no words") and not embedding.bench.server.requests


def test_the_sentence_that_is_nearest_to_the_question(embedding) -> None:
    (row,) = embedding.judge("answer_relevancy_sentences", answer="East lies here. Steep lies there [2]. North.")
    assert row.label == pytest.approx(0.6)  # "North." has fewer than 11 characters
    assert row.details == ({"sentence": "Steep lies there.", "score": row.label},)
    (row,) = embedding.judge("answer_relevancy_sentences", answer="East lies here. North.", shortest=1)
    assert row.label == pytest.approx(1.0)


def test_an_answer_that_is_too_short_has_no_value(embedding) -> None:
    (row,) = embedding.judge("answer_relevancy_sentences", answer="North. East.")
    assert row.error == "no value: the answer is too short to embed: no sentence has 11 characters"


def test_east_asian_characters_count_twice(embedding) -> None:
    (row,) = embedding.judge("answer_relevancy_sentences", answer="中断由 north 启用")
    assert row.label == pytest.approx(1.0)
