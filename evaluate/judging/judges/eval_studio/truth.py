"""The answer against the expected response: claims, sentences, vectors, n-grams, words, and the name of a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, field_validator

from ragassay.errors import needing
from ragassay.models.encoders import check_encoder
from ragassay.records import Assessment, Query

from ....texts.by_model import CrossEncoder, Pair, Source, load_cross_encoder
from ....texts.sentences import ROUGES, Words, check_at_hand, n_tokens, rouge
from ...engine.cases import AnswerCase, expected_response
from ...engine.evaluator import NO_VALUE, Criterion, Evaluator, Options, Rule, Steps, records
from ...engine.question import JudgeFailed
from ..factual import FactualCorrectness, FactualOptions
from .by_embedding import (
    H2O_PAGE,
    TAGS,
    THRESHOLD,
    ByEmbedding,
    EmbeddingOptions,
    SentenceOptions,
    answer_sentences,
    check_words,
    checked_answer,
    has_words,
)


class GoldenSimilarity(ByEmbedding):
    """Compares each answer with `metadata.expected_response`: the cosine of the two.

    As Open RAG Eval's `semantic_similarity` (vectara/open-rag-eval, metrics/golden_answer_metrics.py). The embedding is
    the experiment's. Both texts are answers, so both get the same prefix, and what is longer than the model reads is
    embedded in stretches (`evaluate/texts/by_model.py`).
    """

    name = "golden_similarity"
    place = 306
    family = "open-rag-eval"
    about = "how near the answer is to the expected response, by embeddings"
    reads = ("expected_response", "answer")
    source = "Open RAG Eval (vectara/open-rag-eval)"
    tags = ("valid and reliable", "outcomes analysis")
    needs = ("expected_response",)
    options_type = Options
    criteria = (Criterion(name, -1.0, 1.0, threshold=0.75),)

    @property
    def embedding(self) -> str:
        """The experiment's."""
        return self.setup.embedding

    def texts(self, case: AnswerCase) -> tuple[str, str]:
        return case.text, expected_response(case.query) or ""

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests: everything is embedded at once."""
        return [self.assess(case, self.embedded.cosine(*self.texts(case)))]


Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class AnswerCorrectnessOptions(FactualOptions):
    """weights: of the claims' F1 and of the similarity; their mean is taken by them, whatever their sum."""

    weights: tuple[Weight, Weight] = (0.75, 0.25)

    @field_validator("weights")
    @classmethod
    def _some(cls, weights: tuple[float, float]) -> tuple[float, float]:
        if sum(weights) == 0:
            raise ValueError("weights are both 0")
        return weights


