"""Citations: each sentence of the answer against the passages that it cites.

The support evaluation of the TREC 2024 RAG track (Thakur et al. 2025, arXiv:2504.15205), as in Open RAG Eval's
`citation_metric.py` (https://github.com/vectara/open-rag-eval): full support weighs 1, partial 0.5, none 0.

- citation_precision: the mean weight of the citations, each passage against its sentence alone;
- citation_recall: the mean weight of the sentences that state something, each against all that it cites together;
- citation_f1: their harmonic mean.

All citations are judged, and what two cited passages support only together counts for the sentence. Sentences that
state nothing ("I could not find it.") count in neither; which these are, the model says. [1] is the first of the
passages that the answer's record names; a number beyond them is a citation that supports nothing. An answer that states
nothing has no value; one without citations has no precision, and recall and F1 are 0.

Beside them stands what Open RAG Eval computes, under its names, from each citation of each sentence by itself, whether
the sentence states something or not; a citation of no passage is passed over:

- weighted_precision: the mean weight of a passage's citations, and of these the mean over passages; 0 without any;
- weighted_recall: the mean weight of a sentence's citations (0 without any), and of these the mean over sentences,
  without those that only cite what is not there;
- weighted_f1: their harmonic mean (`f1` there), 0 where both are 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from ragassay.models.requests import Reply
from ragassay.records import Assessment

from ...texts.sentences import cited, sentences, without_citations
from ..engine.cases import AnswerCase
from ..engine.evaluator import Criterion, Evaluator, Options, Steps, f1, own_prompt, records
from ..engine.question import Graded, JudgeFailed, LabelQuestion
from . import PROMPTS
from .claims import ItemQuestion

OURS = ("citation_precision", "citation_recall", "citation_f1")
THEIRS = ("weighted_precision", "weighted_recall", "weighted_f1")
LABELS = ("none", "partial", "full")
TOKENS = ("0", "1", "2")


class CitationOptions(Options):
    """statements_prompt: a file of the user's own in place of the prompt that says which sentences state something."""

    statements_prompt: str | None = None


@dataclass(frozen=True)
class Statement:
    """A sentence without its citations, the numbers that it cites, and whether it states something."""

    text: str
    numbers: tuple[int, ...]
    states: bool

    def within(self, n: int) -> tuple[int, ...]:
        """The numbers that are one of 1 to n."""
        return tuple(number for number in self.numbers if 1 <= number <= n)


class Question(NamedTuple):
    """A statement, by its place, against the passages of these numbers together."""

    place: int
    numbers: tuple[int, ...]


