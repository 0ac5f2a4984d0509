"""Answer relevancy and the languages of question and answer: by hand, over HTTP, and texts of no one language."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.answers_judged import judged
from support.hostile_answers import EMPTY, HOSTILE
from support.item_replies import script
from support.loopback.behaviours import reply
from support.often import CI
from support.quiet_texts import of_the_demo
from support.triad_bench import system, user

from ragassay.evaluate.judging.judges.eval_studio import question
from ragassay.evaluate.judging.judges.eval_studio.question import probability_of_same

pytestmark = pytest.mark.xdist_group("models")


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


QUESTIONS = {
    "en": "How can I enable interrupts on this microcontroller, and where is that written down?",
    "de": "Wie kann ich die Interrupts auf diesem Mikrocontroller einschalten, und wo steht das geschrieben?",
    "fr": "Comment puis-je activer les interruptions sur ce microcontrôleur, et où est-ce écrit ?",
    "es": "¿Cómo puedo habilitar las interrupciones en este microcontrolador, y dónde está escrito eso?",
    "ru": "Как включить прерывания на этом микроконтроллере, и где об этом написано?",
    "zh": "如何在这个微控制器上启用中断？这在哪里有说明？",
    "ja": "このマイクロコントローラで割り込みを有効にするにはどうすればよいですか？",
    "ar": "كيف يمكنني تفعيل المقاطعات على هذا المتحكم، وأين كتب ذلك؟",
    "el": "Πώς μπορώ να ενεργοποιήσω τις διακοπές σε αυτόν τον μικροελεγκτή;",
}
ANSWERS = {
    "en": "You enable them by calling the macro `sei()`, which sets the global interrupt flag of the processor [1].",
    "de": "Man schaltet sie mit dem Makro `sei()` ein, das die globale Erlaubnis des Prozessors setzt [1].",
    "fr": "On les active en appelant la macro `sei()`, qui positionne le drapeau global du processeur [1].",
    "es": "Se habilitan llamando a la macro `sei()`, que activa el indicador global del procesador [1].",
    "ru": "Они включаются вызовом макроса `sei()`, который устанавливает глобальный флаг AVR [1].",
    "zh": "调用宏 `sei()` 即可启用中断，它会设置处理器的全局中断标志位 [1]。",
    "ja": "マクロ `sei()` を呼び出すと、グローバル割り込みフラグが設定されて有効になります [1]。",
    "ar": "يتم تفعيلها باستدعاء الماكرو `sei()` الذي يضبط علامة المقاطعة العامة [1].",
    "el": "Ενεργοποιούνται με τη μακροεντολή `sei()`, που θέτει τη γενική σημαία [1].",
}


def test_the_same_language_is_none_and_another_is_one(tmp_path) -> None:
    pairs = list(product(QUESTIONS, ANSWERS))
    questions, answers = [QUESTIONS[asked] for asked, _ in pairs], [ANSWERS[given] for _, given in pairs]
    rows = judged(tmp_path, "language_mismatch", answers, questions=questions)
    assert [row.label for row in rows] == [float(asked != given) for asked, given in pairs]
    assert [row.details[0]["language"] for row in rows] == [asked for asked, _ in pairs]
    assert {row.judge for row in rows} == {"py3langid"}


NO_VALUE = {
    "Yes, it is.": "the answer is too short",
    "`sei(); cli();` https://example.org/enable_interrupts.html SREG_I |= (1<<7);": "the answer is too short",
    "You enable them by calling the macro and waiting. Они включаются вызовом макроса.": "mixed: it is in two scripts",
    f"{ANSWERS['en']} {ANSWERS['de']}": "mixed: sentences in de and en",
}


def test_what_is_short_mixed_or_code_has_no_value(tmp_path) -> None:
    questions = [*[QUESTIONS["en"]] * len(NO_VALUE), "sei() ISR?"]
    rows = judged(tmp_path, "language_mismatch", [*NO_VALUE, ANSWERS["en"]], questions=questions)
    for row, said in zip(rows, [*NO_VALUE.values(), "the question is too short"], strict=True):
        assert row.label is None and said in str(row.error)


def test_no_false_alarm_on_the_demos_answers(tmp_path) -> None:
    answers = of_the_demo()[:: 1 if CI else 3]
    labels = [row.label for row in judged(tmp_path, "language_mismatch", answers)]
    assert set(labels) <= {0.0, None} and labels.count(0.0) > 0.9 * len(answers)


def test_hostile_and_empty_answers(tmp_path) -> None:
    texts = [*(text.encode("utf-8", "replace").decode() for text in HOSTILE.values()), *EMPTY]
    rows = judged(tmp_path, "language_mismatch", texts)
    assert all((row.label is None) != (row.error is None) for row in rows)
    assert all(row.label is None for row in rows[-len(EMPTY) :])
    assert dict(zip(HOSTILE, rows, strict=False))["right to left"].label == 1


def test_the_equation_by_hand() -> None:
    """s = 0.9 · 0.8 + 0.1 · 0.2 = 0.74; 20 · 0.74 / (20 · 0.74 + 1) = 14.8 / 15.8."""
    assert probability_of_same({"en": 0.9, "de": 0.1}, {"en": 0.8, "de": 0.2}) == pytest.approx(14.8 / 15.8)
    assert probability_of_same({"en": 1.0}, {"de": 1.0}) == 0
    assert probability_of_same({"en": 1.0}, {"en": 1.0}) == pytest.approx(20 / 21)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_it_is_a_probability_and_the_order_does_not_count(one, other) -> None:
    p, q = dict(zip("abc", one, strict=True)), dict(zip("abc", other, strict=True))
    assert 0 <= probability_of_same(p, q) <= 1
    assert probability_of_same(p, q) == pytest.approx(probability_of_same(q, p))


def test_the_judge_can_be_asked_instead(bench) -> None:
    bench.server.script = script({"reason,label": lambda text: {"reason": "So it is.", "label": "yes"}})
    options = bench.config("[evaluate.settings.language_mismatch]", 'by = "judge"')
    rows = bench.judge("language_mismatch", *options)
    assert [(row.label, row.judge) for row in rows] == [(1, "openai:judge")] * 2 and len(bench.server.requests) == 2
    assert "in another language" in json.dumps(bench.server.requests[0].body)


def test_without_py3langid_one_sentence_says_what_to_install(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(question, "find_spec", lambda name: None)
    with pytest.raises(AssertionError):
        judged(tmp_path, "language_mismatch", ["It is so."])
    assert "needs the extra 'evaluators'" in capsys.readouterr().err