class AnswerCorrectnessClaims(Evaluator):
    """factual_correctness's requests, then the embeddings of the two texts.

        correctness = 0.75 F1 + 0.25 similarity,    F1 = TP / (TP + 0.5 (FP + FN))

    H2O Eval Studio's "answer correctness", which is Ragas' (`_answer_correctness.py` in explodinggradients/ragas). TP
    are the answer's claims that the expected response entails, FP its other claims, FN the expected response's claims
    that the answer does not entail. The similarity is golden_similarity's cosine, a negative one taken as 0. Claims and
    verdicts are asked for as factual_correctness does, so that both cost one of them. An answer that claims nothing has
    F1 = 0; there is no value where the answer holds no words, or the expected response makes no claim.
    """

    name = "answer_correctness_claims"
    place = 401
    family = "eval-studio-truth"
    about = "0.75 F1 of claims + 0.25 similarity to the expected response (answer_correctness is the pointwise judge's)"
    needs = ("expected_response",)
    reads = ("question", "expected_response", "answer")
    source = f"{H2O_PAGE} (Answer Correctness)"
    tags = TAGS
    calls = 6.0
    options_type = AnswerCorrectnessOptions
    options: AnswerCorrectnessOptions
    criteria = (Criterion(name, threshold=THRESHOLD),)

    @cached_property
    def factual(self) -> FactualCorrectness:
        """Whose claims and verdicts are counted."""
        return FactualCorrectness(self.setup, self.options)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no embedding model and the similarity counts."""
        if self.options.weights[1]:
            check_encoder(self.setup.embedding, self.name)

    def steps(self, case: AnswerCase) -> Steps:
        """The claims of both texts, the verdicts, then the similarity."""
        check_words(case.text, "answer")
        rows = yield from self.factual.steps(case)
        claims = rows[0].details
        if not any(claim["of"] == "expected_response" for claim in claims):
            raise JudgeFailed(f"{NO_VALUE}the expected response makes no claim")
        parts = (claims_f1(claims), self._cosine(case))
        value = sum(w * part for w, part in zip(self.options.weights, parts, strict=True)) / sum(self.options.weights)
        return [self.assess(case, value, details=[{"f1": parts[0], "similarity": parts[1]}, *claims])]

    def _cosine(self, case: AnswerCase) -> float:
        if not self.options.weights[1]:
            return 0.0
        embedded, texts = self.setup.embedded(self.setup.embedding), _pair(case)
        embedded.add(texts)
        try:
            return max(0.0, embedded.cosine(*texts))
        except ValueError as error:
            raise JudgeFailed(f"{NO_VALUE}{error}") from None


def claims_f1(claims: Sequence[Mapping[str, Any]]) -> float:
    """TP / (TP + 0.5 (FP + FN)) of claims with `of` and `label`, at least one of them."""
    true = sum(one["of"] == "answer" and one["label"] == "entailed" for one in claims)
    false = sum(one["of"] == "answer" and one["label"] != "entailed" for one in claims)
    missed = sum(one["of"] == "expected_response" and one["label"] != "entailed" for one in claims)
    return true / (true + 0.5 * (false + missed)) if true else 0.0


MOST = 100


def references(query: Query) -> list[str]:
    """The lines of `metadata.expected_response` that are not blank, each once; empty where there are none.

    Raises JudgeFailed for more than 100 of them.
    """
    lines = (expected_response(query) or "").splitlines()
    found = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if len(found) > MOST:
        raise JudgeFailed(f"no value: the expected response has {len(found):,} lines, and at most {MOST} are compared")
    return found


ORDERS = (1, 2, 3, 4)


class ByReferences(Rule):
    """Holds an answer against each line of `metadata.expected_response` by itself, and asks no model."""

    family = "eval-studio-truth"
    needs = ("expected_response",)
    reads = ("expected_response", "answer")
    tags = ("valid and reliable", "outcomes analysis")


class BleuOptions(Options):
    """tokenize: sacrebleu's tokenizer; "char" or "zh" for what is written without spaces, "intl" for Unicode marks."""

    tokenize: Literal["13a", "intl", "char", "zh", "none"] = "13a"


class Bleu(ByReferences):
    """Counts the n-grams that an answer shares with the expected response.

    Each is sacrebleu's sentence BLEU with as many n-grams as its number, exponential smoothing and effective order, as
    sacrebleu advises for sentences: orders that a short answer has no n-gram of are left out. On 0 to 1, where
    sacrebleu has 0 to 100. Every line of `metadata.expected_response` is a reference of its own.
    """

    name = "bleu"
    place = 404
    about = "the n-grams that the answer shares with the expected response, n up to 1, 2, 3 and 4; asks no model"
    by = "sacrebleu"
    source = "H2O Eval Studio, BLEU; Papineni et al. 2002; sacrebleu (Post 2018)"
    options: BleuOptions
    options_type = BleuOptions
    criteria = tuple(Criterion(f"bleu_{order}", threshold=0.75) for order in ORDERS)

    @cached_property
    def scorer(self) -> Any:
        """sacrebleu's of the highest order, whose counts are those of the others too. Raises MissingExtra."""
        with needing("bleu needs {}, which", "evaluators"):
            from sacrebleu.metrics.bleu import BLEU
        return BLEU(max_ngram_order=ORDERS[-1], effective_order=True, tokenize=self.options.tokenize)

    def check_at_hand(self) -> None:
        self.scorer  # noqa: B018  (loaded here, before any model is asked)

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each order; errors where the answer has no token."""
        found = self.scorer.sentence_score(case.text, references(case.query))
        names = [criterion.name for criterion in self.criteria]
        if not found.sys_len:
            return [self.fail(case, f"{NO_VALUE}the answer has no word", criterion=name) for name in names]
        rows = []
        for order, name in zip(ORDERS, names, strict=True):
            counted = found.counts[:order], found.totals[:order], found.sys_len, found.ref_len
            rule = {"smooth_method": "exp", "effective_order": True, "max_ngram_order": order}
            made = self.scorer.compute_bleu(*counted, **rule)
            rows.append(self.assess(case, float(min(made.score / 100, 1.0)), criterion=name))
        return rows


_AROUND = " \t\r\n\"'`*_.\u2018\u2019\u201c\u201d\u00ab\u00bb\u3002"


class ClassificationOptions(Options):
    """classes: the names of the classes; empty: whatever the run expects."""

    classes: tuple[str, ...] = ()


class Classification(ByReferences):
    """1 where an answer names the class that `metadata.expected_response` names (any of its lines), and else 0.

    Names are compared in lower case without the space, quotation marks, asterisks and full stop around them. The
    classes are those of the option `classes`, or else all that the run expects; an answer that is none of them is
    wrong, of whatever class it should have been. `details` keep both classes, from which `evaluate/figures/classes.py`
    makes accuracy, precision, recall and F1 of a whole run.
    """

    name = "classification"
    place = 406
    about = "whether the answer is the expected class; of a run accuracy, precision, recall and F1; asks no model"
    by = "expected_response"
    source = "H2O Eval Studio, classification; scikit-learn's precision_recall_fscore_support"
    options: ClassificationOptions
    options_type = ClassificationOptions
    criteria = (Criterion(name, threshold=0.5),)

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """One record; an error where the expected response is none of the classes that the options name."""
        given = class_of(case.text)
        expected = [class_of(line) for line in references(case.query)]
        classes = {class_of(name) for name in self.options.classes}
        if classes and not classes.issuperset(expected):
            return [self.fail(case, f"{NO_VALUE}the expected response is none of the classes that are set")]
        right = given in expected
        detail = {"expected": given if right else expected[0], "given": given, "classes": sorted(classes)}
        return [self.assess(case, float(right), details=[detail])]


def class_of(text: str) -> str:
    """A class's name as it is compared."""
    return " ".join(text.split()).strip(_AROUND).casefold()


