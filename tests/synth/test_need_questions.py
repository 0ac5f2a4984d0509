"""The questions stage from the need: what each step is shown, what becomes of replies, and where evidence stands."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_lines import records, write_lines
from support.need_replies import THINGS, asked, labelled, sober
from support.read_once import pdfs_read_once as pdfs_read_once
from support.results_folder import experiment, results_folder
from support.scripted_judge import Scripted
from support.small_corpus import make_corpus

from ragassay.calls.reply_cache import output_line
from ragassay.cli import main
from ragassay.errors import MissingExtra, RagassayError
from ragassay.evaluate.judging.engine.cases import expected_docs
from ragassay.evaluate.measures.by_place import sources
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import StageOutcome, Workspace, id_of_rejected
from ragassay.files import read_json, read_records
from ragassay.models.requests import Reply
from ragassay.records import Found, Judgment, LedgerRow, Page, Passage, Query, QuestionsCheck, Rejected, Section
from ragassay.synth.ingest import ingest
from ragassay.synth.make_questions import make_questions
from ragassay.synth.questions.find import Finder
from ragassay.synth.stages import questions_settings

MODEL = "file:a"
RARE = ["BOOTRST fuse", "IVSEL bit", "XMEGA core", "prescaler drift", "brown-out level", "stack canary"]
Say = Callable[[str, str], Any]


def section(n: int, doc: str = "a.pdf") -> Section:
    things = f"{RARE[n % 6]} and the {RARE[(n + 1) % 6]}"
    text = f"Secret{n} wisdom of the {things}: part {n} of it holds\nfor all con-\ntrollers."
    place = {"first_page": n + 1, "last_page": n + 1, "start": 1000 * n, "end": 1000 * n + len(text)}
    return Section(id=f"{doc[0]}-{n}", doc=doc, text=text, **place)


SECTIONS = [*(section(n) for n in range(6)), *(section(n, "b.pdf") for n in range(6, 10))]


def make_workspace(folder: Path, experts: str = "rep\tWhat does R cost?\n", **table: object) -> Workspace:
    asked = {"source": "synthetic", "quota": {MODEL: 20}, "sections": 10, "per_section": 4, "few_shot": 1}
    questions = asked | {"evidence": "section"} | table
    passages = [Passage(id=one.id, text=one.text) for one in SECTIONS]
    workspace = results_folder(folder, experiment("file:x", questions=questions), sections=SECTIONS, passages=passages)
    workspace.expert_questions.write_text(experts)
    return workspace


def run(workspace: Workspace, say: Say = sober) -> tuple[StageOutcome, Scripted]:
    caller = Scripted(say)
    return make_questions(workspace, caller), caller  # type: ignore[arg-type]


def shown(caller: Scripted, step: str) -> list[str]:
    return [request.messages[1].content for request in caller.asked(f"{step}-file-a")]


NUMBERED = "asked for questions 1 to 4, the writer numbered it 9; where that is frequent, take another writer"
TWICE = "the writer gave number 2 twice in one reply; the first counts"


def reasons(workspace: Workspace) -> Counter[str]:
    return Counter(one.reason for one in read_records(workspace.rejected, Rejected))


def check_ledger(workspace: Workspace) -> None:
    for row in read_records(workspace.ledger, LedgerRow):
        assert row.asked + row.extra == row.written + row.unwritten + row.failed
        assert row.written == row.kept + row.rejected
        for path, n in ((workspace.pool, row.kept), (workspace.rejected, row.rejected)):
            assert n == sum(one["metadata"]["doc"] == row.doc for one in records(path))


def test_three_steps_make_a_pool_with_needs_kinds_and_evidence(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, roles=["nurse", "pilot"])
    outcome, caller = run(workspace)
    assert (outcome.exit_status, outcome.n_records, outcome.n_failed) == (0, 20, 0)
    assert [notice.split(":")[0] for notice in outcome.notices] == [
        "near-duplicates were found by their words alone, not by meaning"
    ]
    assert [[batch.label for batch in batches] for batches in caller.rounds] == [
        ["needs-file-a", "linked-file-a"],
        ["blind-file-a"],
        ["evidence-file-a"],
    ]
    pool = read_records(workspace.pool, Query)
    assert len(pool) == 40 and reasons(workspace) == {}
    assert Counter(query.metadata["kind"] for query in pool) == {
        "fact": 20, "several": 6, "multi-hop": 4, "comparison": 4, "keyword": 4, "conversational": 2,
    }  # fmt: skip
    assert Counter(query.metadata["blind"] for query in pool) == {True: 20, False: 20}
    assert all(("blind unit" in query.text) == query.metadata["blind"] for query in pool)
    assert Counter(query.metadata["role"] for query in pool) == {"nurse": 20, "pilot": 20}
    assert all(query.metadata["need"] and query.metadata["holds"] == "fully" for query in pool)
    texts = {one.id: one for one in SECTIONS}
    places = [list(texts).index(query.metadata["section"]) for query in pool]
    assert places == sorted(places), "in the order in which they were written, whichever are chosen"
    for query in pool:
        about = query.metadata.get("sections", [query.metadata["section"]])
        assert (len(about) > 1) == (query.metadata["kind"] == "multi-hop")
        quoted = {(span["doc"], span["start"]): span["end"] for span in query.metadata["evidence"]}
        assert set(quoted) == {(texts[name].doc, texts[name].start) for name in about}
    check_ledger(workspace)


def test_the_blind_writer_is_shown_needs_and_never_a_text(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, roles=["nurse", "pilot"], blind=1.0)
    _, caller = run(workspace)
    prompts = [request.messages for request in caller.asked("blind-file-a")]
    assert sum(len(asked(user.content)) for _, user in prompts) == 40
    for system, user in prompts:
        told = system.content + user.content
        assert not [one.id for one in SECTIONS if one.text[:10] in told or one.text[-30:] in told]
        assert "Secret" not in told and "pdf" not in told
        assert "What does R cost?" in user.content and "to mend it" in user.content and 'role="' in user.content


def test_each_step_is_told_kinds_roles_examples_and_language(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, kinds={"keyword": 1.0}, roles=["a nurse on nights"])
    _, caller = run(workspace)
    (first, *_) = caller.asked("needs-file-a")
    system, user = (message.content for message in first.messages)
    assert "- keyword: " in system and "- fact: " not in system and 'code is "en"' in system
    assert "4. keyword, asked by: a nurse on nights" in user and "What does R cost?" in user
    assert not any("keyword" in text or "nurse" in text for text in shown(caller, "evidence")), "told what, not why"


def test_linked_questions_are_asked_about_texts_that_share_rare_things(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, kinds={"multi-hop": 0.5, "fact": 0.5})
    _, caller = run(workspace)
    texts = shown(caller, "linked")
    assert texts and all(2 <= text.count("<section number=") <= 3 for text in texts)
    docs = [set(re.findall(r'document="(.*?)"', text)) for text in texts]
    assert {"a.pdf", "b.pdf"} in docs, "across documents as well"
    across = [one for one in read_records(workspace.pool, Query) if len(one.metadata.get("expected_docs", [])) == 2]
    assert across and expected_docs(across[0]).docs == tuple(across[0].metadata["expected_docs"])  # type: ignore[union-attr]


def test_a_corpus_without_links_gives_the_share_to_the_others_and_says_so(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    texts = ["Fuses are set once.", "Clocks tick on.", "Timers count."]
    apart = [SECTIONS[n].model_copy(update={"text": text, "end": 1000 * n + len(text)}) for n, text in enumerate(texts)]
    workspace = results_folder(tmp_path, workspace.experiment, sections=apart)
    outcome, caller = run(workspace)
    assert "no multi-hop question was asked for, their share went to the other kinds: no two sections are linked" in (
        outcome.notices
    )
    assert not caller.asked("linked-file-a") and sum(len(asked(text)) for text in shown(caller, "needs")) == 12


def changed(step: str, change: Callable[[dict[str, Any]], object]) -> Say:
    """Sober, but for a change to every first item of the replies of one step."""

    def say(label: str, text: str) -> Any:
        reply = sober(label, text)
        if label.startswith(step):
            change(next(iter(reply.values()))[0])
        return reply

    return say


ONE_KIND = {"fact": 1.0}


def asks(question: str) -> Callable[[dict[str, Any]], object]:
    return lambda item: item.update(question=question)


@pytest.mark.parametrize(
    ("step", "change", "blind", "reason"),
    [
        ("needs", lambda item: item.update(need="  "), 0.0, "no need"),
        ("needs", asks(""), 0.0, "no question"),
        ("needs", lambda item: item.update(number=9), 0.0, NUMBERED),
        ("needs", lambda item: item.update(number=2), 0.0, TWICE),
        ("needs", asks("Is a fuse set, or is it clear?"), 0.0, "either/or: “Is a fuse set, or”"),
        ("needs", asks("The fuse of my unit is gone."), 0.0, "not a question"),
        ("needs", asks("What does the text say?"), 0.0, "cannot stand alone: “does the text”"),
        ("blind", lambda item: item.update(number=9), 1.0, "no question from the need alone"),
        ("blind", asks(" "), 1.0, "no question from the need alone"),
        ("evidence", lambda item: item.update(holds="not"), 0.5, "its text does not answer it"),
        ("evidence", lambda item: item.update(quotes=["nowhere to be found"]), 0.5, "no quote was found again"),
        ("evidence", lambda item: item.update(quotes=[]), 0.5, "no quote was found again"),
        ("evidence", lambda item: item.update(number=9), 0.5, "its evidence was not given"),
    ],
)
def test_what_does_not_fit_is_rejected_with_the_reason(
    tmp_path: Path, step: str, change: Callable[[dict[str, Any]], object], blind: float, reason: str
) -> None:
    workspace = make_workspace(tmp_path, kinds=ONE_KIND, blind=blind)
    outcome, _ = run(workspace, changed(step, change))
    found = reasons(workspace)
    assert sum(n for said, n in found.items() if said.startswith(reason)) >= 9, found
    assert len(read_records(workspace.pool, Query)) == 40 - sum(found.values()) >= 20
    if step == "evidence":
        start = f"10 of 40 questions were rejected for their evidence (10: {reason}"
        assert any(notice.startswith(start) for notice in outcome.notices)
    check_ledger(workspace)


def test_a_linked_question_needs_evidence_from_two_of_its_texts(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, kinds={"multi-hop": 0.1, "fact": 0.9})
    _, caller = run(workspace, changed("evidence", lambda item: item.update(quotes=item["quotes"][:1])))
    assert reasons(workspace) == {"its evidence stands in one of its texts alone": len(shown(caller, "linked"))}


@pytest.mark.parametrize("step", ["needs", "blind", "evidence"])
def test_calls_that_fail_are_counted_and_what_they_owed_is_accounted_for(tmp_path: Path, step: str) -> None:
    workspace = make_workspace(tmp_path, kinds=ONE_KIND)
    first: list[str] = []

    def say(label: str, text: str) -> Any:
        if label.startswith(step):
            first.append(text)
            if len(first) == 1:
                return Reply(error="503 from the \x1b[31mgateway")
        return sober(label, text)

    outcome, caller = run(workspace, say)
    n_calls = sum(len(batch.requests) for batches in caller.rounds for batch in batches)
    assert outcome.n_failed == 1
    assert outcome.notices[0] == (
        rf"1 of {n_calls} calls to file:a failed, the first with: 503 from the \x1b[31mgateway"
    )
    lost = sum(row.failed for row in read_records(workspace.ledger, LedgerRow))
    assert (lost, sum(reasons(workspace).values())) == ((4, 0) if step == "needs" else (0, len(asked(first[0]))))
    check_ledger(workspace)


def test_unanswerable_questions_are_held_against_the_nearest_sections_too(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, kinds={"unanswerable": 0.5, "fact": 0.5}, blind=0.0)
    kinds, mostly = dict[str, str](), set[str]()

    def say(label: str, text: str) -> Any:
        reply = sober(label, text)
        if label.startswith("needs"):
            listed = dict(re.findall(r"^(\d+)\. (\w+)", text, re.MULTILINE))
            for item in reply["needs"]:
                subject = RARE[int(re.search(r"Secret(\d+)", text)[1]) % 6]  # type: ignore[index]
                item["question"] = item["question"].replace("?", f" with the {subject}?")
                kinds[item["question"]] = listed[str(item["number"])]
        if label.startswith("evidence"):
            questions = re.findall(r"<question number=\"\d+\">\n(.*?)\n", text)
            for item, question in zip(reply["evidence"], questions, strict=True):
                wanting = kinds[question] == "unanswerable" and "b.pdf" not in text
                item.update({"holds": "not", "quotes": []} if wanting else {})
                if kinds[question] == "unanswerable" and not wanting:
                    item["holds"] = "mainly"
                    mostly.add(question)
        return reply

    _, caller = run(workspace, say)
    pool = read_records(workspace.pool, Query)
    unanswered = [query for query in pool if query.metadata["kind"] == "unanswerable"]
    answered = read_records(workspace.rejected, Rejected)
    assert unanswered and answered and len(unanswered) + len(answered) == 20
    assert {one.text for one in answered} == mostly
    assert {one.reason.rpartition("-")[0] for one in answered} == {"it is answered after all: by section b"}
    assert all("evidence" not in q.metadata and q.metadata["holds"] == "not" for q in unanswered)
    assert all(expected_docs(query) is None for query in unanswered)
    assert set(sources(pool, SECTIONS)) == {query.id for query in pool if query not in unanswered}
    checks = Counter(question for text in shown(caller, "evidence") for question in kinds if question in text)
    assert {n for question, n in checks.items() if kinds[question] == "fact"} == {1}
    assert {n for question, n in checks.items() if kinds[question] == "unanswerable"} == {4}, "its own and three more"


def test_statements_are_questions_where_experts_make_statements(tmp_path: Path) -> None:
    claim = changed("needs", lambda item: item.update(question=f"Units of kind {item['question'][-9:-1]} fail early."))
    for experts, n_rejected in (("Vitamin C prevents colds.\n", 0), ("Does vitamin C prevent colds?\n", 10)):
        workspace = make_workspace(tmp_path / experts[0], experts, kinds=ONE_KIND, blind=0.0)
        run(workspace, claim)
        assert reasons(workspace) == Counter({"not a question": n_rejected} if n_rejected else {})


def test_golden_answers_come_with_the_evidence(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, kinds=ONE_KIND, golden_answers=True)

    def say(label: str, text: str) -> Any:
        reply = sober(label, text)
        for item in reply.get("evidence", ()):
            item["answer"] = " By the fuse. "
        return reply

    _, caller = run(workspace, say)
    assert {query.metadata["expected_response"] for query in read_records(workspace.queries, Query)} == {"By the fuse."}
    assert all("`answer`" in request.messages[0].content for request in caller.asked("evidence-file-a"))
    assert not any("`answer`" in request.messages[0].content for request in caller.asked("needs-file-a"))


def test_what_was_found_is_quoted_for_the_test_set_alone_by_each_question_s_writer(tmp_path: Path) -> None:
    quota = {MODEL: 12, "file:b": 12}
    workspace = make_workspace(
        tmp_path, kinds=ONE_KIND, quota=quota, evidence="corpus", quotes=True, golden_answers=True
    )
    passages = [
        Passage(id=one.id, text=one.text, metadata={"doc": one.doc, "start": one.start, "end": one.end})
        for one in SECTIONS
    ]

    def grade(pools: Sequence[tuple[Query, Sequence[Passage]]]) -> tuple[list[Found], list[Judgment]]:
        given = [{"query_id": query.id, "judge": "m", "label": 2} for query, _ in pools]
        found = [Found(passage=passages[0].id, found_by="", asked="x", **one) for one in given]
        return found, [Judgment(subject=passages[0].id, criterion="relevance", **one) for one in given]

    finder = Finder(passages, lambda all, texts, own: [[(all[0].id, "bm25")] for _ in texts], grade, "en")

    def say(label: str, text: str) -> Any:
        quoting = {"passages": [{"number": 1, "quotes": ["Secret0 wisdom"]}], "answer": "By the fuse."}
        return quoting if label.startswith("quotes") else sober(label, text)

    caller = Scripted(say)
    make_questions(workspace, caller, None, finder)  # type: ignore[arg-type]
    queries, pool = read_records(workspace.test_set, Query), read_records(workspace.pool, Query)
    asked = {model: caller.asked(f"quotes-{model.replace(':', '-')}") for model in quota}
    assert [len(requests) for requests in asked.values()] == [12, 12] and len(pool) > len(queries) == 24
    for query in queries:
        assert sum(query.text in request.messages[1].content for request in asked[query.metadata["model"]]) == 1
        assert [query] == [one for one in pool if one.id == query.id]
        (piece,) = query.metadata["evidence"]
        assert piece["end"] == 14
    assert all({"evidence", "expected_response"} & one.metadata.keys() == set() for one in pool if one not in queries)


def some_unanswered(unanswered: int, looked: list[list[str]]) -> Finder:
    """Of ten questions so many are answered by nothing. looked: gets the ids of those that are looked up together."""

    def grade(pools: Sequence[tuple[Query, Sequence[Passage]]]) -> tuple[list[Found], list[Judgment]]:
        looked.append([query.id for query, _ in pools])
        given = [{"query_id": id, "judge": "m", "label": 2 * (int(id[-1], 16) % 10 >= unanswered)} for id in looked[-1]]
        found = [Found(passage="a-0", found_by="", asked="x", **one) for one in given]
        return found, [Judgment(subject="a-0", criterion="relevance", **one) for one in given]

    passages = [Passage(id=one.id, text=one.text) for one in SECTIONS]
    return Finder(passages, lambda all, texts, own: [[(all[0].id, "bm25")] for _ in texts], grade, "en")


@pytest.mark.parametrize("unanswered", [0, 1, 3])
def test_evidence_is_looked_for_of_those_alone_that_are_chosen_and_for_those_in_their_place(
    tmp_path: Path, unanswered: int
) -> None:
    workspace, looked = make_workspace(tmp_path, kinds=ONE_KIND, evidence="corpus"), list[list[str]]()
    make_questions(workspace, Scripted(sober), None, some_unanswered(unanswered, looked))  # type: ignore[arg-type]
    queries, pool = read_records(workspace.test_set, Query), read_records(workspace.pool, Query)
    rejected = read_records(workspace.rejected, Rejected)
    asked = [id for some in looked for id in some if not id.startswith("expert")]
    assert len(queries) == 20 and len(set(asked)) == len(asked) == 20 + len(rejected)
    assert {one.reason for one in rejected} == ({"nothing that was found answers it"} if unanswered else set())
    assert {one.id for one in queries} == {one.id for one in pool if one.metadata.get("evidence")}
    assert len(pool) + len(rejected) == 40
    assert {row.query_id for row in read_records(workspace.found, Found)} == {id for some in looked for id in some}
    order = [query.metadata["section"] for query in pool]
    assert order == sorted(order, key=[one.id for one in SECTIONS].index)


def test_what_nothing_answered_and_a_person_accepts_is_in_the_set_of_another_choice_too(tmp_path: Path) -> None:
    """A smaller quota, with which hardly any of those accepted is chosen, and so looked up, by itself."""
    workspace = make_workspace(tmp_path, kinds=ONE_KIND, evidence="corpus")
    make_questions(workspace, Scripted(sober), None, some_unanswered(5, []))  # type: ignore[arg-type]
    ids = {id_of_rejected(one.text, one.metadata) for one in read_records(workspace.rejected, Rejected)}
    assert len(ids) > 5
    fewer = make_workspace(tmp_path / "fewer", kinds=ONE_KIND, evidence="corpus", quota={MODEL: 2})
    write_lines(fewer.question_edits, [{"id": id, "action": "accept"} for id in sorted(ids)])
    looked = list[list[str]]()
    outcome = make_questions(fewer, Scripted(sober), None, some_unanswered(5, looked))  # type: ignore[arg-type]
    queries = read_records(fewer.test_set, Query)
    assert {one.id for one in queries[2:]} == ids and not [one for one in outcome.notices if "not there" in one]
    assert sum(map(len, looked)) < 40
    check_ledger(fewer)


def test_prompts_of_ones_own(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, need_prompt="mine.md", kinds=ONE_KIND)
    (workspace.corpus / "mine.md").write_text(
        "Mine.\n\n## User\n{{ section.text }}\n{% for i in items %}\n1. x\n{% endfor %}"
    )
    _, caller = run(workspace)
    assert {request.messages[0].content for request in caller.asked("needs-file-a")} == {"Mine."}


item = st.fixed_dictionaries(
    {"number": st.integers(-1, 5), "need": st.sampled_from(["", "to mend", "\ud800"]), "question": st.text(max_size=20)}
)


@given(st.data())
def test_the_ledger_adds_up_whatever_comes_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    workspace = make_workspace(tmp_path_factory.mktemp("run"), few_shot=0, sections=2)

    def say(label: str, text: str) -> Any:
        chance = data.draw(st.integers(0, 4))
        if chance == 0:
            return Reply(error="lost")
        if chance == 1 and label[:4] in {"need", "link"}:
            return {"needs": data.draw(st.lists(item, max_size=5))}
        reply = sober(label, text)
        (rows,) = reply.values()
        del rows[data.draw(st.integers(0, len(rows))) :]
        return reply

    try:
        run(workspace, say)
    except RagassayError as error:
        assert "not a single query" in str(error)
    check_ledger(workspace)
    assert sum(row.asked for row in read_records(workspace.ledger, LedgerRow)) == 8


def document_texts(workspace: Workspace) -> dict[str, str]:
    pages: dict[str, list[str]] = {}
    for page in read_records(workspace.pages, Page):
        pages.setdefault(page.doc, []).append(page.text)
    return {doc: "\n".join(texts) for doc, texts in pages.items()}


def test_evidence_is_in_the_documents_text_and_the_same_for_any_size_of_passages(tmp_path: Path) -> None:
    """Quotes are the first six words of the sections shown, so the spans must read as these, in the documents' text."""
    found = {}
    for words in (20, 90):
        corpus = make_corpus(tmp_path / str(words), "file:m")
        text = (corpus / "experiment.toml").read_text().replace('style = "passage"', 'evidence = "section"')
        (corpus / "experiment.toml").write_text(text.replace("passage_words = 40", f"passage_words = {words}"))
        workspace = Workspace(corpus, tmp_path / "results" / str(words), load_experiment(corpus / "experiment.toml"))
        ingest(workspace)
        make_questions(workspace, Scripted(sober))  # type: ignore[arg-type]
        texts, sections = document_texts(workspace), read_records(workspace.sections, Section)
        starts = {" ".join(section.text.split()[:6]) for section in sections}
        pool = read_records(workspace.pool, Query)
        spans = [span for query in pool for span in query.metadata["evidence"]]
        assert spans and all(
            " ".join(texts[span["doc"]][span["start"] : span["end"]].split()) in starts for span in spans
        )
        found[words] = {query.id: query.metadata["evidence"] for query in pool}
    assert found[20] == found[90]


