"""The stages `ingest` and `questions`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.experiment.reading import check_by_look, own_files, own_modules, tables
from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import (
    QUESTION_TOKENS,
    Check,
    Load,
    Means,
    Stage,
    filled_tokens,
    foreseen_load,
    mean_passage_tokens,
)
from ragassay.experiment.workspace import StageOutcome, Workspace, read_passages
from ragassay.layouts.questions import question_files
from ragassay.progress import counter

from .questions import CONVERSATION_PROMPTS, DEFAULT_PROMPT, GOLDEN_PROMPT, PROMPTS, QUOTES_PROMPT, ROLES_PROMPT, STEPS

if TYPE_CHECKING:
    from ragassay.records import Section

    from .questions.slots import Setup


def ingest_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape pages, sections and passages; a semantic chunking without an embedding has [retrieval]'s."""
    values = tables(experiment, "ingest")
    values["corpus.exclude_pages"] = experiment.corpus.exclude_pages
    if chunkings := experiment.chunkings:
        values["chunking"] = [one.model_dump(mode="json", exclude_none=True) for one in chunkings]
        semantic = [one for one in chunkings if one.by == "semantic"]
        if any(one.embedding is None for one in semantic):
            values["retrieval.embedding"] = experiment.retrieval.embedding
        values |= _other_vectors(experiment) if semantic else {}
    return values | ({"corpus.language": experiment.corpus.language} if experiment.ingest.reader == "auto" else {})


def questions_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the test set; the embedding tells which questions say the same."""
    values = tables(experiment, "questions", models=tuple(sorted(experiment.questions.quota)))
    if experiment.questions.from_needs or looks_in_corpus(experiment):
        values["retrieval.embedding"] = experiment.retrieval.embedding if experiment.searches_vectors else None
        values |= _other_vectors(experiment) if experiment.searches_vectors else {}
    if not looks_in_corpus(experiment):
        values = {name: value for name, value in values.items() if name not in _OF_POOLS}
    else:
        values |= graded_by(experiment)
        values |= {f"retrieval.{name}": getattr(experiment.retrieval, name) for name in FOUND_BY}
        values |= {"questions.quotes": True} if values.pop("questions.quotes") else {}
    if experiment.by_look:
        values["run.write_by_look"] = experiment.run.looks
    if experiment.questions.style != "conversations":
        del values["questions.turns"], values["questions.moves"]
    return values | {"corpus.language": experiment.corpus.language}


_OF_POOLS = ("questions.evidence", "questions.pool_by", "questions.pool_depth", "questions.quotes")
GRADED_BY = (
    *("model", "panel", "mode", "prompts", "relevance_batch", "relevance_prompt", "relevance_batch_prompt"),
    *("relevance_question", "yes_threshold", "seed"),
)
"""Settings of [judge] by which evidence is graded."""
FOUND_BY = ("bm25", "rrf_k", "engine")
"""Settings of [retrieval] by which it is found, beside the embedding."""


def graded_by(experiment: Experiment) -> dict[str, Any]:
    """Settings by which evidence is graded."""
    values = tables(experiment, models=tuple(sorted(experiment.judge.models)))
    return values | {f"judge.{name}": getattr(experiment.judge, name) for name in GRADED_BY}


def looks_in_corpus(experiment: Experiment) -> bool:
    """Whether evidence is looked for in all passages."""
    return experiment.questions.evidence == "corpus"


def asks_of_passages(experiment: Experiment) -> tuple[bool, bool]:
    """Whether passages that were found are asked about, for written questions and for those that people brought.

    The old style has golden answers written with its questions.
    """
    settings = experiment.questions
    asks = looks_in_corpus(experiment) and (settings.quotes or settings.golden_answers)
    written = settings.source != "own" and (settings.quotes or settings.style == "need")
    return asks and written, asks and settings.source != "synthetic"


def _other_vectors(experiment: Experiment) -> dict[str, Any]:
    """The backend, where it gives vectors of its own."""
    settings = experiment.retrieval
    return {"retrieval.embedding_backend": settings.embedding_backend} if settings.other_vectors else {}


def _tables_of_questions(workspace: Workspace) -> list[Path]:
    """Where they are read: a folder whose questions are written may have files of these names for other ends."""
    found = question_files(workspace.corpus) if workspace.experiment.questions.source != "synthetic" else []
    return [path for path in found if path != workspace.own_queries]


def _writes_roles(experiment: Experiment) -> bool:
    return experiment.questions.source != "own" and experiment.questions.roles == "corpus"


def questions_prompts(workspace: Workspace) -> list[Path]:
    """Those of the style: ours, and the user's own."""
    settings = workspace.experiment.questions
    more = [ROLES_PROMPT] if _writes_roles(workspace.experiment) else []
    if settings.style == "need":
        ours, own = [PROMPTS / f"{step}.md" for step in STEPS], [getattr(settings, f"{step}_prompt") for step in STEPS]
    elif settings.style == "conversations":
        ours, own = [*CONVERSATION_PROMPTS.values(), PROMPTS / "blind.md"], [settings.blind_prompt]
    else:
        ours, own = [DEFAULT_PROMPT], [settings.prompt]
        more = [GOLDEN_PROMPT] if settings.golden_answers else []
    more += [QUOTES_PROMPT] if any(asks_of_passages(workspace.experiment)) else []
    return [*ours, *more, *own_files(workspace, *own)]


