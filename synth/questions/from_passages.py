"""What models are asked about passages: questions of a section, and the words and golden answers of those found.

A section's questions come with the fact that answers each first; the other way, from the need behind a text, is in
`need_writer.py`. Once passages are graded, one request for each question of the test set for which something was found
goes to the model that wrote it; about people's questions to the judge's first model, which graded the passages.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from ragassay.calls.caller import Caller
from ragassay.evidence import Quotable
from ragassay.experiment.settings import Experiment
from ragassay.models.requests import Request
from ragassay.prompts import Message, Prompt
from ragassay.records import Passage, Query, Section
from ragassay.text import plain

from . import GOLDEN_PROMPT, QUOTES_PROMPT
from .find import RELEVANT
from .own import ExpertQuestion
from .reject import Candidate, writable
from .slots import Asked, Asker, Delivered, Told, Written, at_most


class WrittenQuestion(Told):
    """A question, behind the fact that answers it."""

    fact: str = Field(description="What the section says that answers the question, in at most 20 words.")
    question: str = Field(description="The question, in one or two sentences that stand alone.")


class WrittenQuestions(Told):
    """The questions about one section."""

    questions: list[WrittenQuestion]


class AnsweredQuestion(WrittenQuestion):
    """A question with its golden answer."""

    answer: str = Field(description="The full answer, from the section alone, in at most 80 words.")


def reply_schema(per_section: int, golden_answers: bool = False) -> type[WrittenQuestions]:
    """The schema of a reply, with golden answers or without."""
    return at_most(per_section, WrittenQuestions, AnsweredQuestion if golden_answers else WrittenQuestion)


def write_from_passages(
    experiment: Experiment,
    prompt: Prompt,
    sections: Sequence[Section],
    experts: Sequence[ExpertQuestion],
    caller: Caller,
) -> Written:
    """Every question that the models of the quota write about the sections.

    The few-shot examples are drawn anew for each prompt, from the seed, the model and the section.
    """
    settings = experiment.questions
    asker, schema = Asker(caller, list(settings.quota)), reply_schema(settings.per_section, settings.golden_answers)
    more = Prompt.load(GOLDEN_PROMPT).render({}) if settings.golden_answers else ()  # at the end of each part
    about = [(model, section) for model in settings.quota for section in sections]
    asked = []
    for model, section in about:
        rng = random.Random(f"{settings.seed}:{model}:{section.id}")
        values = {
            "language": experiment.corpus.language,
            "per_section": settings.per_section,
            "roles": list(dict.fromkeys(expert.role for expert in experts if expert.role)),
            "examples": rng.sample(list(experts), min(settings.few_shot, len(experts))),
            "section": section,
        }
        messages = prompt.render(values)
        if more:
            both = zip(messages, more, strict=True)
            messages = tuple(Message(one.role, f"{one.content}\n\n{added.content}") for one, added in both)
        asked.append(Asked("questions", model, Request(messages, schema)))
    candidates: list[Candidate] = []
    delivered: list[Delivered] = []
    for (model, section), reply in zip(about, asker.ask(asked), strict=True):
        written = reply.value.questions if isinstance(reply.value, WrittenQuestions) else []
        n = None if reply.error is not None else len(written)
        delivered.append(Delivered(model, section.doc, settings.per_section, n))
        for position, one in enumerate(written):
            candidates.append(Candidate(one.question, model, section, position, getattr(one, "answer", "").strip()))
    return Written(candidates, delivered, asker.calls())


class PassageQuotes(Told):
    """What answers the question in the passage of that number."""

    number: int = Field(description="The number of the passage.")
    quotes: list[str] = Field(description="The words of the passage that answer it, copied character for character.")


class Quotes(Told):
    """The quotes of each passage."""

    passages: list[PassageQuotes]


class AnsweredQuotes(Quotes):
    """The same with a golden answer."""

    answer: str = Field(description="The full answer, from the passages alone, in at most 80 words.")


class GoldenAnswer(Told):
    """The golden answer alone."""

    answer: str = Field(description="The full answer, from the passages alone, in at most 80 words.")


def quotes_schema(n: int, *, quotes: bool, golden_answer: bool) -> type[BaseModel]:
    """The schema of a reply about `n` passages; one of the two is wanted at least."""
    if not quotes:
        return GoldenAnswer
    return at_most(n, AnsweredQuotes if golden_answer else Quotes, PassageQuotes)


Pools = Sequence[tuple[Query, Sequence[Passage]]]
"""Queries, each with the passages that its evidence is of, in the evidence's order; none where nothing was found."""


