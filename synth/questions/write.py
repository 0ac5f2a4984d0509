"""Questions from a passage, the fact that answers each first: what is asked, and what of the replies is a candidate.

The other way, from the need behind a text, is in `need_writer.py`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import Experiment
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import Section

from . import GOLDEN_PROMPT
from .own import ExpertQuestion
from .reject import Candidate
from .slots import Calls, Delivered, Written, at_most, labels


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


def reply_schema(per_section: int, golden_answers: bool = False) -> type[WrittenQuestions]:
    """The schema of a reply, with golden answers or without."""
    return at_most(per_section, WrittenQuestions, AnsweredQuestion if golden_answers else WrittenQuestion)


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
        for model, label in labels(experiment.questions.quota, "questions").items()
    ]


def write_from_passages(
    experiment: Experiment,
    prompt: Prompt,
    sections: Sequence[Section],
    experts: Sequence[ExpertQuestion],
    caller: Caller,
) -> Written:
    """Every question that the models of the quota write about the sections."""
    batches = question_batches(experiment, prompt, sections, experts)
    rows = dict(zip((batch.model for batch in batches), caller.ask(batches), strict=True))
    asked = experiment.questions.per_section
    return Written(
        [
            Candidate(question.question, model, section, position, _answer(question))
            for model, replies in rows.items()
            for section, reply in zip(sections, replies, strict=True)
            for position, question in enumerate(_questions(reply))
        ],
        [
            Delivered(model, section.doc, asked, None if reply.error is not None else len(_questions(reply)))
            for model, replies in rows.items()
            for section, reply in zip(sections, replies, strict=True)
        ],
        [Calls.of(model, row) for model, row in rows.items()],
    )


def _questions(reply: Reply) -> Sequence[WrittenQuestion]:
    return reply.value.questions if isinstance(reply.value, WrittenQuestions) else []


def _answer(question: WrittenQuestion) -> str:
    return question.answer.strip() if isinstance(question, AnsweredQuestion) else ""


def _messages(
    experiment: Experiment, prompt: Prompt, model: str, section: Section, experts: Sequence[ExpertQuestion]
) -> tuple[Message, ...]:
    """The prompt filled in, with what asks for golden answers at the end of each of its parts where they are wanted."""
    settings = experiment.questions
    rng = random.Random(f"{settings.seed}:{model}:{section.id}")
    values = {
        "language": experiment.corpus.language,
        "per_section": settings.per_section,
        "roles": list(dict.fromkeys(expert.role for expert in experts if expert.role)),
        "examples": rng.sample(list(experts), min(settings.few_shot, len(experts))),
        "section": section,
    }
    messages = prompt.render(values)
    if not settings.golden_answers:
        return messages
    more = Prompt.load(GOLDEN_PROMPT).render({})
    return tuple(
        Message(one.role, f"{one.content}\n\n{added.content}") for one, added in zip(messages, more, strict=True)
    )
