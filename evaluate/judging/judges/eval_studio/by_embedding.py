"""What the evaluators of H2O Eval Studio share: sentences compared by embeddings, shares of yes, what has no value."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import ClassVar
from unicodedata import east_asian_width

from pydantic import Field

from ragassay.models.encoders import check_encoder
from ragassay.records import Assessment, Passage

from ....texts.by_model import Embedded
from ....texts.sentences import sentences, without_citations
from ...engine.cases import AnswerCase
from ...engine.evaluator import NO_VALUE, Asks, Evaluator, Options, check_passages
from ...engine.question import JudgeFailed
from ..claims import ItemQuestion, Verdict

H2O_PAGE = "https://docs.h2o.ai/eval-studio-docs/evaluators"
TAGS = ("safe", "conceptual soundness", "outcomes analysis")

SHORTEST = 11
"""How many characters wide a sentence must be at least."""

THRESHOLD = 0.75
NO_YES = ("no", "yes")
_AT_HAND = 4096


class EmbeddingOptions(Options):
    """embedding: the model, a folder or a hub name such as BAAI/bge-small-en; None is `retrieval.embedding`."""

    embedding: str | None = Field(None, min_length=1)


class SentenceOptions(EmbeddingOptions):
    """shortest: how many characters a sentence has at least (East Asian ones count twice); others are left out."""

    shortest: int = Field(SHORTEST, ge=1)


class Embeds(Evaluator):
    """Has vectors of texts: of the embedding model that its settings name, else the experiment's."""

    options_type: ClassVar[type[Options]] = EmbeddingOptions
    options: EmbeddingOptions

    @property
    def embedding(self) -> str:
        """The name of the embedding model."""
        return self.options.embedding or self.setup.embedding

    @property
    def embedded(self) -> Embedded:
        """The vectors, which it shares with the others that embed by the same model."""
        return self.setup.embedded(self.embedding)

    def check_at_hand(self) -> None:
        """Raises InputError where there is no embedding model."""
        check_encoder(self.embedding, self.name)


class ByEmbedding(Embeds):
    """Compares texts of a case by their embeddings, which are made for all cases together.

    As in H2O Eval Studio (h2oai/h2o-sonar, `h2o_sonar/evaluators`), which embeds by bge-small-en and leaves out
    sentences of ten characters and fewer. Sentences are cut by our rules, an answer's are taken without the citations
    in them, and East Asian characters count twice, since a sentence of ten says much. All texts get the same prefix
    (`evaluate/texts/by_model.py`).
    """

    calls = 0.0
    asks: ClassVar[Asks] = "model"
    tags: ClassVar[tuple[str, ...]] = TAGS

    @property
    def judge(self) -> str:
        return self.embedding

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Note every text of all cases, so that they are embedded together."""
        self.embedded.add(text for case in cases for text in self.texts(case))

    @abstractmethod
    def texts(self, case: AnswerCase) -> Sequence[str]:
        """What of a case is embedded; a case without a value may have any."""

    def nearest(self, texts: Sequence[str], others: Sequence[str]) -> list[tuple[float, str]]:
        """Of each text the highest cosine to one of the others, and which that is. Raises JudgeFailed without any."""
        try:
            values, found = self.embedded.nearest(texts, others)
        except ValueError as error:
            raise JudgeFailed(f"{NO_VALUE}{error}") from None
        return list(zip(values.tolist(), found, strict=True))


@lru_cache(_AT_HAND)
def answer_sentences(text: str, shortest: int) -> tuple[str, ...]:
    """The sentences of an answer that are long enough, without their citations."""
    return tuple(one for one in map(without_citations, sentences(text)) if _width(one) >= shortest)


@lru_cache(_AT_HAND)
def passage_sentences(text: str, shortest: int) -> tuple[str, ...]:
    """The sentences of a passage that are long enough, or else all of them (a passage may be but a heading)."""
    whole = sentences(text)
    return tuple(one for one in whole if _width(one) >= shortest) or whole


def checked_answer(case: AnswerCase, shortest: int) -> tuple[str, ...]:
    """`answer_sentences`. Raises JudgeFailed where there are none: the answer is too short to embed."""
    found = answer_sentences(case.text, shortest)
    if not found:
        raise JudgeFailed(f"{NO_VALUE}the answer is too short to embed: no sentence has {shortest} characters")
    return found


def checked_passages(case: AnswerCase) -> tuple[Passage, ...]:
    """The passages that the agent retrieved, best first. Raises JudgeFailed where there are none, or one is missing."""
    check_passages(case)
    if not case.passages:
        raise JudgeFailed(NO_VALUE + "the agent retrieved no passage")
    return case.passages


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return any(character.isalnum() for character in text)


def check_words(text: str, what: str) -> None:
    """Raises JudgeFailed, as no value, where a text holds no words. what: its name in the error."""
    if not has_words(text):
        raise JudgeFailed(f"{NO_VALUE}the {what} holds no words")


def checked_context(case: AnswerCase) -> tuple[Passage, ...]:
    """What the agent retrieved, best first. Raises JudgeFailed where that is nothing, or holds no words, or a passage's
    text is not at hand."""
    check_passages(case)
    if not case.passages:
        raise JudgeFailed(f"{NO_VALUE}no passage was retrieved")
    check_words(" ".join(f"{passage.title} {passage.text}" for passage in case.passages), "context")
    return case.passages


class YesShare(Evaluator):
    """The share of yes among the verdicts on several texts of a case. what: the texts' name in errors."""

    what: ClassVar[str]
    tags: ClassVar[tuple[str, ...]] = TAGS
    good_from = THRESHOLD

    @cached_property
    def question(self) -> ItemQuestion:
        """What is asked of the texts. Raises InputError where the prompt cannot be read."""
        return ItemQuestion(self.prompt(), NO_YES, NO_YES, self.setup.mode, self.what, self.options)

    def share(self, case: AnswerCase, texts: Sequence[str], verdicts: Sequence[Verdict]) -> list[Assessment]:
        """The record of a case; details: each text as `claim` or `sentence`, with its verdict."""
        name = self.what.removesuffix("s")
        details = [{name: text, **verdict.detail()} for text, verdict in zip(texts, verdicts, strict=True)]
        return [self.assess(case, sum(one.label == "yes" for one in verdicts) / len(verdicts), details=details)]