@dataclass(frozen=True)
class Quoted:
    """What came of asking. queries: as given, with what was found. errors: of those of `n_asked` without a reply.

    n_quotes: those given; n_lost: of these those that do not stand in their passage. n_whole: of the n_passages asked
    about those that stay whole, as no quote of theirs was found.
    """

    queries: Sequence[Query]
    errors: Sequence[str] = ()
    n_asked: int = 0
    n_quotes: int = 0
    n_lost: int = 0
    n_whole: int = 0
    n_passages: int = 0

    def notices(self) -> list[str]:
        """Sentences on requests that failed, and on quotes that were not found."""
        told = []
        if self.errors:
            n = f"{len(self.errors)} of {self.n_asked} requests for quotes or golden answers"
            told.append(f"{n} failed, and passages stay the evidence there; the first: {plain(self.errors[0])}")
        if self.n_lost:
            n = f"{self.n_lost} of {self.n_quotes} quotes do not stand in their passage"
            told.append(f"{n}; {self.n_whole} of {self.n_passages} passages stay evidence as a whole")
        return told


def ask_quotes(experiment: Experiment, given: Pools, caller: Caller) -> Quoted:
    """The queries with quotes for passages in `metadata.evidence`, and with golden answers, as the settings want them.

    A golden answer is asked for where a passage has grade 2 and the query brings none. A quote keeps its passage's
    grade and who found it; a passage of which none is found stays. What the caller raises is raised.
    """
    settings = experiment.questions
    writers = () if settings.source == "own" else tuple(settings.quota)
    judge = experiment.judge.models[0]
    prompt = Prompt.load(QUOTES_PROMPT)
    asked: dict[int, Asked] = {}
    for at, (query, passages) in enumerate(given):
        answered = any(piece["grade"] == RELEVANT for piece in query.metadata["evidence"]) if passages else False
        golden = settings.golden_answers and answered and not query.metadata.get("expected_response")
        if not passages or not (settings.quotes or golden):
            continue
        wanted = {"quotes": settings.quotes, "golden_answer": golden}
        messages = prompt.render(wanted | {"query": query, "passages": passages})
        writer = query.metadata.get("model")
        model = str(writer) if writer in writers else judge
        items = len(passages) * settings.quotes + golden
        asked[at] = Asked("quotes", model, Request(messages, quotes_schema(len(passages), **wanted), items=items))
    asker = Asker(caller, list(dict.fromkeys((*writers, judge))))
    replies = dict(zip(asked, asker.ask(list(asked.values())), strict=True))
    queries = [query for query, _ in given]
    n_quotes = n_lost = n_whole = n_passages = 0
    for at, reply in replies.items():
        query, passages = given[at]
        answer = writable(getattr(reply.value, "answer", "").strip())
        metadata = query.metadata | ({"expected_response": answer} if answer else {})
        if isinstance(reply.value, Quotes):
            spans, lost, whole = _spans(query.metadata["evidence"], passages, reply.value)
            metadata |= {"evidence": spans}
            n_quotes += sum(len(item.quotes) for item in reply.value.passages)
            n_lost, n_whole, n_passages = n_lost + lost, n_whole + whole, n_passages + len(passages)
        queries[at] = query.model_copy(update={"metadata": metadata})
    errors = [reply.error for reply in replies.values() if reply.error is not None]
    return Quoted(queries, errors, len(asked), n_quotes, n_lost, n_whole, n_passages)


def _spans(
    pieces: Sequence[Mapping[str, Any]], passages: Sequence[Passage], told: Quotes
) -> tuple[list[Mapping[str, Any]], int, int]:
    """(The spans, each place once, of the best grade that it has; quotes not found; passages that stay whole)."""
    found: dict[tuple[object, ...], Mapping[str, Any]] = {}
    lost = sum(len(item.quotes) for item in told.passages if not 1 <= item.number <= len(passages))
    whole = 0
    for number, (piece, passage) in enumerate(zip(pieces, passages, strict=True), 1):
        quotes = [quote for item in told.passages if item.number == number for quote in item.quotes]
        start, there = piece.get("start", 0), [at for quote in quotes if (at := Quotable(passage.text).find(quote))]
        is_placed = piece.get("end", 0) - start == len(passage.text)  # else it is not known where the passage stands
        places = [(start + first, start + stop) for first, stop in there] if is_placed else []
        lost += len(quotes) - len(places)
        whole += not places
        spans: list[Mapping[str, Any]] = [{**piece, "start": start, "end": end} for start, end in places]
        for span in spans or [piece]:
            found.setdefault(tuple(span.get(key) for key in ("doc", "start", "end", "passage")), span)
    return list(found.values()), lost, whole
