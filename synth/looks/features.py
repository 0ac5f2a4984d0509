"""What a question looks like, in figures: how long it is, what it shares with its passage, what it names, its form.

The same figures are taken of people's questions and of written ones, each held against the passage that BM25 finds
first for it. No model is asked. Form is told by words of five languages and by marks of others (`reject.asks`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..questions.choose import shared_words
from ..questions.reject import FUNCTION_WORDS, asks, content_of, length_words, tokens_of

K1, B = 1.2, 0.75
"""Lucene's defaults."""


class Passages:
    """The passages of a corpus, searched by their words' stems (bm25s with Lucene's formula)."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._language, self._texts = language, texts
        rows = [self._terms(text) for text in texts]
        self._index: Any = None
        if any(rows):
            import bm25s

            self._index = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy")
            self._index.index(rows, show_progress=False)

    def best(self, question: str) -> str:
        """The text of the first passage, of equals the first in order; "" where none shares a word with it."""
        terms = self._terms(question)
        if self._index is None or not terms:
            return ""
        scores = self._index.get_scores(terms)
        first = int(scores.argmax())
        return self._texts[first] if scores[first] > 0 else ""

    def _terms(self, text: str) -> list[str]:
        return content_of((token.casefold() for token in tokens_of(text)), self._language)


Array = npt.NDArray[np.float64]


class Features(NamedTuple):
    """The figures of one question. Those from `wh` on are 0 or 1, and just one of the four forms is 1."""

    words: float
    """How many there are; two characters of a script without spaces are one."""
    characters: float
    shared_words: float
    """Share of its content words (stems, each once) that its best passage has, 0 to 1."""
    longest_run: float
    """Share of its words, in a row, that stand in its best passage just so, 0 to 1."""
    identifiers: float
    """How many of its words are names of things: `snake_case`, `CamelCase`, capitals, digits, symbols."""
    wh: float
    """Form: asked with a question word, or as a request."""
    yes_no: float
    """Form: asked without one."""
    statement: float
    """Form: told, not asked: a claim, or what went wrong."""
    keywords: float
    """Form: a phrase for a search box."""
    several_sentences: float


TOLD = {
    "words": "length in words",
    "characters": "length in characters",
    "shared_words": "words shared with the best passage",
    "longest_run": "words in a row taken from the best passage",
    "identifiers": "names of things such as code",
    "wh": "asked with a question word",
    "yes_no": "asked for yes or no",
    "statement": "told as a statement",
    "keywords": "told as keywords",
    "several_sentences": "more than one sentence",
}
"""Each of them in words."""

MOST_KEYWORDS = 8
"""Words of the longest phrase that is taken for keywords, where hardly any is a function word."""

_QUESTION_WORD = re.compile(
    r"\b(?:what|why|how|which|who|whose|whom|where|when|wie|was|warum|weshalb|wieso|wozu|womit|wodurch|welche[mnrs]?|"
    r"wer|wo|wann|wieviele?|comment|pourquoi|quel(?:le)?s?|combien|quand|où|qui|cómo|como|qué|por qu[eê]|cuál(?:es)?|"
    r"cuánt[oa]s?|cuándo|dónde|quién|o que|qua(?:l|is)|quant[oa]s?|quando|onde|quem)\b|"
    r"什么|什麼|如何|怎么|怎麼|怎样|哪|多少|何|どう|なぜ|どの",
    re.IGNORECASE,
)
_AUXILIARY_FIRST = re.compile(
    r"^\W*(?:(?:so|and|but|then|also)\W+)?(?:is|are|am|was|were|do|does|did|has|have|had|can|could|should|shall|will|would|may|might|must|"
    r"isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|can['’]t|won['’]t|shouldn['’]t|ist|sind|kann|können|muss|müssen|"
    r"gibt|hat|haben|darf|soll|est-ce que|peut-on|puis-je|y a-t-il|es|puedo|puede|hay|é|posso|pode|há)\b",
    re.IGNORECASE,
)
_CLAUSE_FIRST = re.compile(r"^\W*(?:when|where|if|wenn|quand|si|cuando|quando)\b[^,?]*,\s*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*(?:\s+|(?<=[。！？]))(?=[^\W\d_a-z]|[¿¡\"'“(\[])")
_ASKED = re.compile(r"[?？؟]\W*$")
_IDENTIFIER = re.compile(r"\d|\w_\w|_\w|\w_|.[A-Z]|[\\/()\[\]{}<>=#$@*&|+~^%]|\w[.:]\w|^--?[A-Za-z]")


def features_of(question: str, passages: Passages, language: str) -> Features:
    """The figures of a question. language: ISO 639, for stems."""
    best, form = passages.best(question), form_of(question)
    return Features(
        words=float(length_words(question)),
        characters=float(len(question)),
        shared_words=shared_words(question, best, language),
        longest_run=_longest_run(question, best),
        identifiers=float(sum(is_identifier(word) for word in question.split())),
        wh=float(form == "wh"),
        yes_no=float(form == "yes_no"),
        statement=float(form == "statement"),
        keywords=float(form == "keywords"),
        several_sentences=float(len(sentences(question)) > 1),
    )


def form_of(question: str) -> str:
    """ "wh", "yes_no", "statement" or "keywords": of several sentences the last that asks says which."""
    asking = [sentence for sentence in sentences(question) if _ASKED.search(sentence)]
    if not asking and not asks(question):
        words = _words(question)
        n_function = sum(word in FUNCTION_WORDS for word in words)
        one = len(sentences(question)) == 1 and not question.rstrip().endswith((".", "!", "。"))
        phrase = one and len(words) <= MOST_KEYWORDS and n_function <= len(words) / 4
        return "keywords" if phrase else "statement"
    decisive = _CLAUSE_FIRST.sub("", asking[-1] if asking else question)
    if _AUXILIARY_FIRST.search(decisive):
        return "yes_no"
    told_to = not _ASKED.search(decisive)
    return "wh" if told_to or _QUESTION_WORD.search(decisive) else "yes_no"


def sentences(text: str) -> list[str]:
    """The sentences of a question: cut after a full stop or a mark where a capital or a quotation follows."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def is_identifier(word: str) -> bool:
    """Whether a word (between spaces) names a thing as code, parts and products are named."""
    bare = re.sub(r"^[\"'“‘„«(\[]+|[\"'”’»)\],.;:!?…]+$", "", word)
    return bool(_IDENTIFIER.search(bare)) or word.rstrip(",.;:!?").endswith("()")


def _longest_run(question: str, passage: str) -> float:
    asked, there = _words(question), _words(passage)
    if not asked or not there:
        return 0.0
    match = SequenceMatcher(None, there, asked, autojunk=False).find_longest_match()
    return match.size / len(asked)


def _words(text: str) -> Sequence[str]:
    return [token.casefold() for token in tokens_of(text)]
