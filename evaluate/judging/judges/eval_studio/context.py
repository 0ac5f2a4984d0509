"""The answer against what was retrieved for it: its claims, its sentences by embeddings, and the steps it lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator

from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import Assessment

from ...engine.cases import AnswerCase, expected_response
from ...engine.evaluator import NO_VALUE, Criterion, Evaluator, Options, Steps, own_prompt, records
from ...engine.question import JudgeFailed, Strict, read_value
from ...judges import PROMPTS as OF_JUDGES
from ..claims import ItemQuestion, Verdict
from ..eval_studio import H2O_PAGE, TAGS
from ..factual import Claims, FactualOptions
from .by_embedding import (
    THRESHOLD,
    ByEmbedding,
    SentenceOptions,
    YesShare,
    answer_sentences,
    check_words,
    checked_answer,
    checked_context,
    checked_passages,
    passage_sentences,
    verdicts_on,
)

PROMPTS = Path(__file__).parent / "context/prompts"


class GroundednessEmbeddings(ByEmbedding):
    """Compares the sentences A of each answer with those C of all passages that its agent retrieved.

        min over a in A of max over c in C of cosine(a, c)

    H2O Eval Studio's "groundedness (semantic similarity)". Sentences of ten characters and fewer are left out of both.
    Nearness is not entailment: a sentence and its denial lie near each other. There is no value where the answer has no
    such sentence or the agent retrieved nothing with words.
    """

    name = "groundedness_embeddings"
    place = 603
    family = "eval-studio-context"
    about = "how near the least grounded sentence of the answer is to a sentence of the passages (not groundedness)"
    reads = ("context", "answer")
    source = f"{H2O_PAGE} (Groundedness, semantic similarity)"
    options_type = SentenceOptions
    options: SentenceOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The lowest of the highest cosines."""
        return (Criterion(self.name, -1.0, 1.0, threshold=0.75),)

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """The sentences of the answer and of the passages."""
        return [*answer_sentences(case.text, self.options.shortest), *self._of_passages(case)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The details name the least grounded sentence, its score and the sentence nearest to it."""
        checked_passages(case)
        said, read = checked_answer(case, self.options.shortest), self._of_passages(case)
        if not read:
            raise JudgeFailed(NO_VALUE + "the passages hold no words")
        near = self.nearest(said, read)
        least = int(np.argmin([score for score, _ in near]))
        score, nearest = near[least]
        return [self.assess(case, score, details=[{"sentence": said[least], "score": score, "nearest": nearest}])]

    def _of_passages(self, case: AnswerCase) -> list[str]:
        return [one for passage in case.passages for one in passage_sentences(passage.text, self.options.shortest)]


class Faithfulness(YesShare):
    """One request for the claims, then one for the verdicts on each ten of them.

        faithfulness = claims that the passages support / claims of the answer

    Ragas' metric of this name (Es et al. 2024, arXiv:2309.15217, section 3), which is H2O Eval Studio's. The claims are
    asked for as factual_correctness does, so that both cost one. An answer that claims nothing, an empty answer and an
    empty context have no value. groundedness (TruLens') grades claims instead, and an admission of not knowing gets the
    highest grade there.
    """

    name = "faithfulness"
    place = 601
    family = "eval-studio-context"
    about = "the share of the answer's claims that the passages support"
    reads = ("question", "context", "answer")
    source = f"{H2O_PAGE} (Faithfulness); arXiv:2309.15217"
    tags = (*TAGS, "valid and reliable", "accountable and transparent", "ongoing monitoring")
    what = "claims"
    calls = 2.0
    options: FactualOptions
    options_type = FactualOptions
    default_prompt: ClassVar = PROMPTS / "faithfulness.md"

    @cached_property
    def claims_prompt(self) -> Prompt:
        """What takes the answer apart. Raises InputError where it cannot be read."""
        return own_prompt(self, self.options.claims_prompt, OF_JUDGES / "factual_claims.md")

    def steps(self, case: AnswerCase) -> Steps:
        """The claims, then whether the passages support them."""
        check_words(case.text, "answer")
        passages = checked_context(case)
        asked = self.claims_prompt.render({"query": case.query, "answer": case.text})
        (reply,) = yield [Request(asked, schema=Claims)]
        claims = list(dict.fromkeys(read_value(reply, Claims).claims))
        if not claims:
            raise JudgeFailed(f"{NO_VALUE}the answer makes no claim")
        verdicts = yield from verdicts_on(self.question, [({"query": case.query, "passages": passages}, claims)])
        return self.share(case, claims, verdicts)


ALIGNMENT, COMPLETENESS, EDITS = "step_alignment", "step_completeness", "step_edits"


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("a step is empty")
    return text.strip()


class ListedSteps(Strict):
    """The steps of a text, in its order; none where it describes no procedure."""

    steps: list[Annotated[str, AfterValidator(_said)]]


class StepOptions(Options):
    """against: where the procedure is described. steps_prompt, procedure_prompt: files of the user's own in place of
    the prompts that list the steps of an answer and of the passages; `prompt` is the one that pairs them."""

    against: Literal["context", "expected_response"] = "context"
    steps_prompt: str | None = None
    procedure_prompt: str | None = None


class StepAlignment(Evaluator):
    """Two requests for the steps, then one for each ten steps of the answer.

    After H2O Eval Studio's evaluator of this name (`procedure_evaluator.py` in h2oai/h2o-sonar, where it is a preview):
    a model lists the steps of both texts, and both lists are aligned. There the steps are paired by embeddings and
    fuzzy matching; here the judge says of each step of the answer which step of the procedure it is, or none. With n
    steps in the answer and m in the procedure:

    - step_alignment: the most steps of the answer that stand in the procedure's order, divided by n. A step that is
      none of the procedure's does not stand in it; one that was cut in two stands in it twice.
    - step_completeness: how many steps of the procedure the answer has, in whatever order, divided by m.
    - step_edits: how many steps must be inserted, deleted or replaced to make the answer's list the procedure's
      (Levenshtein distance; neighbours that are the same step count once). The source's first metric; 0 is best.

    No value where the answer or the context is empty, or no procedure is described; an answer without steps has no
    alignment and the completeness 0. With `against = "expected_response"` the procedure is the expected response's.
    """

    name = "step_alignment_and_completeness"
    place = 602
    family = "eval-studio-context"
    about = "whether the answer's steps are those of the procedure in the passages, in their order, and all of them"
    reads = ("question", "expected_response", "context", "answer")
    source = f"{H2O_PAGE} (Step Alignment and Completeness)"
    tags = TAGS
    calls = 3.0
    options: StepOptions
    options_type = StepOptions
    default_prompt: ClassVar = PROMPTS / "step_pairs.md"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Two shares, and a count that has no end."""
        return (
            Criterion(ALIGNMENT, threshold=THRESHOLD),
            Criterion(COMPLETENESS, threshold=THRESHOLD),
            Criterion(EDITS, 0.0, inf, lower_is_better=True),
        )

    @cached_property
    def steps_prompt(self) -> Prompt:
        """What lists the steps of an answer. Raises InputError where it cannot be read."""
        return own_prompt(self, self.options.steps_prompt, PROMPTS / "steps.md")

    @cached_property
    def procedure_prompt(self) -> Prompt:
        """What lists the steps in the passages. Raises InputError where it cannot be read."""
        return own_prompt(self, self.options.procedure_prompt, PROMPTS / "procedure.md")

    def steps(self, case: AnswerCase) -> Steps:
        """The steps of both sides, then which is which; the pairs are labels whatever the mode."""
        check_words(case.text, "answer")
        replies = yield [self._listing(case, case.text), self._procedure(case)]
        given, wanted = (_read(side, reply) for side, reply in zip(("answer", "procedure"), replies, strict=True))
        if not wanted:
            raise JudgeFailed(f"{NO_VALUE}no procedure is described")
        verdicts: list[Verdict] = []
        if given:
            labels = tuple(str(number) for number in range(len(wanted) + 1))
            question = ItemQuestion(self.prompt(), labels, labels, "label", "steps", self.options)
            verdicts = yield from verdicts_on(question, [({"query": case.query, "procedure": wanted}, given)])
        return self._rows(case, given, wanted, verdicts)

    def _listing(self, case: AnswerCase, text: str) -> Request:
        return Request(self.steps_prompt.render({"query": case.query, "answer": text}), schema=ListedSteps)

    def _procedure(self, case: AnswerCase) -> Request:
        if self.options.against == "expected_response":
            text = expected_response(case.query)
            if text is None:
                raise JudgeFailed(f"{NO_VALUE}the query has no expected response")
            return self._listing(case, text)
        values = {"query": case.query, "passages": checked_context(case)}
        return Request(self.procedure_prompt.render(values), schema=ListedSteps)

    def _rows(
        self, case: AnswerCase, given: Sequence[str], wanted: Sequence[str], verdicts: Sequence[Verdict]
    ) -> list[Assessment]:
        pairs = [int(verdict.label) for verdict in verdicts]
        values = {
            ALIGNMENT: in_order(pairs) / len(pairs) if pairs else None,
            COMPLETENESS: len({pair for pair in pairs if pair}) / len(wanted),
            EDITS: float(edits(pairs, len(wanted))),
        }
        details = [
            {"step": text, "is": pair or None, "reason": verdict.reason}
            for text, pair, verdict in zip(given, pairs, verdicts, strict=True)
        ]
        details += [{"procedure": text, "number": number} for number, text in enumerate(wanted, 1)]
        return records(self, case, values, {ALIGNMENT: "the answer has no steps"}, details=details)


def in_order(pairs: Sequence[int]) -> int:
    """The length of the longest run of non-zero numbers, gaps allowed, that never falls."""
    ends: list[int] = []
    for pair in pairs:
        if pair:
            place = bisect_right(ends, pair)
            ends[place : place + 1] = [pair]
    return len(ends)


def edits(pairs: Sequence[int], n: int) -> int:
    """The Levenshtein distance of the numbers, of which equal neighbours other than 0 are one, to 1, 2, …, n."""
    merged = [number for number, some in groupby(pairs) for number in (some if number == 0 else [number])]
    row = list(range(n + 1))
    for i, number in enumerate(merged, 1):
        above, row = row, [i]
        for j in range(1, n + 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (number != j)))
    return row[n]


def _read(side: str, reply: Reply) -> list[str]:
    try:
        return list(read_value(reply, ListedSteps).steps)
    except JudgeFailed as error:
        raise JudgeFailed(f"the steps of the {side} could not be had: {error}") from None
