"""Counting tokens without a network.

Tokenizer tables (tiktoken's) are fetched at first use, so the count is an estimate from the text alone: a word is one
token for every started six letters, a number one for every three digits, a mark or a CJK character one. On English
prose this lies within about a tenth of the o200k count; it is used to size sections and to plan costs, never to bill.
How long replies are before there are any is what the first recorded run had, which that of another may not be like
(`python -m benchmarks.tables.plan_accuracy`); steps of questions from the need are reckoned for ten questions, and
those of perturbed questions are guesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate, takewhile

from .records import Passage

_PIECE = re.compile(r"[^\W\d_]+|\d+|\s*\n\s*|[^\w\s]|_+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def count_tokens(text: str) -> int:
    """An estimate of how many tokens `text` has, 0 for an empty text; it grows with every word added."""
    return sum(_tokens_of(piece) for piece in _PIECE.findall(text))


def _tokens_of(piece: str) -> int:
    if piece.isdigit():
        return -(-len(piece) // 3)
    if _WIDE.search(piece):
        return len(piece)
    return -(-len(piece) // 6) if piece[0].isalpha() else 1


def passage_tokens(passage: Passage) -> int:
    """What a passage takes of a prompt: its title and its text, without the marks around them."""
    return count_tokens(passage.title) + count_tokens(passage.text)


def how_many_fit(tokens: Iterable[int], limit: int) -> int:
    """How many of the first passages, of so many tokens each, have at most `limit` together.

    The passage that crosses the limit is left out and ends the row, be it the first one or a shorter one come after it.
    """
    return sum(1 for _ in takewhile(lambda together: together <= limit, accumulate(tokens)))


_REPLY_TOKENS = {
    "questions": 290,
    "roles": 200,
    "needs": 600,
    "linked": 120,
    "blind": 170,
    "evidence": 650,
    "rewrites": 113,
    "answers": 115,
    "relevance": 55,
    "pointwise": 180,
    "pointwise-answer_correctness": 55,
    "games": 62,
    "paraphrase": 40,
    "synonyms": 60,
}


_REPLY_TOKENS_OF_ITEMS = {"relevance-batch": (0, 45), "listwise": (60, 8), "rerank": (8, 3)}
"""By label what a reply has in any case, and what of each passage, or of each agent, more."""


def reply_tokens(label: str, items: int = 1) -> int:
    """About how many tokens a reply to a request with this label has, which asks about so many items."""
    label = label.split("-repeat-")[0]
    for name in (label, label.split("-")[0]):
        if name in _REPLY_TOKENS_OF_ITEMS:
            base, each = _REPLY_TOKENS_OF_ITEMS[name]
            return base + each * items
        if name in _REPLY_TOKENS:
            return _REPLY_TOKENS[name]
    return 100
