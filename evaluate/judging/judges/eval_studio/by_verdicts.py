"""What evaluators by verdicts share: what leaves nothing to judge, yes or no on several texts, and the share of yes."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ragassay.models.requests import Reply, Request
from ragassay.records import Assessment, Passage

from ...engine.cases import AnswerCase
from ...engine.evaluator import NO_VALUE, Criterion, Evaluator, check_passages
from ...engine.item_question import ItemQuestion, Verdict
from ...engine.reply import JudgeFailed
from . import TAGS
from .words import check_words

THRESHOLD = 0.75
NO_YES = ("no", "yes")

Group = tuple[Mapping[str, Any], Sequence[str]]
"""What a prompt is filled with besides the texts, and the texts."""


def checked_context(case: AnswerCase) -> tuple[Passage, ...]:
    """What the agent retrieved, best first. Raises JudgeFailed where that is nothing, or holds no words, or a passage's
    text is not at hand."""
    check_passages(case)
    if not case.passages:
        raise JudgeFailed(f"{NO_VALUE}no passage was retrieved")
    check_words(" ".join(f"{passage.title} {passage.text}" for passage in case.passages), "context")
    return case.passages


def verdicts_on(
    question: ItemQuestion, groups: Sequence[Group]
) -> Generator[Sequence[Request], Sequence[Reply], list[Verdict]]:
    """The verdicts on the texts of all groups, asked together, in their order. Raises JudgeFailed."""
    requests = [question.requests(values, texts) for values, texts in groups]
    replies = iter((yield [request for some in requests for request in some]))
    return [
        verdict
        for some, (_, texts) in zip(requests, groups, strict=True)
        for verdict in question.read([next(replies) for _ in some], texts)
    ]


class YesShare(Evaluator):
    """The share of yes among the verdicts on several texts of a case. what: the texts' name in errors."""

    what: ClassVar[str]
    unit = "answer"
    tags: ClassVar[tuple[str, ...]] = TAGS

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The share, 0 to 1."""
        return (Criterion(self.name, threshold=THRESHOLD),)

    @cached_property
    def question(self) -> ItemQuestion:
        """What is asked of the texts. Raises InputError where the prompt cannot be read."""
        return ItemQuestion(self.prompt(), NO_YES, NO_YES, self.setup.mode, self.what, self.options)

    def share(self, case: AnswerCase, texts: Sequence[str], verdicts: Sequence[Verdict]) -> list[Assessment]:
        """The record of a case; details: each text as `claim` or `sentence`, with its verdict."""
        name = self.what.removesuffix("s")
        details = [{name: text, **verdict.detail()} for text, verdict in zip(texts, verdicts, strict=True)]
        return [self.assess(case, sum(one.label == "yes" for one in verdicts) / len(verdicts), details=details)]