def _documents(workspace: Workspace) -> list[Path]:
    from .documents.doc_ids import document_files

    return [workspace.corpus / doc for doc in document_files(workspace)]


def _check_documents(workspace: Workspace) -> Iterator[Check]:
    yield lambda: _documents(workspace)
    if workspace.experiment.ingest.ocr:
        from .pdf.choice import check_ocr

        yield partial(check_ocr, workspace.corpus / "experiment.toml")


def _ingest(workspace: Workspace, means: Means) -> StageOutcome:
    from .ingest import ingest

    semantic = any(one.by == "semantic" for one in workspace.experiment.chunkings)
    embed = means.embed_passages() if semantic else None
    return ingest(workspace, counter(means.progress, "ingest: pages"), embed)


INGEST = Stage(
    "ingest",
    needs=lambda w: [],
    uses=lambda w: [
        *_documents(w),
        *own_modules(w, *(one.callable for one in w.experiment.chunkings), w.experiment.ingest.loader),
    ],
    settings=ingest_settings,
    makes=lambda w: [
        *(w.pages, w.sections, w.passages, w.unreadable, w.suspicious_pages),
        *([w.readers] if w.experiment.ingest.reader == "auto" else []),
    ],
    run=_ingest,
    files=_check_documents,
)


def _check_questions(workspace: Workspace) -> Iterator[Check]:
    from .questions.own import read_expert_questions, read_keep, read_test_set

    settings = workspace.experiment.questions
    yield partial(check_by_look, workspace)
    if settings.source != "synthetic":
        yield partial(read_test_set, workspace)
    if settings.source != "own":
        yield partial(read_expert_questions, workspace.expert_questions, needed=settings.few_shot > 0)
        yield from (partial(read_keep, path) for path in own_files(workspace, settings.keep))


def _later_steps(workspace: Workspace) -> list[Load]:
    """What is asked once the needs are there, blind questions and the evidence; before it the needs, for which roles
    that a model has still to write are wanted."""
    settings = workspace.experiment.questions
    if settings.source == "own" or settings.style == "passage":
        return []
    from ragassay.files import read_records
    from ragassay.prompts import count_tokens
    from ragassay.records import Section

    from .questions.need_writer import NEAR, Sections, assignments_of, request_needs
    from .questions.own import read_expert_questions
    from .questions.slots import UNANSWERABLE, Setup, sample_sections

    sections = read_records(workspace.sections, Section)
    setup = Setup.load(workspace, read_expert_questions(workspace.expert_questions, needed=settings.few_shot > 0))
    drawn = sample_sections(sections, settings.sections, settings.seed)
    if settings.style == "conversations":
        return _steps_of_conversations(setup, drawn)
    loads = []
    for one in assignments_of(setup, drawn, Sections(sections)):
        if settings.roles == "corpus":
            needs = request_needs(setup, one)
            asked = sum(count_tokens(message.content) for message in needs.request.messages)
            loads.append(foreseen_load(needs.step, one.model, 1, asked))
        blind = sum(slot.blind for slot in one.slots)
        near = NEAR * sum(slot.kind == UNANSWERABLE for slot in one.slots)
        text = sum(count_tokens(section.text) for section in one.sections)
        told = filled_tokens(setup.prompts["blind"]) + (settings.few_shot + blind) * QUESTION_TOKENS
        loads += [foreseen_load("blind", one.model, 1, told)] if blind else []
        shown = filled_tokens(setup.prompts["evidence"]) + text + len(one.slots) * QUESTION_TOKENS
        if not looks_in_corpus(workspace.experiment):
            loads.append(foreseen_load("evidence", one.model, 1 + near, shown))
    return loads


