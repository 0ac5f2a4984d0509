"""Six planted faults are found, in five languages, and sound questions raise none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.sound_sets import SOUND, rows_of

from ragassay.synth.checking.test_set import Checked
from ragassay.synth.checking.wording import Overlap

LEANING = {
    "en": "According to the passage, what ends it?",
    "de": "Was wird laut dem Text nicht erlaubt?",
    "ru": "Что говорится в данном отрывке о сроках?",
    "zh": "根据上述文章,应该注意什么?",
    "ar": "ما الذي يوصي به الكاتب وفقا للنص أعلاه؟",
}
ELSEWHERE = {
    "en": "Penguins breed on the Antarctic coast and feed on krill during the long winter night.",
    "de": "Pinguine brüten an der Küste der Antarktis und ernähren sich im langen Winter von Krill.",
    "ru": "Пингвины гнездятся на побережье Антарктиды и питаются крилем во время долгой зимы.",
    "zh": "企鹅在南极海岸繁殖,在漫长的冬夜里以磷虾为食,并由雄鸟孵蛋两个月。",
    "ar": "تتكاثر البطاريق على ساحل القارة القطبية الجنوبية وتتغذى على الكريل خلال الشتاء الطويل.",
}


Check = Callable[..., Checked]


def faults(found: Checked) -> set[tuple[str, str]]:
    return {(one.id, one.fault) for one in found.findings}


@pytest.mark.parametrize("language", SOUND)
def test_sound_questions_raise_nothing_and_six_planted_faults_are_found_and_nothing_else(check: Check, language: str):
    checked = check(rows_of(language), language)
    assert checked.findings == ()
    assert checked.counts["answer-not-held"].n == checked.counts["evidence-not-in-corpus"].n == len(SOUND[language])
    first, second, third, *_ = SOUND[language]
    copied = first.evidence.rstrip(".。") + "?"
    planted = [
        {"id": "leans", "user_input": LEANING[language]},
        {"id": "twice", "user_input": f" {second.question.upper()}"},
        {"id": "copies", "user_input": copied, "reference_contexts": [first.evidence]},
        {"id": "elsewhere", "user_input": third.question + " 7?", "reference_contexts": [ELSEWHERE[language]]},
        {
            "id": "not-held",
            "user_input": first.question + " 8?",
            "reference": ELSEWHERE[language],
            "reference_contexts": [first.evidence],
        },
        {"id": "blank", "user_input": " \n?? "},
    ]
    found = faults(check([*rows_of(language), *planted], language))
    assert {
        ("leans", "not-alone"),
        ("twice", "near-duplicate"),
        ("copies", "copy"),
        ("elsewhere", "evidence-not-in-corpus"),
        ("not-held", "answer-not-held"),
        ("blank", "empty"),
    } <= found
    assert {name for name, _ in found} == {row["id"] for row in planted}


def test_the_question_that_is_repeated_is_named(check: Check):
    rows = rows_of("en")
    rows.append({"id": "again", "user_input": "What wakes a controller from the power-down sleep?"})
    (found,) = check(rows).findings
    assert (found.other, found.row, found.line) == ("en-1", len(rows), len(rows))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("?!…", "empty"),
        ("How do I reset the \ufffd\ufffd\ufffd timer?", "garbled"),
        ("Wie grÃ¼ÃŸe ich jemanden auf FranzÃ¶sisch?", "garbled"),
        ("ÐšÐ°Ðº Ð¿Ñ€Ð¸Ð³Ð¾Ñ‚Ð¾Ð²Ð¸Ñ‚ÑŒ Ð±Ð¾Ñ€Ñ‰?", "garbled"),
        ("РљР°Рє РїСЂРёРіРѕС‚РѕРІРёС‚СЊ Р±РѕСЂС‰?", "garbled"),
        ("How do I (cid:12)(cid:44)(cid:9) it?", "garbled"),
        ("W h a t e n d s sleep?", "garbled"),
        ("xkcdq wrtzp bvnmk lkjhg?", "garbled"),
        ("What is\x07 the reference?", "garbled"),
        ("如何让控制器从睡眠中醒来?", "other-script"),
        ("Sure! Here are 10 questions: What ends sleep mode?", "model-talk"),
    ],
)
def test_text_that_no_one_would_ask(check: Check, text: str, fault: str):
    assert faults(check([*rows_of("en"), {"id": "planted", "user_input": text}])) == {("planted", fault)}


@pytest.mark.parametrize(
    "text",
    [
        "Why is the “CAFÉ” sign so naïve – and what is a façade…?",
        "Que signifie « À LA CARTE » au menu du CAFÉ–BAR ?",
        "Wie schreibt man GRÖSSE und MAẞE?",
        "why??? does it not start!!!",
        "\ufeffWhat is the smallest “μ” that is ≤ 5 °C?",
        "strncpy mmap fprintf",
        "C++ vs. C#?",
        "Why do signs say CAFÉ… or CAFÉ” at the door?",
        "Wie tippe ich „Ä“ und „Ö“ oder »Ü«?",
        "Which of the pins A B C D E F may be used as inputs?",
        "Are rates of 8/24/48/96/192 kHz usable?",
    ],
)
def test_odd_but_sound_text_is_let_stand(check: Check, text: str):
    assert check([*rows_of("en"), {"id": "odd", "user_input": text}]).findings == ()


def test_a_set_in_another_script_than_the_corpus_is_no_fault(check: Check):
    rows = [{"id": f"q{n}", "user_input": one.question} for n, one in enumerate(SOUND["ru"])]
    checked = check(rows, "en")
    assert checked.findings == ()
    assert "Cyrillic" in checked.notes[0]


@pytest.mark.parametrize(
    ("run", "share", "shared", "n_content", "keywords", "copied"),
    [
        (8, 0.1, 0.0, 20, False, True),
        (7.6, 0.7, 0.9, 20, False, False),
        (5, 0.75, 0.0, 5, False, True),
        (5, 0.75, 0.0, 5, True, False),
        (5, 0.1, 1.0, 9, False, True),
        (5, 0.1, 1.0, 8, False, False),
    ],
)
def test_each_of_the_three_bars_of_a_copy(
    run: float, share: float, shared: float, n_content: int, keywords: bool, copied: bool
):
    """Those of docs/check.md: eight words in a row, three quarters of all, or all content words of at least nine."""
    assert Overlap(run, share, shared, n_content, "", keywords).copied == copied


def test_keywords_are_not_taken_for_a_copy(check: Check):
    checked = check([*rows_of("en"), {"id": "search", "user_input": "supply current power-down mode oscillator"}])
    assert checked.findings == ()
    rows = [*rows_of("en"), {"id": "words", "user_input": "write and erase cycles"}]
    assert check(rows).findings == ()


def test_what_was_not_judged_is_counted(check: Check):
    rows = [{"id": id, "user_input": text} for id, text in (("a", "What ends sleep?"), ("b", "zzz"), ("c", ""))]
    counts = check(rows).counts
    assert (counts["answer-not-held"].n, counts["answer-not-held"].n_not_judged) == (0, 3)
    assert (counts["near-duplicate"].n, counts["near-duplicate"].n_not_judged) == (2, 1)
    assert (counts["copy"].n, counts["copy"].n_not_judged) == (1, 2)


def test_the_set_as_a_whole(check: Check):
    checked = check([*rows_of("en")[:3], {"id": "none", "user_input": "zzz"}])
    where = checked.coverage
    assert (where.documents.asked, where.documents.of, where.sections) == (3, 5, None)
    assert (where.n_by_evidence, where.n_by_search, where.n_nowhere) == (3, 0, 1)
    assert (checked.overlap.run.mean.n, checked.overlap.run.mean.n_failed) == (3, 1)
    low, high = checked.overlap.shared.mean.ci_low, checked.overlap.shared.mean.ci_high
    assert low is not None and high is not None
    assert 0 <= low <= checked.overlap.shared.mean.value <= high <= 1  # type: ignore[operator]


def test_a_set_that_begins_alike_is_told_from_the_experts(check: Check):
    subjects = ["EEPROM", "timer", "watchdog", "stack", "bootloader", "oscillator", "heap", "linker", "fuse", "port"]
    experts = [f"why does my {name} not work" for name in subjects]
    text = "In the field of embedded systems, could you elaborate how the {} is set up?"
    rows = [{"id": f"q{n}", "user_input": text.format(name)} for n, name in enumerate(subjects)]
    realism = check(rows, experts=experts).realism
    assert realism is not None and realism.auc is not None and realism.auc.value is not None
    assert realism.auc.value > 0.9 and (realism.n_experts, realism.n_written) == (10, 10)
    mixed = check([*rows, *({"id": text, "user_input": text} for text in experts)], experts=experts)
    assert mixed.realism is not None and mixed.realism.n_written == 10
    assert any(one.startswith("10 questions are the experts' own") for one in mixed.notes)
    assert check(rows[:9], experts=experts).realism is None


def test_one_question_is_checked_and_said_to_be_one(check: Check):
    checked = check([{"id": "only", "user_input": "According to the passage, what ends it?"}])
    assert faults(checked) == {("only", "not-alone")}
    assert "one question" in checked.notes[0]
