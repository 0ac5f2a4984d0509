"""Questions written part by part: a part hangs on its own sections alone, and is what any other could have been."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.need_replies import THINGS, asked, sober
from support.often import often
from support.results_folder import experiment, results_folder
from support.scripted_judge import Scripted

from ragassay.errors import NothingCame
from ragassay.experiment.workspace import Part, StageOutcome, Workspace
from ragassay.files import digest_bytes, read_records
from ragassay.records import Found, Judgment, LedgerRow, Passage, Query, QuestionsCheck, Rejected, Section
from ragassay.synth.make_questions import make_questions
from ragassay.synth.questions.find import Finder
from ragassay.synth.questions.quotas import divided

A, B = "file:a", "file:b"
N, LOOKS = 18, 3
QUESTIONS = {
    **{"source": "synthetic", "quota": {A: 13, B: 8}, "sections": N, "per_section": 4},
    **{"few_shot": 0, "evidence": "section"},
}
Salts = Sequence[int]
"""By section, what its writers are in the mood for; 0: sober, 9: to write nothing."""


def section(n: int) -> Section:
    text = f"Secret{n} wisdom of the {THINGS[n % 10]} and the {THINGS[n % 7]}: part {n} of it holds."
    place = {"first_page": 1, "last_page": 1, "start": 100 * n, "end": 100 * n + len(text)}
    return Section(id=f"s-{n}", doc=f"{n % 4}.pdf", text=text, **place)


def in_the_mood(salts: Salts) -> Any:
    """Writers who leave questions out and repeat each other across sections, by the mood of a section."""

    def say(label: str, text: str) -> Any:
        step, shown = label.split("-")[0], re.search(r"Secret(\d+) ", text)
        if step not in {"needs", "linked", "questions"} or shown is None:
            return sober(label, text)
        salt, numbers = salts[int(shown[1])], asked(text) or [1, 2, 3, 4]
        rows = []
        for n in numbers:
            digest = digest_bytes(f"{salt}{text}{n}".encode())
            if salt == 9 or (salt and int(digest[0], 16) < 4 * salt):
                continue
            question = f"How do I mend the {THINGS[n % 10]} of the seen unit Z{digest[:6]}?"
            if salt > 1 and digest[1] < "8":
                question = f"How is the {THINGS[n % 10]} to be mended in its usual place, {digest[:4]}?"
            rows.append({"number": n, "need": f"to mend it: {digest[:7]}", "question": question})
        if step == "questions":
            return {"questions": [{"fact": "so", "question": row["question"]} for row in rows]}
        return {"needs": rows}

    return say


def write(folder: Path, salts: Salts, style: str = "need", **table: Any) -> tuple[Workspace, StageOutcome, Scripted]:
    """All parts, whatever a look would say."""
    questions = QUESTIONS | {"style": style} | table
    run = {"until": "best", "write_by_look": True, "looks": LOOKS}
    workspace = results_folder(
        folder, experiment("file:x", questions=questions, run=run), sections=map(section, range(N)), passages=PASSAGES
    )
    caller = Scripted(in_the_mood(salts))
    return workspace, make_questions(workspace, caller, goes_on=lambda: True), caller  # type: ignore[arg-type]


def parts_of(workspace: Workspace) -> list[tuple[Part, list[dict[str, Any]]]]:
    by_id = {query.id: query.dump() for query in read_records(workspace.planned, Query)}
    return [(part, [by_id[id] for id in part.queries or ()]) for part in read_records(workspace.parts, Part)]


PASSAGES = [Passage(_id="p1", text="The fuse and the clock.")]
moods = st.lists(st.integers(0, 3), min_size=N, max_size=N)


@settings(max_examples=often(40))
@given(style=st.sampled_from(["need", "passage"]), mine=moods, others=moods, at=st.integers(0, LOOKS - 1))
def test_the_set_of_a_part_hangs_on_what_is_said_of_its_own_sections_alone(
    tmp_path_factory: pytest.TempPathFactory, style: str, mine: Salts, others: Salts, at: int
) -> None:
    folder = tmp_path_factory.mktemp("one")
    part, found = parts_of(write(folder, mine, style)[0])[at]
    mixed = [mine[n] if f"s-{n}" in part.sections else others[n] for n in range(N)]
    workspace, _, caller = write(folder, mixed, style)
    again, same = parts_of(workspace)[at]
    assert again == part and same == found and found
    assert {one["metadata"]["section"] for one in found} <= {*part.sections}
    shown = [re.findall(r"Secret(\d+) ", one[0].requests[0].messages[-1].content) for one in caller.rounds]
    assert len(shown) == (LOOKS if style == "passage" else 3 * LOOKS)


@settings(max_examples=often(40))
@given(style=st.sampled_from(["need", "passage"]), salts=moods)
def test_parts_have_their_shares_and_the_ledger_adds_up(
    tmp_path_factory: pytest.TempPathFactory, style: str, salts: Salts
) -> None:
    workspace, outcome, _ = write(tmp_path_factory.mktemp("one"), salts, style)
    parts = parts_of(workspace)
    assert sorted(section for part, _ in parts for section in part.sections) == sorted(f"s-{n}" for n in range(N))
    assert [len(part.sections) for part, _ in parts] == [6, 6, 6]
    pool, rejected = read_records(workspace.pool, Query), read_records(workspace.rejected, Rejected)
    rows = read_records(workspace.ledger, LedgerRow)
    assert sum(row.kept for row in rows) == len(pool) == len({query.id for query in pool})
    assert sum(row.rejected for row in rows) == len(rejected)
    assert sum(row.sampled for row in rows) == sum(len(some) for _, some in parts) == outcome.n_records
    for part, some in parts:
        wrote = Counter(one["metadata"]["model"] for one in some)
        have = Counter(query.metadata["model"] for query in pool if query.metadata["section"] in part.sections)
        assert wrote == Counter({model: min(n, have[model]) for model, n in part.quota.items()})
    assert (outcome.exit_status == 1) == (outcome.n_records < 21)


@given(
    st.dictionaries(st.text("abc", min_size=1), st.integers(0, 40), max_size=5), st.integers(1, 20), st.integers(0, 99)
)
def test_counts_are_divided_into_shares_as_equal_as_can_be(counts: dict[str, int], n: int, seed: int) -> None:
    found = divided(counts, n, seed)
    assert {name: sum(one[name] for one in found) for name in counts} == counts and len(found) == n
    for sizes in [[one[name] for one in found] for name in counts] + [[sum(one.values()) for one in found]]:
        assert max(sizes) - min(sizes) <= 1


def test_who_has_one_more_is_drawn() -> None:
    """One of a kind among four parts is in each of them equally often: 2,000 draws, five standard errors."""
    often = Counter(
        next(at for at, one in enumerate(divided({"rare": 1}, 4, seed)) if one["rare"]) for seed in range(2000)
    )
    assert all(abs(n - 500) < 5 * (2000 * 0.25 * 0.75) ** 0.5 for n in often.values()) and len(often) == 4


def test_a_text_of_an_earlier_part_is_left_out_and_counted_and_what_only_resembles_one_is_not(tmp_path: Path) -> None:
    """Every section asks the same question and two of its own."""

    def say(label: str, text: str) -> Any:
        number = re.search(r"Text (\d+) ", text)[1]  # type: ignore[index]
        own = [f"How do I set the {thing} of unit Z{number}?" for thing in THINGS[:2]]
        asked = ["How do I keep water out of the case?", *own]
        return {"questions": [{"fact": "so", "question": one} for one in asked]}

    sections = [section(n).model_copy(update={"text": f"Text {n} of it."}) for n in range(N)]
    questions = QUESTIONS | {"style": "passage", "quota": {A: 54}, "per_section": 3}
    settings = experiment("file:x", questions=questions, run={"until": "best", "write_by_look": True, "looks": LOOKS})
    workspace = results_folder(tmp_path, settings, sections=sections)
    outcome = make_questions(workspace, Scripted(say), goes_on=lambda: True)  # type: ignore[arg-type]
    same = [query for query in read_records(workspace.planned, Query) if "water" in query.text]
    assert len(same) == 1 and same[0].id in (parts_of(workspace)[0][0].queries or ())
    said = "1 question is left out: the very text of a question of an earlier look"
    assert [one for one in outcome.notices if "very text" in one] == [f"look 2 and 3: {said}"]
    reasons = Counter(row.reason.split(" q-")[0] for row in read_records(workspace.rejected, Rejected))
    assert reasons["the very text of a question of an earlier look"] == 2
    assert sum(n for reason, n in reasons.items() if reason.startswith("near-duplicate")) == 3 * 5
    assert (outcome.exit_status, outcome.n_records) == (1, 37)


@pytest.mark.parametrize("style", ["need", "passage"])
@pytest.mark.parametrize("grade_of_same", [0, 2])
def test_evidence_of_a_text_that_two_parts_ask_is_found_and_quoted_for_each_by_itself(
    tmp_path: Path, style: str, grade_of_same: int
) -> None:
    """Every section asks the same question, which nothing answers or its own passage does, and one of its own."""

    def say(label: str, text: str) -> Any:
        if label.startswith("quotes"):
            return {"passages": [{"number": 1, "quotes": ["wisdom of the"]}]}
        number = re.search(r"Secret(\d+) ", text)[1]  # type: ignore[index]
        both = ["How do I keep water out of the case?", f"How do I set the fuse of unit Z{number}?"]
        if style == "passage":
            return {"questions": [{"fact": "so", "question": one} for one in both]}
        return {"needs": [{"number": n, "need": "to mend it", "question": one} for n, one in enumerate(both, 1)]}

    sections = list(map(section, range(N)))
    places = [{"doc": one.doc, "start": one.start, "end": one.end} for one in sections]
    passages = [Passage(id=f"p{n}", text=sections[n].text, metadata=place) for n, place in enumerate(places)]

    def grade(pools: Sequence[tuple[Query, Sequence[Passage]]]) -> tuple[list[Found], list[Judgment]]:
        found, judged = [], []
        for asked, pool in pools:
            label = grade_of_same if "water" in asked.text else 2
            for one in pool:
                said = {"query_id": asked.id, "judge": "m", "label": label}
                found.append(Found(passage=one.id, found_by="", asked="x", **said))
                judged.append(Judgment(subject=one.id, criterion="relevance", **said))
        return found, judged

    def pool(every: Sequence[Passage], texts: Sequence[str], own: Sequence[Any]) -> list[list[tuple[str, str]]]:
        """Of its own and those behind it, so many as its number says: the pools of two sections are of two lengths."""
        starts = [int(next(iter(ids))[1:]) for ids in own]
        return [[(one.id, "bm25") for one in every[start : start + 1 + start % 5]] for start in starts]

    table = {"style": style, "quota": {A: 36}, "per_section": 2, "kinds": {"fact": 1.0}, "blind": 0.0}
    questions = QUESTIONS | table | {"evidence": "corpus", "quotes": True}
    settings = experiment("file:x", questions=questions, run={"until": "best", "write_by_look": True, "looks": LOOKS})
    workspace = results_folder(tmp_path, settings, sections=sections, passages=passages)
    finder = Finder(passages, pool, grade, "en")
    make_questions(workspace, Scripted(say), None, finder, lambda: True)  # type: ignore[arg-type]
    asked = read_records(workspace.planned, Query)
    assert [one.text for one in asked if "water" in one.text] == ["How do I keep water out of the case?"][
        :grade_of_same
    ]
    assert len(asked) == N + bool(grade_of_same) and all(one.metadata["evidence"] for one in asked)
    rejected = Counter(row.reason.split(" q-")[0] for row in read_records(workspace.rejected, Rejected))
    unanswered = "nothing that was found answers it"
    assert rejected[unanswered] == (0 if grade_of_same else LOOKS)
    assert [row.query_id for row in read_records(workspace.found, Found)].count(asked[0].id) > 0


def test_a_part_that_comes_to_nothing_ends_the_run_by_name(tmp_path: Path) -> None:
    sections = [part.sections for part, _ in parts_of(write(tmp_path, [0] * N)[0])]
    with pytest.raises(NothingCame, match="look 2: there is not a single query"):
        write(tmp_path, [9 if f"s-{n}" in sections[1] else 0 for n in range(N)])


def test_what_is_said_of_a_chosen_set_is_said_of_all_its_parts(tmp_path: Path) -> None:
    workspace, outcome, _ = write(tmp_path, [0] * N)
    check = QuestionsCheck.model_validate_json(workspace.questions_check.read_text())
    assert check.n_written == outcome.n_records == 21
    assert sum("near-duplicates were found by their words alone" in one for one in outcome.notices) == 1


def test_what_was_written_for_looks_is_asked_word_for_word_where_everything_is_written_at_once(tmp_path: Path) -> None:
    """So that replies count for both, and a plan is exact."""
    _, _, caller = write(tmp_path, [0] * N)
    run = {"until": "best", "looks": LOOKS}
    whole = results_folder(
        tmp_path, experiment("file:x", questions=QUESTIONS, run=run), sections=map(section, range(N)), passages=PASSAGES
    )
    at_once = Scripted(in_the_mood([0] * N))
    make_questions(whole, at_once)  # type: ignore[arg-type]
    assert not whole.parts.exists()
    labels = sorted({batch.label for some in caller.rounds for batch in some})
    for label in labels:
        assert sorted(map(str, caller.asked(label))) == sorted(map(str, at_once.asked(label)))


def test_conversations_are_not_written_look_by_look() -> None:
    questions = {"source": "synthetic", "style": "conversations", "quota": {A: 24}}
    run = {"until": "best", "write_by_look": True}
    said = experiment("file:x", questions=questions, run=run).not_by_look
    assert said and 'style = "need" or "passage", not with "conversations"' in said