_NAMES = {"rouge1": "rouge_1", "rouge2": "rouge_2", "rougeL": "rouge_l"}


class Rouge(ByReferences):
    """Counts the words, pairs of words and words in order that an answer shares with the expected response.

    Words are runs of letters and digits of any script, without stemming. Every line of `metadata.expected_response` is
    a reference of its own, and the best one counts, as in rouge-score's `score_multi`.
    """

    name = "rouge"
    place = 405
    about = "the words, pairs of words and longest sequence shared with the expected response, F1; asks no model"
    by = "rouge-score"
    source = "H2O Eval Studio, ROUGE; Lin 2004; rouge-score"
    criteria = tuple(Criterion(name, threshold=0.75) for name in _NAMES.values())

    def check_at_hand(self) -> None:
        check_at_hand()

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each; an error where the answer has no word, or neither text a pair of words."""
        values: dict[str, float | None] = dict.fromkeys(_NAMES.values())
        if Words().tokenize(case.text):
            found = [rouge(reference, case.text) for reference in references(case.query)]
            for name in ROUGES:
                values[_NAMES[name]] = max((v for one in found if (v := one[name]) is not None), default=None)
        return records(self, case, values, dict.fromkeys(values, "there are too few words"))


MEAN, LEAST = "sentence_similarity_mean", "sentence_similarity_min"


class EverySentence(SentenceOptions):
    """`[evaluate.settings.sentence_similarity]`, by which every sentence counts."""

    shortest: int = 1


class SentenceSimilarity(ByEmbedding):
    """Compares the sentences A of each answer with those E of `metadata.expected_response`.

        mean, or min, over a in A of max over e in E of cosine(a, e)

    H2O Eval Studio's "answer semantic sentence similarity" (mean and min answer similarity). No sentence is left out as
    too short, unless the settings say so. There is no value where a text holds no words.
    """

    name = "sentence_similarity"
    place = 403
    family = "eval-studio-truth"
    about = "each sentence of the answer against the nearest one of the expected response: the mean, and the least"
    needs = ("expected_response",)
    reads = ("expected_response", "answer")
    source = f"{H2O_PAGE} (Answer Semantic Sentence Similarity)"
    options_type = EverySentence
    options: EverySentence
    criteria = (Criterion(MEAN, -1.0, 1.0, threshold=0.75), Criterion(LEAST, -1.0, 1.0, threshold=0.75))

    def texts(self, case: AnswerCase) -> Sequence[str]:
        return [*answer_sentences(case.text, self.options.shortest), *self._expected(case)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The first record's details name the sentence of the answer that is least like any expected."""
        said, expected = checked_answer(case, self.options.shortest), self._expected(case)
        if not expected:
            raise JudgeFailed(NO_VALUE + "the expected response is too short to embed")
        near = self.nearest(said, expected)
        scores = [score for score, _ in near]
        least = int(np.argmin(scores))
        details = [{"sentence": said[least], "score": scores[least], "nearest": near[least][1]}]
        return records(self, case, {MEAN: float(np.mean(scores)), LEAST: scores[least]}, {}, details=details)

    def _expected(self, case: AnswerCase) -> tuple[str, ...]:
        return answer_sentences(expected_response(case.query) or "", self.options.shortest)


