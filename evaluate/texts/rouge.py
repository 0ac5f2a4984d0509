"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"), as F1.

By Google's rouge-score, without stemming. Its own words are runs of a to z and 0 to 9; ours are runs of letters and
digits of any script, in lower case, which for English is the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ragassay.errors import MissingExtra

ROUGES = ("rouge1", "rouge2", "rougeL")
_WORD = re.compile(r"[^\W_]+")


class Words:
    """The tokenizer that rouge-score is given."""

    def tokenize(self, text: str) -> list[str]:
        """The words of a text."""
        return _WORD.findall(text.lower())


def rouge(one: str, other: str) -> dict[str, float | None]:
    """The F1 of each of `ROUGES`, 0 to 1, whichever text comes first.

    None where it is undefined: both texts without a word, or for ROUGE-2 both without a pair of words.
    """
    scorer, words = _scorer(), Words()
    found = scorer.score(one, other)
    longest = max(len(words.tokenize(one)), len(words.tokenize(other)))
    least = {"rouge1": 1, "rouge2": 2, "rougeL": 1}
    return {name: float(found[name].fmeasure) if longest >= least[name] else None for name in ROUGES}


@lru_cache(maxsize=1)
def _scorer() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ModuleNotFoundError as error:
        raise MissingExtra(f"ROUGE needs {error.name}, which", "local") from None
    return RougeScorer(list(ROUGES), tokenizer=Words())
