"""What is asked of the models that write questions, and what of their replies becomes candidates."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, create_model

from ragassay.digests import digest_bytes
from ragassay.experiment.settings import Experiment
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import LedgerRow, Query, Rejected, Section

from .expert import ExpertQuestion
from .reject import Candidate

DEFAULT_PROMPT = Path(__file__).with_name("prompts") / "questions.md"
GOLDEN_PROMPT = DEFAULT_PROMPT.with_name("golden_answers.md")
"""What is added to the prompt, the user's own as well, with `questions.golden_answers`."""


class WrittenQuestion(BaseModel):
    """A question, behind the fact that answers it."""

    model_config = ConfigDict(extra="forbid")

    fact: str = Field(description="What the section says that answers the question, in at most 20 words.")
    question: str = Field(description="The question, in one or two sentences that stand alone.")


class WrittenQuestions(BaseModel):
    """The questions about one section."""

    model_config = ConfigDict(extra="forbid")

    questions: list[WrittenQuestion]


class AnsweredQuestion(WrittenQuestion):
    """A question with its golden answer."""

    answer: str = Field(description="The full answer, from the section alone, in at most 80 words.")


@dataclass(frozen=True)
class Written:
    """The replies of one model, one for each sampled section and in their order."""

    model: str
    sections: Sequence[Section]
    replies: Sequence[Reply]

    def candidates(self) -> list[Candidate]:
        """Every question of every reply."""
        return [
            Candidate(question.question, self.model, section, position, _answer(question))
            for section, reply in zip(self.sections, self.replies, strict=True)
            for position, question in enumerate(_questions(reply))
        ]

    def failures(self) -> list[str]:
        """The errors of the calls that gave no reply."""
        return [reply.error for reply in self.replies if reply.error is not None]


@functools.cache
def reply_schema(per_section: int, golden_answers: bool = False) -> type[WrittenQuestions]:
    """The schema of a reply, with golden answers or without.

    It says how many questions there may be, so that a grammar can hold a small model to it. A longer reply still
    validates: what is too much is rejected one by one, with the reason, and not with the rest.
    """
    bounded = Field(json_schema_extra={"maxItems": per_section})
    return create_model(
        WrittenQuestions.__name__,
        __base__=WrittenQuestions,
        __doc__=WrittenQuestions.__doc__,
        questions=(list[AnsweredQuestion] if golden_answers else list[WrittenQuestion], bounded),
    )


def question_batches(
    experiment: Experiment, prompt: Prompt, sections: Sequence[Section], experts: Sequence[ExpertQuestion]
) -> list[Batch]:
    """A batch for each model of the quota, with a request for each section, in that order.

    The few-shot examples are drawn anew for each prompt, from the seed, the model and the section.
    """
    schema = reply_schema(experiment.questions.per_section, experiment.questions.golden_answers)
    return [
        Batch(
            label,
            model,
            tuple(Request(_messages(experiment, prompt, model, section, experts), schema) for section in sections),
        )
        for model, label in _labels(experiment.questions.quota).items()
    ]


def ledger(
    written: Iterable[Written],
    kept: Sequence[Query],
    rejected: Sequence[Rejected],
    sampled: Sequence[Query],
    per_section: int,
) -> list[LedgerRow]:
    """A row for each model and each document with a sampled section, in the order of both."""
    n_kept, n_rejected, n_sampled = _tally(kept), _tally(rejected), _tally(sampled)
    rows = []
    for one in written:
        for doc in dict.fromkeys(section.doc for section in one.sections):
            place = (one.model, doc)
            rows.append(
                LedgerRow(
                    model=one.model,
                    doc=doc,
                    kept=n_kept[place],
                    rejected=n_rejected[place],
                    sampled=n_sampled[place],
                    **_delivered(one, doc, per_section),
                )
            )
    return rows


def _delivered(one: Written, doc: str, per_section: int) -> dict[str, int]:
    replies = [reply for section, reply in zip(one.sections, one.replies, strict=True) if section.doc == doc]
    lengths = [len(_questions(reply)) for reply in replies if reply.error is None]
    return {
        "asked": per_section * len(replies),
        "written": sum(lengths),
        "failed": per_section * (len(replies) - len(lengths)),
        "unwritten": sum(max(per_section - length, 0) for length in lengths),
        "extra": sum(max(length - per_section, 0) for length in lengths),
    }


def _tally(records: Sequence[Query] | Sequence[Rejected]) -> Counter[tuple[str, str]]:
    return Counter((record.metadata["model"], record.metadata["doc"]) for record in records)


def _questions(reply: Reply) -> Sequence[WrittenQuestion]:
    return reply.value.questions if isinstance(reply.value, WrittenQuestions) else []


def _answer(question: WrittenQuestion) -> str:
    return question.answer.strip() if isinstance(question, AnsweredQuestion) else ""


def _messages(
    experiment: Experiment, prompt: Prompt, model: str, section: Section, experts: Sequence[ExpertQuestion]
) -> tuple[Message, ...]:
    """The prompt filled in, with what asks for golden answers at the end of each of its parts where they are wanted."""
    messages = prompt.render(_values(experiment, model, section, experts))
    if not experiment.questions.golden_answers:
        return messages
    more = Prompt.load(GOLDEN_PROMPT).render({})
    return tuple(
        Message(one.role, f"{one.content}\n\n{added.content}") for one, added in zip(messages, more, strict=True)
    )


def _values(
    experiment: Experiment, model: str, section: Section, experts: Sequence[ExpertQuestion]
) -> Mapping[str, object]:
    settings = experiment.questions
    rng = random.Random(f"{settings.seed}:{model}:{section.id}")
    return {
        "language": experiment.corpus.language,
        "per_section": settings.per_section,
        "roles": list(dict.fromkeys(expert.role for expert in experts if expert.role)),
        "examples": rng.sample(list(experts), min(settings.few_shot, len(experts))),
        "section": section,
    }


def _labels(models: Iterable[str]) -> dict[str, str]:
    """Model to `questions-NAME`, with a digest where two names would come out alike in a file system."""
    labels = {model: "questions-" + re.sub(r"[^A-Za-z0-9._-]+", "-", model) for model in models}
    often = Counter(label.casefold() for label in labels.values())
    return {
        model: label if often[label.casefold()] == 1 else f"{label}-{digest_bytes(model.encode())[:8]}"
        for model, label in labels.items()
    }