class Citations(Evaluator):
    """One request for which sentences state something; then one for each citation, and one for several together."""

    name = "citations"
    place = 303
    calls = 4.0
    family = "open-rag-eval"
    about = "how far the cited passages support the answer's sentences"
    reads = ("context", "answer")
    source = "TREC 2024 RAG (Thakur et al. 2025, arXiv:2504.15205)"
    tags = ("valid and reliable", "accountable and transparent", "explainable and interpretable", "outcomes analysis")
    options: CitationOptions
    options_type = CitationOptions
    default_prompt: ClassVar = PROMPTS / "citations.md"
    criteria = tuple(map(Criterion, (*OURS, *THEIRS)))

    def steps(self, case: AnswerCase) -> Steps:
        """Which sentences state something, then what their citations are worth."""
        texts = sentences(case.text)
        if not texts:
            names = (*OURS, *THEIRS)
            return records(self, case, dict.fromkeys(names), dict.fromkeys(names, "the answer has no sentence"))
        shown = [without_citations(text) for text in texts]
        (verdicts,) = yield from self.which.verdicts([({"query": case.query}, shown)])
        said = [
            Statement(clean, cited(text), verdict.label == "yes")
            for text, clean, verdict in zip(texts, shown, verdicts, strict=True)
        ]
        n, ids = len(case.answer.passages), case.answer.passages
        questions = []  # each citation by itself, and all of a sentence that states something where there are more
        for place, one in enumerate(said):
            numbers = one.within(n)
            questions += [Question(place, (number,)) for number in numbers]
            questions += [Question(place, numbers)] if one.states and len(numbers) > 1 else []
        known = {passage.id: passage for passage in case.passages}
        passages = {number: known.get(ids[number - 1]) for question in questions for number in question.numbers}
        if missing := [ids[number - 1] for number, passage in passages.items() if passage is None]:
            raise JudgeFailed(f"the text of the cited passage '{missing[0]}' is not there")
        values = {"query": case.query, "answer": case.text}
        requests = [
            self.support.request(
                values | {"passages": tuple(map(passages.get, one.numbers)), "sentence": said[one.place].text}
            )
            for one in questions
        ]
        replies = (yield requests) if questions else []
        return self._rows(case, said, self._grades(questions, replies))

    @cached_property
    def which(self) -> ItemQuestion:
        """Which sentences state something. Raises InputError where the prompt cannot be read."""
        prompt = own_prompt(self, self.options.statements_prompt, PROMPTS / "citation_statements.md")
        return ItemQuestion(prompt, ("no", "yes"), ("no", "yes"), "label", "sentences")

    @cached_property
    def support(self) -> LabelQuestion:
        """How far a statement is supported. Raises InputError where the prompt cannot be read."""
        labels = TOKENS if self.setup.mode == "probability" else LABELS
        return LabelQuestion(self.prompt(), labels, self.setup.mode, self.options.criteria, self.options.examples)

    def _grades(self, questions: Sequence[Question], replies: Sequence[Reply]) -> dict[Question, Graded]:
        """Raises JudgeFailed where a reply has none."""
        asked, grades, errors = self.support, {}, []
        for question, reply in zip(questions, replies, strict=True):
            try:
                grades[question] = asked.read(reply)
            except JudgeFailed as error:
                errors.append(str(error))
        if errors:
            raise JudgeFailed(f"{len(errors)} of {len(questions)} citations could not be judged: {errors[0]}")
        return grades

    def _rows(self, case: AnswerCase, said: Sequence[Statement], grades: Mapping[Question, Graded]) -> list[Assessment]:
        n = len(case.answer.passages)
        stated = [(place, one) for place, one in enumerate(said) if one.states]
        each = [_weight(grades, Question(i, (number,))) for i, one in stated for number in one.numbers]
        whole = [_weight(grades, Question(i, one.within(n))) for i, one in stated]
        precision, recall = (sum(weights) / len(weights) if weights else None for weights in (each, whole))
        values = dict(zip(OURS, (precision, recall, f1(precision, recall)), strict=True)) | _theirs(case, said, grades)
        nothing = "the answer cites nothing" if stated else "the answer states nothing"
        details = [
            {
                "sentence": one.text,
                "support": _weight(grades, whole),
                "reason": grades[whole].reason if whole in grades else None,
                "citations": [_citation(place, number, grades) for number in one.numbers],
            }
            for place, one in stated
            for whole in [Question(place, one.within(n))]
        ]
        return records(self, case, values, dict.fromkeys(OURS, nothing), details=details)


def _weight(grades: Mapping[Question, Graded], question: Question) -> float:
    """0, 0.5 or 1; 0 for what was not asked because no such passage is there."""
    return grades[question].label / 2 if question in grades else 0.0


def _theirs(case: AnswerCase, said: Sequence[Statement], grades: Mapping[Question, Graded]) -> dict[str, float]:
    """Open RAG Eval's figures, from every citation by itself."""
    ids = case.answer.passages
    by_passage: dict[str, list[float]] = {}
    by_sentence: list[list[float]] = []
    for place, one in enumerate(said):
        weights = {number: _weight(grades, Question(place, (number,))) for number in one.within(len(ids))}
        for number, weight in weights.items():
            by_passage.setdefault(ids[number - 1], []).append(weight)
        by_sentence += [list(weights.values())] if weights or not one.numbers else []
    precision, recall = (_mean_of_means(groups) for groups in (by_passage.values(), by_sentence))
    return dict(zip(THEIRS, (precision, recall, f1(precision, recall) or 0.0), strict=True))


def _mean_of_means(groups: Collection[Sequence[float]]) -> float:
    """The mean over groups of their means; of an empty one, and where there are none, 0."""
    return sum(sum(one) / len(one) for one in groups if one) / len(groups) if groups else 0.0


def _citation(place: int, number: int, grades: Mapping[Question, Graded]) -> dict[str, object]:
    question = Question(place, (number,))
    grade = grades.get(question)
    reason = "there is no such passage" if grade is None else grade.reason
    probability = {} if grade is None or grade.probability is None else {"probability": grade.probability}
    return {"number": number, "support": _weight(grades, question), "reason": reason, **probability}
