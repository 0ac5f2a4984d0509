"""Relevance of a pooled passage to the query: 0 not, 1 somewhat, 2 very.

As in RAGElo (Rackauckas, Câmara and Zavrel 2024, arXiv:2406.14783, appendix A.1), somewhat is on the topic without the
full answer; by our strict prompts it is a part of the answer, and the topic alone is nothing. One request for each
passage. Asked for a reason and a label; for the label as one token; or for Yes or No.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import Assessment, Judgment

from ..engine.cases import PassageCase
from ..engine.evaluator import Criterion, Evaluator, Steps
from ..engine.judge import Setup
from ..engine.labels import LABELS, Label
from ..engine.probability import distribution, likeliest, yes_or_no
from ..engine.reply import Reason, Strict, read_value
from . import PROMPTS

DEFAULT_PROMPT = PROMPTS / "relevance.md"
TOKEN_PROMPT = PROMPTS / "relevance_token.md"
STRICT_PROMPT = PROMPTS / "relevance_strict.md"
STRICT_TOKEN_PROMPT = PROMPTS / "relevance_strict_token.md"
YES_NO_PROMPT = PROMPTS / "relevance_yes_no.md"

CRITERION = "relevance"
VERY_RELEVANT = 2
YES_NO = ("Yes", "No")


class RelevanceReply(Strict):
    """One sentence on why, then the label."""

    reason: Reason
    label: Label


class Relevance(Evaluator):
    """Asks for a reason and a label."""

    name = CRITERION
    unit = "passage"

    def __init__(self, setup: Setup, prompt: Prompt) -> None:
        super().__init__(setup)
        self.template = prompt

    @property
    def batch_label(self) -> str:
        """`relevance`."""
        return self.name

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """One, from 0 to 2."""
        return (Criterion(CRITERION, 0, VERY_RELEVANT),)

    def steps(self, case: PassageCase) -> Steps:
        """One request."""
        (reply,) = yield [self.request(case)]
        return [self.read(case, reply)]

    def request(self, case: PassageCase) -> Request:
        """What is asked about a passage. Raises InputError where the prompt names what it is not given."""
        return Request(self.messages(case), schema=RelevanceReply)

    def read(self, case: PassageCase, reply: Reply) -> Assessment:
        """The assessment. Raises JudgeFailed with the reply's error."""
        value: RelevanceReply = read_value(reply, RelevanceReply)
        return self.assess(case, value.label, reason=value.reason)

    def messages(self, case: PassageCase) -> tuple[Message, ...]:
        """The prompt with the query and the passage in it. Raises InputError where it names something else."""
        return self.template.render({"query": case.query, "passage": case.passage})


class RelevanceByToken(Relevance):
    """Asks for the label as one token; label, probability and expected value come from the distribution."""

    def steps(self, case: PassageCase) -> Steps:
        """One request."""
        (reply,) = yield [Request(self.messages(case), tokens=LABELS)]
        return [self.graded(case, likeliest(distribution(reply, LABELS)))]


class RelevanceByYes(Relevance):
    """Asks for Yes or No; very relevant (2) where the probability of Yes reaches `threshold`, else not (0)."""

    def __init__(self, setup: Setup, prompt: Prompt, threshold: float) -> None:
        super().__init__(setup, prompt)
        self.threshold = threshold

    def steps(self, case: PassageCase) -> Steps:
        """One request."""
        (reply,) = yield [Request(self.messages(case), tokens=YES_NO)]
        return [self.graded(case, yes_or_no(distribution(reply, YES_NO)["Yes"], self.threshold, VERY_RELEVANT))]


def qrels_of(judgments: Sequence[Judgment]) -> dict[str, dict[str, int]]:
    """Query id to passage id to label; a passage that could not be judged is absent, that is, unjudged."""
    qrels: dict[str, dict[str, int]] = {}
    for judgment in judgments:
        if judgment.label is not None:
            qrels.setdefault(judgment.query_id, {})[judgment.subject] = int(judgment.label)
    return qrels
