"""The questions stage: its files, its ledger and what it says, with scripted replies and with a `file:` model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_lines import write_lines
from support.perturbed_folder import ask_again
from support.results_folder import experiment, results_folder

from ragassay.calls.caller import Caller
from ragassay.errors import InputError, RagassayError
from ragassay.experiment.stage import count_queries
from ragassay.experiment.workspace import StageOutcome, Workspace, id_of_rejected
from ragassay.files import read_records, write_records
from ragassay.models.requests import Batch, Reply
from ragassay.records import LedgerRow, Query, Rejected, Section
from ragassay.synth.make_questions import make_questions
from ragassay.synth.questions.from_passages import WrittenQuestion, WrittenQuestions, reply_schema
from ragassay.synth.stages import QUESTIONS

A, B = "file:a", "openai:b/c"
TOPICS = ("fuse", "clock", "timer", "stack", "heap", "linker", "startup", "interrupt", "register", "eeprom")


class Scripted(Caller):
    """Answers each request by a function of (model, number of the section) and remembers what was asked."""

    def __init__(self, answer: Callable[[str, int], Reply]) -> None:
        self._answer, self.batches = answer, list[Batch]()

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        self.batches = list(batches)
        return [[self._answer(batch.model, n) for n in range(len(batch.requests))] for batch in batches]


def wrote(*texts: str) -> Reply:
    return Reply(value=WrittenQuestions(questions=[WrittenQuestion(fact="so", question=text) for text in texts]))


def about(model: str, section: int, n: int) -> Reply:
    """`n` questions that no other model or section has."""
    return wrote(*(f"How do I set {TOPICS[k]} of unit {model[-1]}{section}?" for k in range(n)))


def make_workspace(
    folder: Path,
    docs: dict[str, int],
    quota: dict[str, int],
    experts: str = "rep\tWhat does R cost?\n",
    **table: object,
) -> Workspace:
    sections = [
        Section(
            id=f"{doc[0]}-{n}", doc=doc, first_page=n + 1, last_page=n + 2, start=0, end=9, text=f"Text {n} of {doc}."
        )
        for doc, count in docs.items()
        for n in range(count)
    ]
    settings = experiment("file:x", questions={"source": "synthetic", "style": "passage", "quota": quota} | table)
    workspace = results_folder(folder, settings, sections=sections)
    workspace.expert_questions.write_text(experts)
    return workspace


def files(workspace: Workspace) -> tuple[list[Query], list[Rejected], list[Query], list[LedgerRow]]:
    return (
        read_records(workspace.pool, Query),
        read_records(workspace.rejected, Rejected),
        read_records(workspace.queries, Query),
        read_records(workspace.ledger, LedgerRow),
    )


def check_ledger(workspace: Workspace) -> None:
    """The ledger adds up in itself and with the files beside it."""
    pool, rejected, queries, rows = files(workspace)
    assert len({(row.model, row.doc) for row in rows}) == len(rows)
    for row in rows:
        assert row.asked + row.extra == row.written + row.unwritten + row.failed
        assert row.written == row.kept + row.rejected
        assert 0 <= row.sampled <= row.kept
        for records, n in ((pool, row.kept), (rejected, row.rejected), (queries, row.sampled)):
            assert n == sum((r.metadata.get("model"), r.metadata.get("doc")) == (row.model, row.doc) for r in records)


def test_a_test_set_as_asked(tmp_path: Path) -> None:
    workspace = make_workspace(
        tmp_path, {"a.pdf": 3, "b [1].pdf": 2}, {A: 6, B: 4}, per_section=4, few_shot=1, sections=5
    )
    outcome = make_questions(workspace, Scripted(lambda model, n: about(model, n, 4)))
    pool, rejected, queries, rows = files(workspace)
    assert (outcome.exit_status, outcome.notices, outcome.n_records, outcome.n_failed) == (0, (), 10, 0)
    assert (len(pool), rejected, len(rows)) == (2 * 5 * 4, [], 4)
    assert Counter(query.metadata["model"] for query in queries) == {A: 6, B: 4}
    assert {query.metadata["section"] for query in queries} == {"a-0", "a-1", "a-2", "b-0", "b-1"}
    assert all(query in pool for query in queries)
    assert pool[0].metadata == {"model": A, "section": "a-0", "doc": "a.pdf", "first_page": 1, "last_page": 2}
    check_ledger(workspace)


def test_each_prompt_has_its_section_the_roles_and_examples_of_its_own(tmp_path: Path) -> None:
    experts = "".join(f"{role}\tWhat is item {n}?\n" for n, role in enumerate(["seller", "buyer"] * 10))
    workspace = make_workspace(tmp_path, {"a.pdf": 6}, {A: 1, B: 1}, experts, few_shot=3)
    caller = Scripted(lambda model, n: about(model, n, 1))
    make_questions(workspace, caller)
    assert [(batch.label, batch.model) for batch in caller.batches] == [
        ("questions-file-a", A),
        ("questions-openai-b-c", B),
    ]
    prompts = [request.messages for batch in caller.batches for request in batch.requests]
    assert len({system.content for system, _ in prompts}) == 1
    assert "seller, buyer" in prompts[0][0].content
    drawn = {tuple(line for line in user.content.splitlines() if "item" in line) for _, user in prompts}
    assert {len(examples) for examples in drawn} == {3}
    assert len(drawn) == len(prompts) == 12
    assert all(f"Text {n % 6} of a.pdf." in user.content for n, (_, user) in enumerate(prompts))
    again = Scripted(lambda model, n: about(model, n, 1))
    make_questions(workspace, again)
    assert again.batches == caller.batches


def test_models_whose_names_are_alike_in_a_file_name_get_files_of_their_own(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 1}, {"openai:b/c": 1, "openai:b-c": 1, "openai:B c": 1})
    caller = Scripted(lambda model, n: about(model, n, 1))
    make_questions(workspace, caller)
    labels = [batch.label for batch in caller.batches]
    assert len({label.casefold() for label in labels}) == 3


def test_a_smaller_set_than_asked_is_the_first_thing_said(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 2}, {A: 8, B: 4}, per_section=5, few_shot=3)
    replies = {A: [wrote(*["What does it do?"] * 3, "How do I set fuses?", "Why is sleep slow?"), about(A, 1, 3)]}
    outcome = make_questions(workspace, Scripted(lambda model, n: replies.get(model, [about(B, n, 5)] * 2)[n]))
    assert outcome.exit_status == 1
    assert outcome.notices[0] == (
        "the test set has 9 queries, 12 were asked for: file:a wrote 8, kept 5 of the 8 wanted"
    )
    assert "fewer than few_shot = 3" in " ".join(outcome.notices)
    check_ledger(workspace)


def test_where_every_call_fails_the_files_say_so_and_the_stage_stops(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 2}, {A: 2, B: 2}, few_shot=0)
    write_records(workspace.queries, [Query(id="old", text="From an older run?")])
    with pytest.raises(RagassayError, match="not a single query: 2 of 2 calls to file:a failed") as caught:
        make_questions(workspace, Scripted(lambda model, n: Reply(error="gone")))
    assert caught.value.exit_status == 6
    pool, rejected, queries, rows = files(workspace)
    assert (pool, rejected, queries) == ([], [], [])
    assert [row.failed for row in rows] == [row.asked for row in rows] == [20, 20]


def test_documents_no_query_is_about_are_named(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 1, "b.pdf": 1, "c.pdf": 1}, {A: 2}, sections=2, few_shot=0)
    outcome = make_questions(workspace, Scripted(lambda model, n: about(model, n, 3)))
    assert outcome.exit_status == 0
    assert any("no query is about 1 of the 3 documents" in notice for notice in outcome.notices)


def own_queries(workspace: Workspace) -> None:
    lines = [{"_id": f"u{n}", "text": f"What did user {n} ask?", "metadata": {"by": n}} for n in range(3)]
    write_lines(workspace.own_queries, lines)


def test_own_queries_instead(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {}, {}, source="own")
    own_queries(workspace)
    workspace.expert_questions.unlink()
    caller = Scripted(lambda model, n: Reply(error="nobody may be asked"))
    outcome = make_questions(workspace, caller)
    assert (outcome.exit_status, outcome.notices, outcome.n_records, caller.batches) == (0, (), 3, [])
    pool, rejected, queries, rows = files(workspace)
    assert (pool, rejected, rows) == ([], [], [])
    assert [query.dump() for query in queries] == [json.loads(line) for line in workspace.own_queries.open()]


def test_a_question_in_capitals_is_no_second_one_of_the_same_text(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {}, {}, source="own")
    own_queries(workspace)
    ask_again(workspace.own_queries)
    outcome = make_questions(workspace, Scripted(lambda model, n: Reply(error="nobody may be asked")))
    assert (outcome.notices, outcome.n_records) == ((), 6)
    workspace.own_queries.rename(workspace.corpus / "questions.jsonl")
    outcome = make_questions(workspace, Scripted(lambda model, n: Reply(error="nobody may be asked")))
    told = "questions.jsonl: 6 questions from the column 'text', ids from '_id'; carried along: 'metadata'"
    assert (outcome.notices, outcome.n_records) == ((told,), 6)


def test_evidence_that_is_not_in_the_documents_stops_before_anyone_is_asked(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 1}, {A: 1}, source="both", few_shot=0)
    write_lines(workspace.pages, [{"doc": "a.pdf", "page": 1, "text": "It is set by a fuse."}])
    quotes = ("It is set by a fuse.", "It is set by a jumper.")
    evidence = [{"evidence": [{"doc": "a.pdf", "quote": quote}]} for quote in quotes]
    lines = [{"_id": f"u{n}", "text": f"Why {n}?", "metadata": found} for n, found in enumerate(evidence)]
    write_lines(workspace.own_queries, lines)
    caller = Scripted(lambda model, n: about(model, n, 3))
    with pytest.raises(InputError, match="It is set by a jumper") as caught:
        make_questions(workspace, caller)
    assert (caught.value.file, caught.value.line, caller.batches) == (workspace.own_queries, 2, [])
    write_lines(workspace.own_queries, lines[:1])
    notices = make_questions(workspace, caller).notices
    assert read_records(workspace.queries, Query)[0].metadata == evidence[0], "as it was written"
    assert not any("several places" in notice for notice in notices)
    write_lines(workspace.pages, [{"doc": "a.pdf", "page": n, "text": "It is set by a\nfuse."} for n in (1, 2)])
    (notice,) = [one for one in make_questions(workspace, caller).notices if "several places" in one]
    assert notice.startswith("evidence: 1 quote stands in several places of a document (u0), of which the first")


def test_own_queries_beside_synthetic_ones(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 2}, {A: 2}, source="both", few_shot=0)
    own_queries(workspace)
    copy = "what did user 1 ask"
    outcome = make_questions(workspace, Scripted(lambda model, n: wrote(copy, "How do I set fuses?", "Why is it so?")))
    assert outcome.notices[0].startswith("the test set has 4 queries, 5 were asked for: ")
    _, rejected, queries, _ = files(workspace)
    assert [query.id for query in queries[:3]] == ["u0", "u1", "u2"]
    assert [one.reason for one in rejected if one.text == copy] == ["near-duplicate of the user's own query u1"] * 2
    check_ledger(workspace)


def test_own_queries_that_are_not_used_are_said(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 1}, {A: 1}, few_shot=0, sections=1)
    own_queries(workspace)
    (workspace.corpus / "questions.csv").write_text("no,questions\n")
    assert count_queries(workspace) == 1
    notices = make_questions(workspace, Scripted(lambda model, n: about(model, n, 3))).notices
    assert [notice.partition(":")[0].rpartition("/")[2] for notice in notices] == [
        "queries.jsonl is not used",
        "questions.csv is not used",
    ]


def test_what_is_not_read_is_not_among_what_a_run_used(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 1}, {A: 1}, few_shot=0, sections=1)
    before = QUESTIONS.uses(workspace)
    table = workspace.corpus / "questions.csv"
    table.write_text("question\nWhy?\n")
    assert list(QUESTIONS.uses(workspace)) == list(before)
    both = make_workspace(tmp_path, {"a.pdf": 1}, {A: 1}, source="both", few_shot=0, sections=1)
    assert table in QUESTIONS.uses(both)


@pytest.mark.parametrize(
    ("style", "evidence", "reads"),
    [("passage", "section", False), ("passage", "corpus", True), ("need", "section", True), ("need", "corpus", True)],
)
def test_other_passages_make_other_questions_where_they_are_read(
    tmp_path: Path, style: str, evidence: str, reads: bool
) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 1}, {A: 1}, style=style, evidence=evidence)
    assert QUESTIONS.needs(workspace) == [workspace.sections, *([workspace.passages] if reads else [])]


@pytest.mark.parametrize("style", ["need", "passage"])
def test_no_expert_question_stops_before_anyone_is_asked(tmp_path: Path, style: str) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 1}, {A: 1}, "# none\n", style=style)
    caller = Scripted(lambda model, n: about(model, n, 3))
    with pytest.raises(InputError, match=r"questions\.txt"):
        make_questions(workspace, caller)
    assert caller.batches == []
    assert not workspace.queries.exists()


reply = st.one_of(
    st.just(Reply(error="lost")),
    st.lists(
        st.sampled_from(["What is R for?", "How do I set it up on ARM7?", "No.", "", "{", "Why does it?"]), max_size=5
    ).map(lambda texts: wrote(*texts)),
)


@given(st.lists(reply, min_size=10, max_size=10))
def test_the_ledger_adds_up_whatever_comes_back(tmp_path_factory: pytest.TempPathFactory, replies: list[Reply]) -> None:
    workspace = make_workspace(
        tmp_path_factory.mktemp("run"), {"a.pdf": 3, "b.pdf": 2}, {A: 3, B: 2}, per_section=3, few_shot=0
    )
    try:
        outcome = make_questions(workspace, Scripted(lambda model, n: replies[n + 5 * (model == B)]))
        assert (outcome.exit_status == 1) == (len(files(workspace)[2]) < 5)
    except RagassayError:
        assert files(workspace)[2] == []
    check_ledger(workspace)
    assert sum(row.asked for row in files(workspace)[3]) == 30


def test_golden_answers_are_asked_for_and_kept_as_expected_responses(tmp_path):
    """With golden_answers the prompt and the schema have a part more, and what is blank is not an answer."""
    workspace = make_workspace(tmp_path, {"a.pdf": 1}, {A: 3}, golden_answers=True)
    schema = reply_schema(10, golden_answers=True)
    answers = {"fuse": "By avrdude. ", "clock": "By CLKPR.", "timer": "  "}
    asked = [{"fact": "so", "question": f"How do I set the {k} here?", "answer": v} for k, v in answers.items()]
    caller = Scripted(lambda model, n: Reply(value=schema.model_validate({"questions": asked})))
    make_questions(workspace, caller)
    _, _, queries, _ = files(workspace)
    golden = {query.text.split()[5]: query.metadata.get("expected_response") for query in queries}
    assert golden == {"fuse": "By avrdude.", "clock": "By CLKPR.", "timer": None}
    (request,) = caller.batches[0].requests
    assert request.schema is not None
    assert request.schema.model_json_schema() == schema.model_json_schema()
    assert request.messages[1].content.endswith("\n\nFor each question give `fact`, `question` and `answer`.")


def written(workspace: Workspace) -> None:
    make_questions(workspace, Scripted(lambda model, n: about(model, n, 4)))


def test_rejected_ones_leave_pool_and_set_and_others_take_their_place(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 3}, {A: 4, B: 4}, per_section=4, sections=3)
    written(workspace)
    before, _, queries, _ = files(workspace)
    write_lines(workspace.question_edits, [{"id": queries[0].id, "action": "reject", "person": "Ann"}])
    written(workspace)
    pool, rejected, after, _ = files(workspace)
    assert len(after) == len(queries)
    assert [query for query in before if query.id != queries[0].id] == pool
    assert queries[0].id not in {query.id for query in after}
    assert [(one.text, one.reason) for one in rejected] == [(queries[0].text, "rejected by hand, by Ann")]
    check_ledger(workspace)


def test_an_edited_one_has_its_text_keeps_id_and_evidence_and_moves_no_other(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 3}, {A: 4, B: 4}, per_section=4, sections=3)
    written(workspace)
    _, _, queries, _ = files(workspace)
    edits = [{"id": queries[2].id, "action": "edit", "text": "What now?"}, {"id": queries[0].id, "action": "accept"}]
    write_lines(workspace.question_edits, edits)
    written(workspace)
    pool, _, after, _ = files(workspace)
    one = after[2]
    assert (one.id, one.text) == (queries[2].id, "What now?")
    assert one.metadata == {**queries[2].metadata, "edited_from": queries[2].text}
    assert one in pool
    assert [q for i, q in enumerate(after) if i != 2] == [q for i, q in enumerate(queries) if i != 2]


def repeated(tmp_path: Path) -> Workspace:
    """Each of two models asks the same of both sections: of two such questions one is rejected."""
    workspace = make_workspace(tmp_path, {"a.pdf": 2}, {A: 1, B: 1}, per_section=1, sections=2)
    again(workspace)
    return workspace


def again(workspace: Workspace) -> StageOutcome:
    return make_questions(workspace, Scripted(lambda model, n: wrote(f"How do I set the {TOPICS[model == B]}?")))


def test_what_the_rules_rejected_and_a_person_accepts_joins_the_set_and_moves_no_other(tmp_path: Path) -> None:
    workspace = repeated(tmp_path)
    pool, rejected, queries, _ = files(workspace)
    assert len(rejected) == 2
    ids = [id_of_rejected(one.text, one.metadata) for one in rejected]
    edits = [{"id": ids[0], "action": "accept"}, {"id": ids[1], "action": "edit", "text": "What of the clock?"}]
    write_lines(workspace.question_edits, edits)
    outcome = again(workspace)
    pool_now, rejected_now, after, _ = files(workspace)
    assert (after[:2], rejected_now, pool_now[:-2]) == (queries, [], pool)
    assert pool_now[-2:] == after[2:]
    assert [(one.id, one.text) for one in after[2:]] == [(ids[0], rejected[0].text), (ids[1], "What of the clock?")]
    assert after[2].metadata == {**rejected[0].metadata, "rejected_for": rejected[0].reason}
    assert "2 questions that the rules had rejected are in the test set by hand, beyond the quotas" in outcome.notices
    check_ledger(workspace)


def test_taking_the_acceptance_back_leaves_the_set_as_it_was_and_unknown_ones_are_said(tmp_path: Path) -> None:
    workspace = repeated(tmp_path)
    before = files(workspace)
    (one, _) = before[1]
    id = id_of_rejected(one.text, one.metadata)
    write_lines(workspace.question_edits, [{"id": id, "action": "accept"}, {"id": id, "action": "reject"}])
    assert not [one for one in again(workspace).notices if "question-edits" in one or "rejected" in one]
    assert files(workspace) == before
    write_lines(workspace.question_edits, [{"id": "r-0000000000", "action": "accept"}])
    assert "takes in 1 question that is not there (r-0000000000)" in again(workspace).notices[-1]


def test_the_last_line_counts_and_the_file_counts_only_where_it_is(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 2}, {A: 2}, per_section=4, sections=2)
    assert workspace.question_edits not in QUESTIONS.uses(workspace)
    written(workspace)
    _, _, queries, _ = files(workspace)
    lines = [{"id": queries[0].id, "action": "reject"}, {"id": queries[0].id, "action": "accept"}]
    write_lines(workspace.question_edits, lines)
    written(workspace)
    assert files(workspace)[2] == queries
    assert workspace.question_edits in QUESTIONS.uses(workspace)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "q", "action": "drop"}', "action"),
        ('{"id": "q", "action": "edit"}', "has no text"),
        ('{"id": "", "action": "reject"}', "id"),
        ("[]", "not a JSON object"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    workspace = make_workspace(tmp_path, {"a.pdf": 1}, {A: 1})
    workspace.question_edits.write_text('{"id": "x", "action": "accept"}\n' + line + "\n")
    with pytest.raises(InputError, match=said) as error:
        written(workspace)
    assert error.value.line == 2
