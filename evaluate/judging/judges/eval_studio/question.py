"""The answer against the question: how near it is, by embeddings or by questions of a judge, and its language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, BaseModel, Field, create_model

from ragassay.errors import MissingExtra, needing
from ragassay.models.requests import Request
from ragassay.records import Assessment

from ....texts.sentences import CITATION, CODE, sentences
from ...engine.cases import AnswerCase
from ...engine.evaluator import NO_VALUE, Asks, Criterion, LabelJudge, Options, Steps
from ...engine.question import JudgeFailed, Reason, Strict, read_value
from .by_embedding import (
    H2O_PAGE,
    TAGS,
    ByEmbedding,
    EmbeddingOptions,
    Embeds,
    SentenceOptions,
    answer_sentences,
    check_words,
    checked_answer,
    has_words,
)

PROMPTS = Path(__file__).parent / "question/prompts"


class AnswerRelevancySentences(ByEmbedding):
    """max over the sentences a of the answer of cosine(question, a).

    H2O Eval Studio's "answer relevancy (sentence similarity)". Sentences of ten characters and fewer are left out.
    There is no value where that leaves none, or where the question holds no words.
    """

    name = "answer_relevancy_sentences"
    place = 502
    family = "eval-studio-question"
    about = "how near the nearest sentence of the answer is to the question, by embeddings"
    reads = ("question", "answer")
    source = f"{H2O_PAGE} (Answer Relevancy, sentence similarity)"
    options_type = SentenceOptions
    options: SentenceOptions
    criteria = (Criterion(name, -1.0, 1.0, threshold=0.75),)

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """The question and the answer's sentences."""
        return [case.query.text, *answer_sentences(case.text, self.options.shortest)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The details name the nearest sentence."""
        check_words(case.query.text, "question")
        said = checked_answer(case, self.options.shortest)
        scores = [score for score, _ in self.nearest(said, [case.query.text])]
        best = int(np.argmax(scores))
        return [self.assess(case, scores[best], details=[{"sentence": said[best], "score": scores[best]}])]


LONGEST = 20_000
"""Characters of a text that are looked at."""

BORROWED, FEW = 0.6, 0.1
"""From which share of another script the Latin words are borrowed; up to which share its words are."""

_DENSE, _WEIGHT = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"}), 3
"""Scripts of which a character counts as three letters."""

_SENTENCE, _SURE, _SHARE = 40, 0.95, 0.25
"""Letters that a sentence has to be asked alone, its probability, and a language's share from which a text is mixed."""

_BLOCK = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\b(?:https?://|www\.)\S{1,2000}")
_NO_WORD = re.compile(r"\S*[\d_/\\=<>{}()\[\]@#$%&|*+~^]\S*")


class Unclear(Exception):
    """A text whose language cannot be told; the message says why."""


class Written(NamedTuple):
    """The script of most letters, and the probability of each language that py3langid knows, by its ISO 639 code.

    The Chinese and the Japanese scripts are one, CJK. Nigerian Pidgin counts as English.
    """

    script: str
    languages: Mapping[str, float]

    @property
    def likeliest(self) -> str:
        """The language of the highest probability."""
        return max(self.languages, key=lambda language: self.languages[language])


def written(text: str, least: int) -> Written:
    """In what a text is written.

    Code, links, citations and words with digits or signs within are left out first: they are in no language. Of a text
    in two scripts, Latin words in a text of another script are taken for borrowed ones, and a few words of another
    script in a Latin text too; in between it is mixed. So is a text whose longer sentences are surely in two languages.
    Raises Unclear for fewer than `least` letters and for what is mixed, MissingExtra without py3langid.
    """
    words = prose(text[:LONGEST])
    if not words.isascii():
        signs = _signs(words)
        latin = sum(times for sign, times in signs if _script(sign) == "LATIN")
        others = letters(words) - latin
        share = others / ((latin + others) or 1)
        if FEW < share < BORROWED:
            raise Unclear("mixed: it is in two scripts")
        dropped = [sign for sign, _ in signs if (_script(sign) == "LATIN") == (share >= BORROWED)]
        words = words.translate(dict.fromkeys(map(ord, dropped)))
    if letters(words) < least:
        raise Unclear(f"too short to tell its language ({letters(words)} letters, {least} wanted)")
    scripts: Counter[str] = Counter()
    for sign, times in _signs(words):
        scripts[_script(sign)] += times
    main = scripts.most_common(1)[0][0]
    return Written("CJK" if main in {"HIRAGANA", "KATAKANA"} else main, _ranked(words))


@lru_cache(maxsize=256)
def _ranked(words: str) -> Mapping[str, float]:
    """Kept for a while, as a question comes again with every agent's answer.

    Raises Unclear where sentences that are long enough are surely in more than one language.
    """
    sizes: Counter[str] = Counter()
    sized = [(letters(sentence), sentence) for sentence in sentences(words)[:100]]
    asked = sorted((one for one in sized if one[0] >= _SENTENCE), reverse=True)
    left = sum(size for size, _ in asked)
    for size, sentence in asked if len(asked) > 1 else ():
        second = sum(n for _, n in sizes.most_common(2)[1:])
        if second + left < _SHARE * (sizes.total() + left):
            break  # whatever the others are in, no second language has its share
        left -= size
        language, probability = identifier().classify(sentence)
        if probability >= _SURE:
            sizes["en" if language == "pcm" else language] += size
    if sum(size >= _SHARE * sizes.total() for size in sizes.values()) > 1:
        raise Unclear(f"mixed: sentences in {' and '.join(sorted(sizes))}")
    ranked = dict(identifier().rank(words))
    ranked["en"] += ranked.pop("pcm", 0.0)
    return ranked


def prose(text: str) -> str:
    """What of a text is in a language."""
    for form in (_BLOCK, CODE, _LINK, CITATION):
        text = form.sub(" ", text)
    # Of words without a space between them, as in Chinese, what is not code.
    kept = (
        [word for word in line.split() if not _NO_WORD.fullmatch(word) or letters(word) > len(word)]
        for line in text.splitlines()
    )
    return "\n".join(map(" ".join, kept))


def letters(text: str) -> int:
    """How many letters a text has, those of dense scripts counted thrice."""
    return sum(times * (_WEIGHT if _script(sign) in _DENSE else 1) for sign, times in _signs(text))


def _signs(text: str) -> list[tuple[str, int]]:
    """Each letter of a text and how often it stands there, by first place."""
    return [(sign, times) for sign, times in Counter(text).items() if sign.isalpha()]


@lru_cache(maxsize=4096)
def _script(sign: str) -> str:
    """The first word of its Unicode name, which for letters is the script."""
    return unicodedata.name(sign, "?").split()[0]


@lru_cache(maxsize=1)
def identifier() -> Any:
    """py3langid with its own model, loaded when first used. Raises MissingExtra."""
    with needing("language_mismatch needs py3langid, which", "evaluators"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


LANGUAGES = 20
"""N: how many languages are asked in, about."""


class LanguageOptions(Options):
    """`[evaluate.settings.language_mismatch]`.

    by: py3langid's identification, or the judge. confidence: the probability from which a label is given.
    least_letters: of a text whose language is told; a Chinese, Japanese or Korean character counts as three.
    """

    by: Literal["identification", "judge"] = "identification"
    confidence: float = Field(0.9, gt=0.5, lt=1)
    least_letters: int = Field(12, ge=1)


class LanguageMismatch(LabelJudge):
    """Compares the languages, or asks the judge with `by = "judge"`, as H2O Eval Studio does.

    By default nobody is asked: with the probabilities p of py3langid over languages l for the question q and the answer
    a, texts of one language as likely as not, and each language one asked in of N = 20,

        P(same) = N s / (N s + 1),   s = sum over l of p(l|q) p(l|a),

    by Bayes' rule, where texts in different languages are independent; 0 where the scripts differ and the likeliest
    languages too, however sure these are. The label is 0 from P(same) >= `confidence`, 1 up to 1 - `confidence`, and in
    between, as for a text that is too short, mixed or all code, there is no value. A question that asks for a
    translation is one for the judge.
    """

    name = "language_mismatch"
    place = 503
    family = "eval-studio-question"
    about = "whether the answer is in another language than the question; 1 is a mismatch; a judge only if wished"
    labels = ("no", "yes")
    calls = 0.0
    reads = ("question", "answer")
    asks = "nothing"
    source = H2O_PAGE
    tags = ("valid and reliable", "ongoing monitoring")
    options_type = LanguageOptions
    options: LanguageOptions
    default_prompt: ClassVar = PROMPTS / "language_mismatch.md"
    criteria = (Criterion(name, lower_is_better=True, threshold=0.5),)

    @property
    def judge(self) -> str:
        return self.setup.model if self.options.by == "judge" else "py3langid"

    @property
    def asking(self) -> Asks:
        return "judge" if self.options.by == "judge" else "nothing"

    @property
    def n_calls(self) -> float:
        return 1.0 if self.options.by == "judge" else 0.0

    def check_at_hand(self) -> None:
        """Raises MissingExtra without py3langid."""
        if self.options.by == "identification" and find_spec("py3langid") is None:
            raise MissingExtra("language_mismatch needs py3langid, which", "evaluators")

    def steps(self, case: AnswerCase) -> Steps | Sequence[Assessment]:  # type: ignore[override]
        if not any(map(str.isalpha, case.text)):
            return [self.fail(case, f"{NO_VALUE}the answer holds no words")]
        return super().steps(case) if self.options.by == "judge" else [self._identified(case)]

    def _identified(self, case: AnswerCase) -> Assessment:
        found: dict[str, Written] = {}
        for what, text in (("question", case.query.text), ("answer", case.text)):
            try:
                found[what] = written(text, self.options.least_letters)
            except Unclear as error:
                return self.fail(case, f"{NO_VALUE}the {what} is {error}")
        asked, answered = found["question"], found["answer"]
        apart = asked.script != answered.script and asked.likeliest != answered.likeliest
        same = 0.0 if apart else probability_of_same(asked.languages, answered.languages)
        likely = ((what, given.likeliest, given.languages[given.likeliest]) for what, given in found.items())
        told = [{"text": what, "language": one, "probability": round(share, 4)} for what, one, share in likely]
        reason = "; ".join(f"{one['text']} in {one['language']} ({one['probability']:.2f})" for one in told)
        if 1 - self.options.confidence < same < self.options.confidence:
            return self.fail(case, f"{NO_VALUE}the languages cannot be told apart surely: {reason}", details=told)
        return self.assess(case, float(same < 0.5), reason=reason, details=told)


def probability_of_same(question: Mapping[str, float], answer: Mapping[str, float]) -> float:
    """P(same), 0 to 1, of two distributions over languages, by LanguageMismatch's equation."""
    odds = LANGUAGES * sum(share * answer.get(language, 0.0) for language, share in question.items())
    return odds / (odds + 1)


class RelevancyOptions(EmbeddingOptions):
    """`[evaluate.settings.answer_relevancy]`. questions: how many the judge writes for an answer."""

    questions: int = Field(3, ge=1, le=10)


def _asked(text: str) -> str:
    if not has_words(text):
        raise ValueError("a question holds no words")
    return text.strip()


Question = Annotated[str, AfterValidator(_asked)]


@lru_cache
def questions_schema(count: int) -> type[BaseModel]:
    """The reply: the reason, whether the answer is noncommittal, then the questions as `question_1` and so on."""
    fields: Any = {"reason": (Reason, ...), "noncommittal": (Literal["no", "yes"], ...)}
    fields |= {f"question_{number}": (Question, ...) for number in range(1, count + 1)}
    return create_model("WrittenQuestions", __base__=Strict, __doc__="What the answer may answer.", **fields)


class AnswerRelevancy(Embeds):
    """One request an answer, then embeddings of all answers' questions together; with N of them,

        mean over i of cosine(question, written question i), and 0 where the answer is noncommittal.

    Ragas' response relevancy (Es et al. 2024, arXiv:2309.15217, section 3; `_answer_relevance.py` in
    explodinggradients/ragas), which is H2O Eval Studio's "answer relevancy". The 0 is the source's rule for an answer
    that evades the question; it is no missing value. There the judge is asked N times with the same request; here once
    for N questions (3, as there) that differ. It sees the answer alone. There is no value where the answer or the
    question holds no words. The prompt is ours.
    """

    name = "answer_relevancy"
    place = 501
    family = "eval-studio-question"
    about = "how near the question is to those that the judge writes for the answer; 0 for one that evades it"
    reads = ("question", "answer")
    source = f"{H2O_PAGE} (Answer Relevancy); arXiv:2309.15217"
    tags = (*TAGS, "accountable and transparent", "valid and reliable", "ongoing monitoring")
    default_prompt: ClassVar = PROMPTS / "answer_relevancy.md"
    options_type = RelevancyOptions
    options: RelevancyOptions
    criteria = (Criterion(name, -1.0, 1.0, threshold=0.75),)

    def steps(self, case: AnswerCase) -> Steps:
        """One request; then it waits for all others, so that their questions are embedded with its own."""
        check_words(case.text, "answer")
        check_words(case.query.text, "question")
        count = self.options.questions
        values = {"answer": case.text, "count": count, "criteria": self.options.criteria}
        (reply,) = yield [Request(self.prompt().render(values), questions_schema(count))]
        value = read_value(reply, questions_schema(count))
        if value.noncommittal == "yes":
            return [self.assess(case, 0.0, reason=value.reason, details=[{"noncommittal": True}])]
        written = [getattr(value, f"question_{number}") for number in range(1, count + 1)]
        self.embedded.add([case.query.text, *written])
        yield []
        try:
            scores = [self.embedded.cosine(case.query.text, text) for text in written]
        except ValueError as error:
            raise JudgeFailed(f"{NO_VALUE}{error}") from None
        details = [{"question": text, "score": score} for text, score in zip(written, scores, strict=True)]
        return [self.assess(case, sum(scores) / len(scores), reason=value.reason, details=details)]
