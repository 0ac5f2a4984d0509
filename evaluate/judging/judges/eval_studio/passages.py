"""How good the retrieved passages are: by embeddings, by a judge for each of them, and in Ragas' score.

There is no value where the agent retrieved nothing, or where what is compared holds no words.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import accumulate, chain
from pathlib import Path
from statistics import harmonic_mean
from typing import ClassVar

from pydantic import Field

from ragassay.records import Assessment, Passage

from ....texts.sentences import sentences
from ...engine.cases import AnswerCase, Setup, expected_response
from ...engine.evaluator import NO_VALUE, Criterion, Evaluator, LabelJudge, Options, Steps, records, together
from ...engine.question import Graded, JudgeFailed
from ..claims import Verdict
from .by_embedding import (
    H2O_PAGE,
    NO_YES,
    TAGS,
    THRESHOLD,
    ByEmbedding,
    SentenceOptions,
    YesShare,
    check_words,
    checked_context,
    checked_passages,
    passage_sentences,
)
from .context import Faithfulness
from .question import AnswerRelevancy

FAMILY = "eval-studio-passages"
PROMPTS = Path(__file__).parent / "passages/prompts"
RECALL, PRECISION = "soft_recall", "soft_precision"


class ByPassage(ByEmbedding):
    """What both share: the relevancy of each passage p, that of its nearest sentence.

        r(p) = max over its sentences s of cosine(question, s)

    Sentences of ten characters and fewer are left out, unless a passage has no others. The expected response has no
    part in it. No value where the question holds no words, or a passage does not.
    """

    family = FAMILY
    reads = ("question", "context")
    options_type = SentenceOptions
    options: SentenceOptions

    def passages(self, case: AnswerCase) -> Sequence[Passage]:
        """Those that count, best first."""
        return case.passages

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """The question and the passages' sentences."""
        return [case.query.text, *(one for passage in self.passages(case) for one in self._sentences(passage))]

    def relevancies(self, case: AnswerCase) -> list[float]:
        """r(p) of each passage that counts. Raises JudgeFailed where one has none."""
        checked_passages(case)
        check_words(case.query.text, "question")
        found = []
        for passage in self.passages(case):
            said = self._sentences(passage)
            if not said:
                raise JudgeFailed(f"{NO_VALUE}passage '{passage.id}' holds no words")
            found.append(max(score for score, _ in self.nearest(said, [case.query.text])))
        return found

    def _sentences(self, passage: Passage) -> tuple[str, ...]:
        return passage_sentences(passage.text, self.options.shortest)


class ContextRelevancySoft(ByPassage):
    """soft_recall = max over p of r(p), soft_precision = mean over p of r(p)."""

    name = "context_relevancy_soft"
    place = 705
    about = "how near the retrieved passages are to the question, by embeddings: the nearest, and on average"
    source = f"{H2O_PAGE} (Context Relevancy, soft recall and precision)"
    criteria = (Criterion(RECALL, -1.0, 1.0, threshold=0.75), Criterion(PRECISION, -1.0, 1.0, threshold=0.75))

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The first record's details have the relevancy of each passage."""
        found = self.relevancies(case)
        details = [{"passage": passage.id, "score": score} for passage, score in zip(case.passages, found, strict=True)]
        return records(self, case, {RECALL: max(found), PRECISION: sum(found) / len(found)}, {}, details=details)


class MrrOptions(SentenceOptions):
    """`[evaluate.settings.context_mrr]`. relevant_from: a cosine; depth: how many passages are looked at."""

    relevant_from: float = Field(0.7, ge=-1, le=1)
    depth: int = Field(10, ge=1)


