"""Whether an answer is true: to the golden answer, claim by claim (factual correctness), and to the passages.

Hallucination: how far the retrieved passages entail the answer, by a cross-encoder; 1 is consistent, 0 is not. After
the zero-shot form of SummaC (Laban et al. 2022, TACL 10, doi:10.1162/tacl_a_00453, section 3): the answer is cut into
sentences, each is held against every window of the passages, and the score is

    mean over sentences s of max over windows w of P(w entails s).

Our windows are longer than the paper's sentences: `window_tokens` for premise and hypothesis together, the premise's
windows overlapping by a quarter, so that nothing is cut off and a sentence that rests on two passages finds both where
they fit. With hypothesis = "answer" the answer is held against them whole (in pieces where it is too long).

With hypothesis = "whole" the score is Open RAG Eval's `hhem_score` (vectara/open-rag-eval, `hallucination_metric.py` in
metrics): one pass over the passages, joined by spaces and cut off after 8,192 characters, and the answer's sentences,
joined by spaces. What is longer than the model takes, the model's own tokenizer cuts.

With hypothesis = "passage" it is H2O Eval Studio's `hallucination` (h2oai/h2o-sonar, `rag_hallucination_evaluator.py`):
max over passages p of P(p entails the answer), each pair in one pass, cut by the model's own tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ragassay.errors import InputError
from ragassay.models.encoders import check_encoder
from ragassay.models.requests import Request
from ragassay.records import Assessment

from ...texts.by_model import OVERLAP_SHARE, SPARE, CrossEncoder, Source, load_cross_encoder
from ...texts.sentences import sentences, windows
from ..engine.cases import AnswerCase, expected_response
from ..engine.evaluator import (
    NO_VALUE,
    Criterion,
    Evaluator,
    Options,
    Steps,
    check_passages,
    f1,
    further_prompt,
    records,
)
from ..engine.question import Strict, read_value, text_or
from ..judges import PROMPTS
from .claims import ItemQuestion

LABELS = ("contradicted", "neutral", "entailed")
SIDES = ("answer", "expected_response")


class Claims(Strict):
    """The claims of a text, in its order."""

    claims: list[Annotated[str, text_or("the claim is empty")]]


class FactualOptions(Options):
    """claims_prompt: a file of the user's own in place of the prompt that takes a text apart."""

    claims_prompt: str | None = None


class FactualCorrectness(Evaluator):
    """Two requests for the claims of the texts, then those that judge them, in batches of ten.

    Open RAG Eval, `FactualCorrectnessMetric` in `open_rag_eval/metrics/golden_answer_metrics.py`
    (https://github.com/vectara/open-rag-eval), after Ragas' metric of the same name: both texts are taken apart into
    claims, and each claim is entailed by, contradicts, or is neutral to the other text.
    - factual_precision: the share of the answer's claims that the golden answer entails;
    - factual_recall: the share of the golden answer's claims that the answer entails;
    - factual_f1: their harmonic mean.
    A text that claims nothing has no share; F1 is then 0 if the other share is 0, else no value. There all three are 0
    as soon as one of the texts has no claim. Ragas counts the true positives of its recall on the answer's side.
    """

    name = "factual_correctness"
    place = 307
    calls = 6.0
    family = "open-rag-eval"
    about = "claims of the answer in the golden answer (precision), and the other way round (recall)"
    reads = ("expected_response", "answer")
    source = "Open RAG Eval (vectara/open-rag-eval); Ragas"
    tags = ("valid and reliable", "conceptual soundness", "outcomes analysis")
    needs = ("expected_response",)
    options: FactualOptions
    options_type = FactualOptions
    default_prompt: ClassVar = PROMPTS / "factual_correctness.md"
    criteria = tuple(map(Criterion, ("factual_precision", "factual_recall", "factual_f1")))
    claims_prompt = further_prompt("claims_prompt", PROMPTS / "factual_claims.md")
    """What takes a text apart."""

    def steps(self, case: AnswerCase) -> Steps:
        """The claims of both texts, then the verdicts on both lists at once."""
        texts = (case.text, expected_response(case.query) or "")
        prompts = [self.claims_prompt.render({"query": case.query, "answer": text}) for text in texts]
        replies = yield [Request(prompt, schema=Claims) for prompt in prompts]
        sides = [
            list(dict.fromkeys(read_value(reply, Claims, f"the claims of the {side} could not be had").claims))
            for side, reply in zip(SIDES, replies, strict=True)
        ]
        other = reversed(texts)
        groups = [({"query": case.query, "text": text}, claims) for text, claims in zip(other, sides, strict=True)]
        verdicts = yield from self.question.verdicts(groups)
        entailed = [[verdict.label == "entailed" for verdict in side] for side in verdicts]
        precision, recall = (sum(side) / len(side) if side else None for side in entailed)
        none = {"factual_precision": "the answer makes no claim", "factual_recall": "the golden answer makes no claim"}
        none["factual_f1"] = none["factual_precision" if precision is None else "factual_recall"]
        details = [
            {"of": name, "claim": claim, **verdict.detail()}
            for name, claims, found in zip(SIDES, sides, verdicts, strict=True)
            for claim, verdict in zip(claims, found, strict=True)
        ]
        values = {"factual_precision": precision, "factual_recall": recall, "factual_f1": f1(precision, recall)}
        return records(self, case, values, none, details=details)

    @cached_property
    def question(self) -> ItemQuestion:
        """What a text has of claims. Raises InputError where the prompt cannot be read."""
        return ItemQuestion(self.prompt(), LABELS, ("0", "1", "2"), self.setup.mode, "claims", self.options)


