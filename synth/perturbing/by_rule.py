"""Perturbations that need no model: typing errors, word order, case, and synonyms from a user's table.

Each gives the text changed, or None where it has nothing to change. The same random numbers give the same text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

SHARE = 0.2
"""Of the words of a question, those that get a typing error or change places; one at least."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_KEYBOARDS = (
    ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
)
_NEIGHBOURS = {
    row[at]: [row[near] for near in (at - 1, at + 1) if 0 <= near < len(row)]
    for rows in _KEYBOARDS
    for row in rows
    for at in range(len(row))
}
"""The keys beside each in its row, of the English and the Russian keyboard."""


def typos(text: str, random: Random) -> str | None:
    """In words of four letters and more, a letter inside becomes its neighbour on the keyboard or changes places.

    Scripts whose keyboard is not known here get only the second. The first and the last letter stay.
    """
    words = list(_LETTERS.finditer(text))
    if not words:
        return None
    chosen = random.sample(words, max(1, round(SHARE * len(words))))
    changed = list(text)
    for word in chosen:
        at = random.randrange(word.start() + 1, word.end() - 1)
        near = _NEIGHBOURS.get(text[at].lower(), [])
        if near and random.random() < 0.5:
            key = random.choice(near)
            changed[at] = key.upper() if text[at].isupper() else key
        else:
            _swap(changed, word, random)
    made = "".join(changed)
    return made if made != text else None


def _swap(letters: list[str], word: re.Match[str], random: Random) -> None:
    """Two letters inside a word that differ and stand side by side change places, where there are such."""
    inside = [at for at in range(word.start() + 1, word.end() - 2) if letters[at] != letters[at + 1]]
    if inside:
        at = random.choice(inside)
        letters[at], letters[at + 1] = letters[at + 1], letters[at]


def word_order(text: str, random: Random) -> str | None:
    """Words side by side change places; what stands between words stays where it is."""
    words = list(_WORD.finditer(text))
    pairs = [at for at in range(len(words) - 1) if words[at].group() != words[at + 1].group()]
    said, free = [word.group() for word in words], set(pairs)
    wanted = max(1, round(SHARE * len(words) / 2))
    for at in random.sample(pairs, len(pairs)):
        if at in free and wanted:
            said[at], said[at + 1] = said[at + 1], said[at]
            free -= {at - 1, at, at + 1}
            wanted -= 1
    made = _with(text, words, said)
    return made if made != text else None


def case(text: str, random: Random) -> str | None:
    """All letters small, all capital, or each word with a capital; None in scripts that have no case."""
    made = [one for one in dict.fromkeys((text.lower(), text.upper(), text.title())) if one != text]
    return random.choice(made) if made else None


def synonyms(text: str, random: Random, table: Mapping[str, Sequence[str]]) -> str | None:
    """Each word that the table has becomes one of its synonyms, with a capital where it had one."""
    words = list(_WORD.finditer(text))
    said = []
    for word in words:
        known = table.get(word.group().casefold())
        new = random.choice(list(known)) if known else word.group()
        said.append(new[:1].upper() + new[1:] if known and word.group()[0].isupper() else new)
    made = _with(text, words, said)
    return made if made != text else None


def _with(text: str, words: Sequence[re.Match[str]], said: Sequence[str]) -> str:
    """The text with each word replaced."""
    parts, end = [], 0
    for word, new in zip(words, said, strict=True):
        parts += [text[end : word.start()], new]
        end = word.end()
    return "".join([*parts, text[end:]])