class SimilarityOptions(EmbeddingOptions):
    """`[evaluate.settings.semantic_similarity]`.

    cross_encoder: a folder or a hub name, in place of the embedding. revision, trust_remote_code, entailment: of the
    cross-encoder; the last is the index of the class that says that the texts mean the same, where it has several.
    """

    cross_encoder: str | None = Field(None, min_length=1)
    revision: str | None = None
    trust_remote_code: bool = False
    entailment: int | None = Field(None, ge=0)


class SemanticSimilarity(ByEmbedding):
    """Compares each answer with `metadata.expected_response`, each of them whole.

    H2O Eval Studio's "answer semantic similarity", which is Ragas': the cosine of both embeddings, -1 to 1, or what a
    cross-encoder for semantic similarity gives for the two, 0 to 1 (Risch et al. 2021, arXiv:2108.06130). There is no
    value where one of the texts holds no words, or where a cross-encoder would have to cut the pair off.
    """

    name = "semantic_similarity"
    place = 402
    family = "eval-studio-truth"
    about = "how near the answer is to the expected response, each whole: cosine of embeddings, or a cross-encoder"
    needs = ("expected_response",)
    reads = ("expected_response", "answer")
    source = f"{H2O_PAGE} (Answer Semantic Similarity); arXiv:2108.06130"
    options_type = SimilarityOptions
    options: SimilarityOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The cosine, or the cross-encoder's score, which begins at 0."""
        return (Criterion(self.name, 0.0 if self.options.cross_encoder else -1.0, 1.0, threshold=0.75),)

    @property
    def judge(self) -> str:
        """The embedding model, or the cross-encoder with its revision where one is set."""
        return self._source.told if self.options.cross_encoder else self.embedding

    @property
    def _source(self) -> Source:
        chosen = self.options
        named = chosen.cross_encoder or "", chosen.revision, chosen.trust_remote_code, chosen.entailment
        return Source(*named, evaluator=self.name, option="cross_encoder")

    @cached_property
    def cross_encoder(self) -> CrossEncoder:
        """The cross-encoder, loaded when first used. Raises InputError."""
        return load_cross_encoder(self._source)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no such model."""
        check_encoder(self.options.cross_encoder or self.embedding, self.name)

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Note all texts, or score all distinct pairs, in batches of like length."""
        if not self.options.cross_encoder:
            return super().prepare(cases)
        pairs = sorted({_pair(case) for case in cases}, key=lambda pair: (len(pair[0] + pair[1]), pair))
        fitting = [pair for pair in pairs if all(map(has_words, pair)) and self._fits(pair)]
        scores = self.cross_encoder.scores(fitting).tolist() if fitting else []
        self._scores: dict[Pair, float] = dict(zip(fitting, scores, strict=True))
        return None

    def texts(self, case: AnswerCase) -> Sequence[str]:
        return [text for text in _pair(case) if has_words(text)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. Raises JudgeFailed where one of the texts holds no words, or both are too long."""
        expected, answer = _pair(case)
        check_words(answer, "answer")
        check_words(expected, "expected response")
        if not self.options.cross_encoder:
            return [self.assess(case, self.nearest([answer], [expected])[0][0])]
        if (expected, answer) not in self._scores:
            limit = self.cross_encoder.limit
            raise JudgeFailed(f"{NO_VALUE}the two texts are longer than the {limit} tokens that {self.judge} reads")
        return [self.assess(case, self._scores[expected, answer])]

    def _fits(self, pair: Pair) -> bool:
        model = self.cross_encoder
        size = model.overhead() + sum(n_tokens(text, model.tokenizer) for text in pair)
        return not model.limit or size <= model.limit


def _pair(case: AnswerCase) -> Pair:
    return expected_response(case.query) or "", case.text