HYPOTHESIS_SHARE = 0.25
"""The part of a window that is kept for the hypothesis; a longer sentence is cut into pieces."""

MOST_CHARACTERS = 8192
"""Where the passages are cut off for one pass over the whole text."""


class HallucinationOptions(Options):
    """`[evaluate.settings.hallucination]`.

    model: a folder or a hub name. entailment: the index of its class that is entailment, where its labels do not say.
    window_tokens: of premise and hypothesis together. hypothesis: what is held against a window at a time.
    """

    model: str = Field("vectara/hallucination_evaluation_model", min_length=1)
    revision: str | None = None
    trust_remote_code: bool = False
    entailment: int | None = Field(None, ge=0)
    window_tokens: int = Field(512, ge=32)
    hypothesis: Literal["sentence", "answer", "whole", "passage"] = "sentence"


class _Cut(NamedTuple):
    """An answer's pieces and the windows of its passages."""

    pieces: tuple[str, ...]
    premises: tuple[str, ...]


class Hallucination(Evaluator):
    """Scores each answer against all passages that its agent retrieved."""

    name = "hallucination"
    place = 304
    calls = 0.0
    family = "open-rag-eval"
    about = "how far the passages entail the answer, by a cross-encoder; 1 is consistent"
    reads = ("context", "answer")
    asks = "model"
    source = "SummaC (Laban et al. 2022, TACL 10); Open RAG Eval"
    tags = ("valid and reliable", "explainable and interpretable", "ongoing monitoring", "outcomes analysis")
    options_type = HallucinationOptions
    options: HallucinationOptions

    @property
    def judge(self) -> str:
        return self._source.told

    @property
    def _source(self) -> Source:
        chosen = self.options
        return Source(chosen.model, chosen.revision, chosen.trust_remote_code, chosen.entailment)

    @cached_property
    def model(self) -> CrossEncoder:
        """The cross-encoder, loaded when first used. Raises InputError."""
        return load_cross_encoder(self._source)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no cross-encoder."""
        check_encoder(self.options.model, self.name)

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Score every distinct pair of all cases, in batches of like length."""
        self._cuts = {self._key(case): self._cut(case) for case in cases if case.passages}
        distinct = {pair for cut in self._cuts.values() for pair in product(cut.premises, cut.pieces)}
        pairs = sorted(distinct, key=lambda pair: (len(pair[0] + pair[1]), pair))
        scores = self.model.scores(pairs) if pairs else np.zeros(0)
        self._scores = {pair: float(score) for pair, score in zip(pairs, scores, strict=True)}

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests: everything was scored before. Raises JudgeFailed without the passages' texts."""
        check_passages(case)
        if not case.passages:
            return [self.fail(case, NO_VALUE + "the agent retrieved no passage")]
        cut = self._cuts[self._key(case)]
        if not cut.pieces or not cut.premises:
            empty = "passages hold" if cut.pieces else "answer holds"
            return [self.fail(case, f"{NO_VALUE}the {empty} no words")]
        details = []
        for piece in cut.pieces:
            scores = [self._scores[premise, piece] for premise in cut.premises]
            if not np.isfinite(scores).all():
                raise ValueError(f"{self.judge} gives no number")
            best = int(np.argmax(scores))
            details.append({"hypothesis": piece, "score": scores[best], "window": best + 1, "windows": len(scores)})
        return [self.assess(case, float(np.mean([d["score"] for d in details])), details=details)]

    def _cut(self, case: AnswerCase) -> _Cut:
        given, texts = self.options.hypothesis, [passage.text for passage in case.passages]
        if given == "passage":
            return _Cut((case.text,) if case.text.strip() else (), tuple(text for text in texts if text.strip()))
        if given == "whole":  # one pair; none where one side holds no words
            sides = " ".join(sentences(case.text)), " ".join(texts)[:MOST_CHARACTERS]
            return _Cut(*((text,) if text.strip() else () for text in sides))
        limit = self.model.limit
        size = min(self.options.window_tokens, limit) if limit else self.options.window_tokens
        room = size - self.model.overhead() - SPARE
        hypothesis = int(room * HYPOTHESIS_SHARE)
        if hypothesis < 1:
            remedy = "set a larger window_tokens under [evaluate.settings.hallucination] or take another model"
            raise InputError(f"a window of {size} tokens leaves {self.judge} no room for a text", remedy=remedy)
        premise, tokenizer = room - hypothesis, self.model.tokenizer
        whole = sentences(case.text) if given == "sentence" else (case.text.strip(),)
        return _Cut(
            tuple(piece for one in whole for piece in windows(one, tokenizer, hypothesis)),
            tuple(windows("\n\n".join(texts), tokenizer, premise, int(premise * OVERLAP_SHARE))),
        )

    @staticmethod
    def _key(case: AnswerCase) -> tuple[str, str]:
        return case.query.id, case.subject