def _steps_of_conversations(setup: Setup, drawn: Sequence[Section]) -> list[Load]:
    """What is asked once the chains are there: blind questions, turns, and what readers make of them."""
    from ragassay.prompts import Prompt, count_tokens

    from .questions.conversations import LEANS, TOGETHER, TurnSlot, conversations

    settings, reader = setup.experiment.questions, setup.experiment.judge.models[0]
    talks = conversations(settings, drawn, setup.roles)
    tokens = {step: filled_tokens(Prompt.load(path)) for step, path in CONVERSATION_PROMPTS.items()}
    blind = filled_tokens(setup.prompts["blind"])
    loads = []
    for one in talks:
        if settings.roles == "corpus":
            shown = tokens["chain"] + count_tokens(one.sections[0].text)
            loads.append(foreseen_load("chain", one.model, 1, shown, len(one.slots)))
        shown, n = settings.few_shot + len(one.slots), len(one.slots) - 1
        loads.append(foreseen_load("blind", one.model, 1, blind + shown * QUESTION_TOKENS))
        shown = settings.few_shot + 3 * n
        loads += [foreseen_load("turns", one.model, 1, tokens["turns"] + shown * QUESTION_TOKENS, n)] if n else []
    later = [slot for one in talks for slot in one.slots[1:] if isinstance(slot, TurnSlot)]
    for step, slots in (("restore", later), ("alone", [slot for slot in later if slot.move in LEANS])):
        for place, n in Counter(slot.position for slot in slots).items():
            calls, shown = ceil(n / TOGETHER), n * (1 + 3 * place if step == "restore" else 1)
            size = tokens["restore"] + shown * QUESTION_TOKENS / calls
            loads.append(foreseen_load(step, reader, calls, size, n / calls))
        if slots:
            calls = ceil(len(slots) / TOGETHER)
            size = tokens["same"] + 2 * len(slots) * QUESTION_TOKENS / calls
            loads.append(foreseen_load("same", reader, calls, size, len(slots) / calls))
    return loads


_RELEVANT = 3.7
"""Passages of grade 1 and 2 of a question, in the recorded pools of the demo."""


def of_quotes(workspace: Workspace, n_own: int) -> list[Load]:
    """Of each model a load for what is asked about passages that were found; n_own: questions that people brought.

    On the high side: as if something were found for every question, and none brought evidence or a golden answer.
    """
    from ragassay.prompts import Prompt

    experiment, (written, brought) = workspace.experiment, asks_of_passages(workspace.experiment)
    n = dict[str, int](experiment.questions.quota) if written else {}
    if brought and n_own:
        judge = experiment.judge.models[0]
        n[judge] = n.get(judge, 0) + n_own
    if not n:
        return []
    tokens = filled_tokens(Prompt.load(QUOTES_PROMPT)) + _RELEVANT * mean_passage_tokens(workspace)
    settings = experiment.questions
    items = _RELEVANT * settings.quotes + settings.golden_answers
    return [foreseen_load("quotes", model, calls, tokens, items) for model, calls in n.items()]


def _questions(workspace: Workspace, means: Means) -> StageOutcome:
    from .make_questions import make_questions
    from .questions.find import Finder

    experiment = workspace.experiment
    finder = None
    if looks_in_corpus(experiment):
        passages = read_passages(workspace.passages)
        finder = Finder(passages, means.pool, means.grade, experiment.corpus.language)
    embed = means.embed_queries if experiment.questions.from_needs and experiment.searches_vectors else None
    return make_questions(workspace, means.caller, embed, finder, means.goes_on)


QUESTIONS = Stage(
    "questions",
    needs=lambda w: [
        w.sections,
        *([w.passages] if w.experiment.questions.from_needs or looks_in_corpus(w.experiment) else []),
    ],
    uses=lambda w: [
        *(w.expert_questions, w.own_queries, *_tables_of_questions(w), *questions_prompts(w)),
        *([w.question_edits] if w.question_edits.exists() else []),
        *own_files(w, w.experiment.questions.keep),
    ],
    settings=questions_settings,
    makes=lambda w: [
        *(w.pool, w.rejected, w.test_set, w.ledger),
        *([w.parts] if w.experiment.by_look else []),
        *([w.questions_check] if w.experiment.questions.from_needs else []),
        *([w.found] if looks_in_corpus(w.experiment) else []),
        *([w.roles] if _writes_roles(w.experiment) else []),
    ],
    run=_questions,
    models=lambda e: [
        *(e.questions.quota if e.questions.source != "own" else ()),
        *(e.judge.models if looks_in_corpus(e) else ()),
    ],
    foreseen=_later_steps,
    files=_check_questions,
)