class ContextMrr(ByPassage):
    """1 / rank of the first passage with r(p) >= relevant_from; 0 where none of the first `depth` has that.

    The mean over questions is the MRR. Where the agent retrieved nothing, the source has 0, we have no value.
    """

    name = "context_mrr"
    place = 706
    about = "the reciprocal rank of the first passage with a sentence near the question, by embeddings"
    source = f"{H2O_PAGE} (Context Mean Reciprocal Rank)"
    options_type = MrrOptions
    options: MrrOptions
    criteria = (Criterion(name, threshold=0.75),)

    def passages(self, case: AnswerCase) -> Sequence[Passage]:
        return case.passages[: self.options.depth]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The details name the first relevant passage."""
        for rank, score in enumerate(self.relevancies(case), 1):
            if score >= self.options.relevant_from:
                details = [{"passage": case.passages[rank - 1].id, "rank": rank, "score": score}]
                return [self.assess(case, 1 / rank, details=details)]
        return [self.assess(case, 0.0)]


class ContextPrecision(LabelJudge):
    """One request for each passage, that names neither agent nor answer: agents that retrieved the same pay once.

    Ragas' metric of this name (explodinggradients/ragas), which is H2O Eval Studio's. With v_k = 1 where the passage at
    rank k is of use for the expected response, sum over k of v_k P@k / sum over k of v_k; 0 where none is of use.
    """

    name = "context_precision"
    place = 701
    family = FAMILY
    about = "whether the passages that are of use for the expected response stand first (mean P@k at their ranks)"
    needs = ("expected_response",)
    reads = ("question", "expected_response", "context")
    source = f"{H2O_PAGE} (Context Precision)"
    tags = TAGS
    calls = 5.0
    default_prompt: ClassVar = PROMPTS / "context_precision.md"
    labels = NO_YES
    good_from = THRESHOLD

    def steps(self, case: AnswerCase) -> Steps:
        """Whether each passage is of use, then the precision."""
        passages, question = checked_context(case), self.asked
        values = {"query": case.query, "expected_response": expected_response(case.query) or ""}
        replies = yield [question.request(values | {"passage": passage}) for passage in passages]
        grades: list[Graded] = []
        errors: list[str] = []
        for reply in replies:
            try:
                grades.append(question.read(reply))
            except (JudgeFailed, ValueError) as error:
                errors.append(str(error))
        if errors:
            raise JudgeFailed(f"{len(errors)} of {len(passages)} passages could not be judged: {errors[0]}")
        value = average_precision([bool(grade.label) for grade in grades])
        details = [
            {"passage": passage.id, **Verdict(NO_YES[int(grade.label)], grade.reason, grade.probability).detail()}
            for passage, grade in zip(passages, grades, strict=True)
        ]
        return [self.assess(case, value, details=details)]


def average_precision(useful: Sequence[bool]) -> float:
    """The mean of P@k over the ranks of what is of use; 0 where nothing is."""
    at = [found / rank for rank, found in enumerate(accumulate(map(int, useful)), 1)]
    return sum(p for p, one in zip(at, useful, strict=True) if one) / sum(useful) if any(useful) else 0.0


class ContextRecall(YesShare):
    """One request for each ten sentences of the expected response.

    Ragas' metric of this name: those that the passages together support / all of them.
    """

    name = "context_recall"
    place = 702
    family = FAMILY
    about = "the share of the expected response's sentences that the passages support"
    needs = ("expected_response",)
    reads = ("question", "expected_response", "context")
    source = f"{H2O_PAGE} (Context Recall)"
    what = "sentences"
    default_prompt: ClassVar = PROMPTS / "context_recall.md"

    def steps(self, case: AnswerCase) -> Steps:
        passages, expected = checked_context(case), expected_response(case.query) or ""
        check_words(expected, "expected response")
        texts = sentences(expected)
        (verdicts,) = yield from self.question.verdicts([({"query": case.query, "passages": passages}, texts)])
        return self.share(case, texts, verdicts)


class ContextRelevancy(YesShare):
    """One request for each ten sentences of a passage, that names neither agent nor answer.

    Ragas' metric of this name (Es et al. 2024, arXiv:2309.15217, section 3): sentences of the passages that help to
    answer the question / all their sentences.
    """

    name = "context_relevancy"
    place = 703
    family = FAMILY
    about = "the share of the passages' sentences that help to answer (context_relevance grades whole passages)"
    reads = ("question", "context")
    source = f"{H2O_PAGE} (Context Relevancy); arXiv:2309.15217"
    what = "sentences"
    calls = 5.0
    default_prompt: ClassVar = PROMPTS / "context_relevancy.md"

    def steps(self, case: AnswerCase) -> Steps:
        passages = checked_context(case)
        check_words(" ".join(passage.text for passage in passages), "context")
        cut = [(passage, sentences(passage.text)) for passage in passages]
        groups = [({"query": case.query, "title": passage.title}, texts) for passage, texts in cut]
        verdicts = yield from self.question.verdicts(groups)
        texts = [text for _, texts in cut for text in texts]
        return self.share(case, texts, list(chain.from_iterable(verdicts)))


class RagasScore(Evaluator):
    """The requests of its four parts, side by side; the harmonic mean of their values F, AR, CP and CR.

        4 / (1/F + 1/AR + 1/CP + 1/CR)

    H2O Eval Studio's "Ragas" evaluator, after Es et al. 2024 (arXiv:2309.15217). A part that is 0, or below it as a
    cosine may be, makes the score 0, the limit of the harmonic mean; a part without a value leaves it without one. The
    parts are asked exactly as the evaluators of their names ask, by what `[evaluate.settings]` sets of these, whether
    they judge by themselves or not; so beside them it costs nothing.
    """

    name = "ragas_score"
    place = 704
    family = FAMILY
    about = "the harmonic mean of faithfulness, answer_relevancy, context_precision and context_recall"
    needs = ("expected_response",)
    reads = ("question", "expected_response", "context", "answer")
    source = f"{H2O_PAGE} (Ragas); arXiv:2309.15217"
    tags = TAGS
    calls = 9.0
    criteria = (Criterion(name, threshold=THRESHOLD),)
    made_of = (Faithfulness, AnswerRelevancy, ContextPrecision, ContextRecall)

    def __init__(self, setup: Setup, options: Options | None = None, parts: Sequence[Evaluator] | None = None) -> None:
        """parts: the four evaluators; without them, those of default settings."""
        super().__init__(setup, options)
        self.parts = tuple(parts) if parts is not None else tuple(kind(setup) for kind in self.made_of)

    def check_at_hand(self) -> None:
        """Raises InputError where a part lacks a model of its own."""
        for part in self.parts:
            part.check_at_hand()

    def steps(self, case: AnswerCase) -> Steps:
        """All parts at once, then their harmonic mean."""
        made = yield from together([_steps_of(part, case) for part in self.parts], "parts")
        values = {
            part.name: next(float(row.label) for row in rows if row.criterion == part.name and row.label is not None)
            for part, rows in zip(self.parts, made, strict=True)
        }
        return [self.assess(case, harmonic(list(values.values())), details=[values])]


def harmonic(values: list[float]) -> float:
    """The harmonic mean; 0 as soon as a value is 0 or below."""
    return harmonic_mean([max(0.0, value) for value in values])


def _steps_of(part: Evaluator, case: AnswerCase) -> Steps:
    """The steps of a part, also where it asks nothing or prepares its cases."""
    part.prepare([case])
    made = part.steps(case)
    return (yield from made) if isinstance(made, Generator) else made
