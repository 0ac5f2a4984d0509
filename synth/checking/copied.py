"""Whether a question is a copy of a passage: its longest run of words that stands there, and the words it shares."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from ..choosing.features import form_of
from ..questions.near_duplicates import shape_of, tokens_of

RUN = 8
"""Words in a row from which on a question is a copy."""
RUN_OF_MOST, MOST = 5, 0.75
"""As well as this many, where they are this share of its words; not of keywords, which a text may well have so."""
RUN_OF_ALL, FEWEST_CONTENT = 5, 9
"""And this many where all of its content words, at least nine, stand in one window of 200 words."""
WIDE = 0.4
"""Words that a pair of characters counts as in scripts without spaces: eight words are twenty characters."""

_WIDE = ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\ud7af")


class Overlap(NamedTuple):
    """What a question shares with one passage. run: words in a row (of scripts without spaces, 0.4 for each character).

    share: of its words that are in the run, 0 to 1. shared: of its content words (stems) that stand in the passage, 0
    to 1. n_content: how many it has. words: the run itself. keywords: whether it is a phrase for a search box.
    """

    run: float
    share: float
    shared: float
    n_content: int
    words: str
    keywords: bool

    @property
    def copied(self) -> bool:
        """Whether it passes one of the three bars (docs/check.md has what they were measured on)."""
        most = self.run >= RUN_OF_MOST and self.share >= MOST and not self.keywords
        all_of_it = self.run >= RUN_OF_ALL and self.n_content >= FEWEST_CONTENT and self.shared >= 1
        return self.run >= RUN or most or all_of_it


def overlap(question: str, passage: str, language: str) -> Overlap:
    """What a question shares with a passage. language: ISO 639, for stems."""
    asked, there = tokens_of(question), tokens_of(passage)
    matcher = SequenceMatcher(None, _small(there), _small(asked), autojunk=False)
    match = matcher.find_longest_match()
    run = asked[match.b : match.b + match.size]
    content = shape_of(question, language).content
    n_wide = sum(map(is_wide, content))
    shared = len(content & shape_of(passage, language).content) / len(content) if content else 0.0
    length = _length(run)
    n_content = len(content) - n_wide + round(WIDE * n_wide)
    return Overlap(
        length,
        length / _length(asked) if asked else 0.0,
        shared,
        n_content,
        _joined(run),
        form_of(question) == "keywords",
    )


def _small(tokens: list[str]) -> list[str]:
    return [token.casefold() for token in tokens]


def is_wide(token: str) -> bool:
    """Whether a token is of a script without spaces."""
    return any(low <= token[0] <= high for low, high in _WIDE) if token else False


def _length(tokens: list[str]) -> float:
    """In words: pairs of characters overlap, and count as WIDE each."""
    return sum(WIDE if is_wide(token) else 1.0 for token in tokens)


def _joined(tokens: list[str]) -> str:
    """The words of a run as they stood; overlapping pairs of characters made one again."""
    text = ""
    for before, token in zip(["", *tokens], tokens, strict=False):
        wide = is_wide(token)
        overlaps = wide and bool(before) and is_wide(before) and before[-1] == token[0]
        text += token[1:] if overlaps else token if wide or not text else f" {token}"
    return text
