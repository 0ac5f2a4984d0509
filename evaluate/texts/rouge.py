"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"), as F1.

By Google's rouge-score, without stemming. Its own words are runs of a to z and 0 to 9; ours are runs of letters and
digits of any script, in lower case, which for English is the same. The longest common subsequence is Hyyrö's bit-vector
algorithm (2004, "Bit-parallel LCS-length computation revisited"): rouge-score's table takes gigabytes of long texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from ragassay.errors import MissingExtra

ROUGES = ("rouge1", "rouge2", "rougeL")
_WORD = re.compile(r"[^\W_]+")


class Words:
    """The tokenizer that rouge-score is given."""

    def tokenize(self, text: str) -> list[str]:
        """The words of a text."""
        return list(_words(text))


@lru_cache(maxsize=16)
def _words(text: str) -> tuple[str, ...]:
    """Kept for a while: rouge-score asks for those of both texts again."""
    return tuple(_WORD.findall(text.lower()))


def check_at_hand() -> None:
    """Raises MissingExtra where rouge-score is not installed. Loads nothing: with it come NLTK and scikit-learn."""
    if find_spec("rouge_score") is None:
        raise MissingExtra("ROUGE needs rouge_score, which", "local")


def rouge(one: str, other: str) -> dict[str, float | None]:
    """The F1 of each of `ROUGES`, 0 to 1, whichever text comes first.

    None where it is undefined: both texts without a word, or for ROUGE-2 both without a pair of words.
    """
    scorer, words = _scorer(), Words()
    first, second = words.tokenize(one), words.tokenize(other)
    found = {name: float(score.fmeasure) for name, score in scorer.score(one, other).items()}
    found["rougeL"] = _f1(longest_common_subsequence(first, second), len(first), len(second))
    longest = max(len(first), len(second))
    least = {"rouge1": 1, "rouge2": 2, "rougeL": 1}
    return {name: found[name] if longest >= least[name] else None for name in ROUGES}


def longest_common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words it has: each row of the table is one whole number with a bit for each word of `one`."""
    at: dict[str, int] = {}
    for place, word in enumerate(one):
        at[word] = at.get(word, 0) | 1 << place
    whole = (1 << len(one)) - 1
    row = whole
    for word in other:
        if matches := row & at.get(word, 0):
            row = (row + matches | row - matches) & whole
    return len(one) - row.bit_count()


def _f1(common: int, n_one: int, n_other: int) -> float:
    precision, recall = common / max(n_other, 1), common / max(n_one, 1)
    return 2 * precision * recall / (precision + recall) if common else 0.0


@lru_cache(maxsize=1)
def _scorer() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ModuleNotFoundError as error:
        raise MissingExtra(f"ROUGE needs {error.name}, which", "local") from None
    return RougeScorer(["rouge1", "rouge2"], tokenizer=Words())
