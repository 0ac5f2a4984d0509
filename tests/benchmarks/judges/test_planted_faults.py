"""Faults planted in the demo's recorded answers and in texts of many scripts are found; unplanted there is no alarm."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import chdir

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.quiet_texts import of_many_scripts, of_the_demo

from benchmarks.judges.faults import broken_json, fresh
from benchmarks.judges.faults.credentials import SECRETS
from benchmarks.judges.faults.encoded import ENCODED
from benchmarks.judges.faults.loops import LOOPS
from benchmarks.judges.faults.personal import PERSONAL
from benchmarks.judges.faults.planting import planted
from benchmarks.judges.planted_faults import wilson
from ragassay import judges

FOREIGN = {
    "zh": "调用宏可以启用中断。缓冲区已满时，函数立即返回，不再等待。请先阅读手册中关于启动代码的一节。",
    "ar": "يمكن تفعيل المقاطعات باستدعاء الماكرو. تعود الدالة فورا إذا امتلأ المخزن المؤقت. راجع دليل المستخدم أولا.",
    "ru": "Прерывания включаются макросом. Если буфер заполнен, функция сразу возвращается. Прочтите руководство.",
    "ja": "割り込みはマクロで有効になります。バッファが一杯なら、関数はすぐに戻ります。まず手引きを読んでください。",
    "fa": "وقفه‌ها با ماکرو فعال می‌شوند. اگر بافر پر باشد تابع فورا بازمی‌گردد. نخست راهنما را بخوانید.",
    "mr": "मॅक्रो वापरून व्यत्यय चालू करता येतात। बफर भरल्यास कार्य लगेच परत येते। प्रथम पुस्तिका वाचा।",
    "fr": "Les interruptions sont activées par une macro. Si le tampon est plein, elle revient. Lisez le manuel.",
}
"""Sentences of our own."""

ANSWERS = of_the_demo()
TEXTS = [*(("en", text) for text in ANSWERS[::40]), *FOREIGN.items()]


@pytest.fixture(autouse=True, scope="module")
def _elsewhere(tmp_path_factory) -> Iterator[None]:
    """The functions keep their lock in the working folder."""
    with chdir(tmp_path_factory.mktemp("work")):
        yield


def with_fault(kind, faults, seed: int = 7) -> list[str]:
    chance = random.Random(f"{seed} {kind}")
    return [planted(text, faults[kind](chance, language), chance, language) for language, text in TEXTS]


@pytest.mark.parametrize("kind", PERSONAL)
def test_personal_data_is_found(kind: str) -> None:
    rows = judges.pii_leakage(answer=with_fault(kind, PERSONAL))
    assert all(any(one["kind"] == kind for one in row.details) for row in rows)


@pytest.mark.parametrize("kind", SECRETS)
def test_secrets_are_found(kind: str) -> None:
    rows = judges.sensitive_data_leakage(answer=with_fault(kind, SECRETS))
    assert all(any(one["kind"] == kind for one in row.details) for row in rows)


@pytest.mark.parametrize("kind", ENCODED)
def test_what_is_encoded_is_found(kind: str) -> None:
    assert [row.label for row in judges.encoding_guardrail(answer=with_fault(kind, ENCODED))] == [1] * len(TEXTS)


@pytest.mark.parametrize("kind", LOOPS)
def test_loops_are_found(kind: str) -> None:
    chance = random.Random(kind)
    looped = [LOOPS[kind](text, language, chance) for language, text in TEXTS]
    assert [row.label for row in judges.loops_found(answer=looped)] == [1] * len(TEXTS)


@pytest.mark.parametrize(
    "name", ["pii_leakage", "sensitive_data_leakage", "encoding_guardrail", "loops_found", "contact_information_found"]
)
def test_no_alarm_where_nothing_is_planted(name: str) -> None:
    texts = [*ANSWERS, *FOREIGN.values(), *of_many_scripts()]
    alarms = [text for text, row in zip(texts, judges.named(name)(answer=texts), strict=True) if row.label]
    assert alarms == []


def test_broken_json_does_not_parse_and_sound_json_does() -> None:
    for made, parses in ((broken_json.BROKEN, 0), (broken_json.SOUND, 1), (broken_json.UNFIT, 1)):
        chance = random.Random(7)
        texts = [make(text, chance) for make in made.values() for _, text in TEXTS]
        rows = judges.json_schema(answer=texts, contexts=[["none"]] * len(texts))
        assert {row["json_answer_parses"].label for row in rows} == {parses}


def test_an_answer_in_another_language_is_found() -> None:
    question = "How are interrupts enabled, and what does the function do when the buffer is full?"
    rows = judges.language_mismatch(query=[question] * len(FOREIGN), answer=list(FOREIGN.values()))
    assert [row.label for row in rows] == [1] * len(FOREIGN)


@given(st.text(st.characters(categories=["L", "Nd", "Zs"]), min_size=1, max_size=60), st.integers(5, 12))
def test_a_text_said_again_is_a_loop(text: str, times: int) -> None:
    unit = " ".join(text.split())
    if len(unit) < 10:
        unit += " and some more words"
    assert judges.loops_found(answer=" ".join([f"{unit}."] * times)).label == 1


@pytest.mark.parametrize(
    "text", ["| --- | --- | --- | --- |", "nop\nnop\nnop\nnop", "0x00, 0x00, 0x00, 0x00", "ha ha ha"]
)
def test_short_rows_are_no_loops(text: str) -> None:
    assert judges.loops_found(answer=f"It looks like this:\n{text}\nand so on.").label == 0


def test_wilsons_interval() -> None:
    """Wilson's own textbook case, as R's prop.test(81, 263, correct = FALSE) has it."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_the_second_set_is_of_kinds_that_the_evaluators_have_and_a_seed_makes_it() -> None:
    from ragassay.evaluate.judging.judges.eval_studio.safety import leaks as credentials
    from ragassay.evaluate.judging.judges.eval_studio.safety import patterns

    for faults, kinds in ((fresh.PERSONAL, patterns.PERSONAL), (fresh.SECRETS, credentials.SECRETS)):
        assert faults.keys() <= {kind.name for kind in kinds}
        assert all(fault(random.Random(3), "en") == fault(random.Random(3), "en") for fault in faults.values())
    assert all(loop(ANSWERS[0], "en", random.Random(3)) != ANSWERS[0] for loop in fresh.LOOPS.values())
