"""What an answer says and its evidence does not, as far as numbers, names, negations and words are certain of it."""

from __future__ import annotations

import pytest

from ragassay.synth.checking.answer_held import not_held

SLEEP = "In power-down mode the supply current falls to 0.8 µA. The oscillator needs 4 cycles to start, see OSC0_CTRL."
SINCE = "Marie Curie discovered radium in Paris in 1898, and received the Nobel Prize thirteen years later."


@pytest.mark.parametrize(
    ("answer", "evidence", "said"),
    [
        ("It draws 2500 nA then.", SLEEP, "2500"),
        ("It needs 7 cycles to start.", SLEEP, "7 cycles"),
        ("Set the bit in OSC1_CTRL.", SLEEP, "OSC1_CTRL"),
        ("Call oscillator_start().", SLEEP, "oscillator_start()"),
        ("The oscillator doesn't need cycles to start, see OSC0_CTRL.", SLEEP, "opposite"),
        ("Radium was discovered by Albert Einstein.", SINCE, "Albert Einstein"),
        ("Radium was discovered in 1911.", SINCE, "1911"),
        ("Bake the dough for an hour until golden brown.", SLEEP, "0"),
        (
            "Der Antrag ist nicht innerhalb eines Jahres zu stellen.",
            "Der Antrag ist innerhalb eines Jahres zu stellen.",
            "opp",
        ),
        ("申请人不需要提交身份证明和户口本。", "申请人需要提交身份证明和户口本。", "opposite"),
        ("Отпуск длится ٤٥ дней.", "Отпуск длится 28 дней.", "45"),
    ],
)
def test_what_the_evidence_does_not_hold(answer: str, evidence: str, said: str):
    assert said in (not_held(answer, evidence, "What is it?", "en") or "")


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("800 nA", SLEEP),
        ("About 0.80 µA", SLEEP),
        ("It powers off.", SLEEP),
        ("No.", SLEEP),
        ("There are 3 ways.", "You can walk, ride or fly."),
        ("1.500.000 Euro", "Die Kosten betragen 1500000 Euro."),
        ("3,5 %", "The share is 3.5 %."),
        ("It grew by 50 %.", "It grew from 200 to 300 members."),
        ("100 members joined.", "It grew from 200 to 300 members."),
        ("90 minutes", "The film lasts 1.5 hours."),
        ("It is 31.", "The mask is 0x1F."),
        ("30 days", "The period is thirty days, or 4 weeks."),
        ("三十天", "期限为30天。"),
        ("٣٠ يوما", "المدة 30 يوما."),
        ("The World Health Organization says so.", "The WHO says so."),
        ("She worked in Paris with Pierre Curie.", "Curie worked in Paris."),
        ("Der Deutsche Bundestag beschließt.", "Der Bundestag beschließt die Gesetze auf Antrag der Bundesregierung."),
        ("It takes 6 days.", "It takes between 4 days and 10 days."),
        ("В Москве", "Город: Москва"),
        ("Use version 2.5.1.", "Released as version 2.5.1 in May."),
        ("It is only allowed in May.", "It is not allowed before May, and it is not allowed after May."),
        ("控制器", "The controller wakes up."),
    ],
)
def test_what_may_well_be_held_passes(answer: str, evidence: str):
    assert not_held(answer, evidence, "What is it?", "en") is None


def test_what_the_question_says_need_not_stand_in_the_evidence():
    assert not_held("At 115200 baud use UART3.", "Any rate works.", "How is UART3 set to 115200 baud?", "en") is None