@pytest.mark.parametrize("roles", [[], ["roles"]])
def test_through_files_a_step_at_a_time_and_foreseen_by_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], roles: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = make_corpus(tmp_path / "mine", "file:m")
    path, results = corpus / "experiment.toml", tmp_path / "results" / "mine"
    more = 'evidence = "section"\n' + ('roles = "corpus"\n' if roles else "")
    path.write_text(path.read_text().replace('style = "passage"\n', more))
    assert main(["ingest", str(corpus)]) == 0
    capsys.readouterr()
    assert main(["plan", str(corpus), "--json"]) == 0
    planned = [row for row in json.loads(capsys.readouterr().out) if row["stage"] == "questions"]
    assert [row["estimated"] for row in planned] == [False, True]
    asked_in_all, rounds = 0, []
    for turn in range(5):
        status = main(["questions", str(corpus)])
        if status != 3:
            break
        files = sorted((results / "requests").glob("*.jsonl"))
        rounds.append({file.name.split("-")[0] for file in files})
        lines = [line for file in files for line in records(file)]
        asked_in_all += len(lines)
        bodies = [{"choices": [{"message": {"content": json.dumps(labelled(line["body"]))}}]} for line in lines]
        (results / "replies").mkdir(exist_ok=True)
        rows = [output_line(line["custom_id"], body) for line, body in zip(lines, bodies, strict=True)]
        (results / "replies" / f"{turn}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert (status, rounds[-2:]) == (0, [{"blind"}, {"evidence"}]) and rounds[-3] <= {"needs", "linked"}
    assert rounds[:-3] == [{step} for step in roles]
    assert sum(row["calls"] for row in planned) == asked_in_all
    assert len(records(results / "queries.jsonl")) == 4


def test_the_test_set_has_the_kinds_asked_for_and_a_check_beside_it(tmp_path: Path) -> None:
    experts = "".join(f"How do I set the {THINGS[n % 10]} of board {n}?\n" for n in range(12))
    workspace = make_workspace(tmp_path, experts, kinds={"fact": 0.5, "keyword": 0.5})
    outcome, _ = run(workspace)
    chosen = read_records(workspace.queries, Query)
    assert Counter(query.metadata["kind"] for query in chosen) == {"fact": 10, "keyword": 10}
    check = QuestionsCheck.model_validate(read_json(workspace.questions_check))
    assert (check.n_experts, check.n_written, check.n_failed) == (12, 20, 0)
    assert check.auc is not None and check.auc.n == 32 and (check.said or "").startswith("experts'")
    assert (check.said in outcome.notices) == ((check.auc.ci_low or 0) > 0.5)
    assert {row.feature for row in check.features} >= {"words", "shared_words", "identifiers"}
    again, _ = run(workspace)
    assert (read_records(workspace.queries, Query), again) == (chosen, outcome)


def test_what_repeats_another_question_in_other_words_is_rejected_by_its_name(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, kinds=ONE_KIND, blind=0.0)

    def embed(texts: Sequence[str]) -> np.ndarray:
        """Questions about one thing mean the same, and the expert's question means what those about timers do."""
        about = [next((n for n, thing in enumerate(THINGS) if thing in text), None) for text in texts]
        rows = np.eye(99)[[20 + n if thing is None else thing for n, thing in enumerate(about)]]
        rows[texts.index("What does R cost?")] = np.eye(99)[THINGS.index("timer")]
        return rows.astype(np.float16)

    def say(label: str, text: str) -> Any:
        """Sober, in words that name nothing."""
        reply = sober(label, text)
        for item in reply.get("needs", ()):
            item["question"] = item["question"].lower().translate(str.maketrans("0123456789", "ghijklmnop"))
        return reply

    outcome = make_questions(workspace, Scripted(say), embed)  # type: ignore[arg-type]
    kept = {query.id: query.text for query in read_records(workspace.pool, Query)}
    assert sorted(thing for thing in THINGS for text in kept.values() if thing in text) == ["clock", "heap", "stack"]
    for one in read_records(workspace.rejected, Rejected):
        name = one.reason.removeprefix("near-duplicate of ").removesuffix(", in other words (cosine 1.00)")
        if "timer" in one.text:
            assert name == "copy of the expert question in line 1"
        else:
            assert next(thing for thing in THINGS if thing in one.text) in kept[name]
    assert len(reasons(workspace)) == 4 and not any("words alone" in notice for notice in outcome.notices)
    check_ledger(workspace)


def test_without_what_embeds_words_alone_are_compared_and_that_is_said(tmp_path: Path) -> None:
    def missing(texts: Sequence[str]) -> np.ndarray:
        raise MissingExtra("knn needs sentence-transformers", "local")

    workspace = make_workspace(tmp_path, kinds=ONE_KIND)
    outcome = make_questions(workspace, Scripted(sober), missing)  # type: ignore[arg-type]
    alone = [notice for notice in outcome.notices if "by their words alone" in notice]
    assert len(alone) == 1 and 'pip install "ragassay[local]"' in alone[0]
    assert len(read_records(workspace.queries, Query)) == 20


def test_another_embedding_asks_for_the_stage_again_and_only_where_one_is_used() -> None:
    def embedding(**tables: dict[str, object]) -> object:
        return questions_settings(experiment("file:x", **tables)).get("retrieval.embedding", "no matter")

    synthetic: dict[str, object] = {"source": "synthetic", "quota": {MODEL: 2}}
    retrieval: dict[str, object] = {"embedding": "m", "retrievers": ["bm25", "knn"]}
    assert embedding(questions=synthetic, retrieval=retrieval) == "m"
    assert embedding(questions=synthetic, retrieval=retrieval | {"retrievers": ["bm25"]}) is None
    own: dict[str, object] = {"source": "own"}
    assert embedding(questions=own, retrieval=retrieval) == "m", "what is found depends on it"
    by_section = {"evidence": "section"}
    assert embedding(questions=synthetic | by_section, retrieval=retrieval) == "m"
    assert embedding(questions=synthetic | {"style": "passage"} | by_section, retrieval=retrieval) == "no matter"
    assert embedding(questions=own | by_section, retrieval=retrieval) == "no matter"
