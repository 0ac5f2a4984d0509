"""Whether the evidence holds an answer, as far as words say it for certain: its numbers, names, negations, words.

An answer that is said otherwise, is about something else in the same words, or draws a conclusion passes: what holds
and what does not is for a judge to say. What is found here needs none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

from ..questions.near_duplicates import FUNCTION_WORDS, shape_of, tokens_of
from .copied import is_wide
from .numbers import foreign_number, other_amount
from .wording import scripts_of

FEWEST_NEW, SHARED = 4, Fraction(1, 6)
"""Content words of an answer, beyond the question's, below which they are not looked for, and the share of them up to
which the evidence is about something else (docs/check.md has what both were measured on)."""
PAIRS = 2.5
"""Pairs of characters that count as one word, of scripts without spaces."""
ALIKE = Fraction(4, 5)
"""Content words that a sentence of the answer and one of the evidence share, from which on they say the same or the
opposite (as near-duplicates)."""
CAPITALS = 0.25
"""Share of capitals among the words within sentences from which on they name nothing, as in German and in titles."""
BEGINNING = 4
"""Letters that inflected words have in common, without the Arabic article."""
_ARTICLE = re.compile("^(?:[وفبك]?ال|لل)(?=..)")

_NEGATION_LIST = """
    not no never none without cannot neither nor nicht kein keine keinen keiner keinem nie niemals ohne ne pas jamais
    aucun aucune sans nunca sin ningún ninguna não sem нет не ни никогда без لا ليس ليست لم لن غير بدون
    """
_NEGATIONS = frozenset(_NEGATION_LIST.split())
_NT = re.compile(r"\w+n['’]t$", re.IGNORECASE)
_CHINESE_NOT = re.compile("不|没|沒|無|无法|未|ない|ません|ず")
_SENTENCE = re.compile(r"(?<=[.!?؟。！？])\s*|\n+")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_CODE = re.compile(r"[A-Za-z_]\w*\(\)|\w*[A-Za-z]\w*_\w+|[A-Z]+\d+|[a-z]+[A-Z][a-z]\w*", re.ASCII)
"""A call, words joined by an underscore, capitals with a number, words joined by capitals."""
_MONTH_LIST = """
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday
    """
_MONTHS = frozenset(_MONTH_LIST.split())


def not_held(answer: str, evidence: str, question: str, language: str) -> str | None:
    """What of the answer the evidence does not hold, in words; None where nothing is certain.

    evidence: all its texts. Not judged, and so None, where answer and evidence are in different scripts.
    """
    if not comparable(answer, evidence):
        return None
    if amounts := other_amount(answer, evidence):
        return f"it says “{amounts[0]}”, the evidence “{amounts[1]}”"
    if number := foreign_number(answer, evidence, question):
        return f"the number {number} is not in the evidence"
    if name := _foreign_name(answer, evidence, question):
        return f"the name “{name}” is not in the evidence"
    if sentence := _negated(answer, evidence, language):
        return f"it says the opposite of “{sentence}”"
    return _about_else(answer, evidence, question, language)


def comparable(answer: str, evidence: str) -> bool:
    """Whether both have letters or digits, and of the same script."""
    one, other = scripts_of([answer]), scripts_of([evidence])
    if not one:
        return any(map(str.isalnum, answer)) and any(map(str.isalnum, evidence))
    return bool(other) and other[one.most_common(1)[0][0]] * 4 >= other.total()


def _foreign_name(answer: str, evidence: str, question: str) -> str | None:
    known = f"{evidence} {question}"
    dense = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", known))).casefold()
    for word in answer.split():
        bare = word.strip("\"'“”‘’.,;:!?").removeprefix("(")
        if _CODE.fullmatch(bare) and not _is_there(bare, dense):
            return bare
    return _person(answer, known)


def _is_there(name: str, dense: str) -> bool:
    """Whether a name stands in a text of letters and digits; a name with a number also where its number does.

    KRT17 may stand there as keratin 17.
    """
    bare = "".join(filter(str.isalnum, name)).casefold()
    number = re.fullmatch(r"[a-z]+(\d+)", bare)
    return bare in dense or bare.removesuffix("s") in dense or bool(number and number[1] in dense)


def _person(answer: str, known: str) -> str | None:
    """Two capitalised words or more in a row, none of which begins like a word of what is known, nor its initials."""
    if _capitals(known) > CAPITALS or _capitals(answer) > 2 * CAPITALS:
        return None
    beginnings = {_beginning(word) for word in _WORD.findall(known)}
    for run in _capitalised_runs(answer):
        if all(_beginning(word) not in beginnings for word in run) and not _is_short_there(run, known):
            return " ".join(run)
    return None


def _is_short_there(run: Sequence[str], known: str) -> bool:
    """Whether the initials of capitalised words stand for them in what is known."""
    return "".join(word[0] for word in run) in {word for word in _WORD.findall(known) if word.isupper()}


def _capitalised_runs(text: str) -> list[list[str]]:
    runs: list[list[str]] = []
    for sentence in _SENTENCE.split(text):
        run: list[str] = []
        for word in [*sentence.split(), "."]:
            bare = word.strip("\"'“”‘’.,;:!?()")
            named = bare[:1].isupper() and bare.casefold() not in FUNCTION_WORDS | _MONTHS
            if named:
                run.append(bare)
            if not named or word[-1] in ".,;:!?)":
                runs.append(run)
                run = []
    return [run for run in runs if len(run) > 1]


def _capitals(text: str) -> float:
    """Share of the words within sentences that begin with a capital and are not capitals throughout."""
    words = [word for sentence in _SENTENCE.split(text) for word in _WORD.findall(sentence)[1:] if word[0].isalpha()]
    return sum(word[0].isupper() and not word.isupper() for word in words) / len(words) if words else 0.0


def _beginning(word: str) -> str:
    return _ARTICLE.sub("", unicodedata.normalize("NFKC", word).casefold())[:BEGINNING]


def _negated(answer: str, evidence: str, language: str) -> str | None:
    """The sentence of the evidence that one of the answer repeats in nearly all words, but for a negation."""
    for said in _sentences(answer):
        content = _content(said, language)
        if len(content) < 4:
            continue
        near = [(_alike(content, _content(there, language)), there) for there in _sentences(evidence)]
        best, there = max(near, default=(Fraction(0), ""), key=lambda pair: pair[0])
        if best >= ALIKE and (_n_negations(said) - _n_negations(there)) % 2:
            return there if len(there) <= 120 else there[:120] + "…"
    return None


def _sentences(text: str) -> Sequence[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def _content(text: str, language: str) -> frozenset[str]:
    words = (" " if _is_negation(word) else word for word in _CHINESE_NOT.sub("", text).split())
    return shape_of(" ".join(words), language).content


def _alike(one: frozenset[str], other: frozenset[str]) -> Fraction:
    union = len(one | other)
    return Fraction(len(one & other), union) if union else Fraction(0)


def _n_negations(text: str) -> int:
    return sum(map(_is_negation, text.split())) + len(_CHINESE_NOT.findall(text))


def _is_negation(word: str) -> bool:
    bare = word.strip("\"'“”‘’.,;:!?()").casefold()
    return bare in _NEGATIONS or bool(_NT.match(bare))


def _about_else(answer: str, evidence: str, question: str, language: str) -> str | None:
    """Whether hardly any of the content words that the answer adds to the question begins like one of the evidence."""
    asked, there = ({_beginning(word) for word in tokens_of(text)} for text in (question, evidence))
    there |= {_beginning(word) for run in _capitalised_runs(answer) if _is_short_there(run, evidence) for word in run}
    new = [word for word in shape_of(answer, language).content if len(word) > 1 and not word.isdecimal()]
    added = [word for word in new if word not in FUNCTION_WORDS and _beginning(word) not in asked]
    n = sum(1 / PAIRS if is_wide(word) else 1 for word in added)
    held = sum(_beginning(word) in there for word in added)
    if n < FEWEST_NEW or held > SHARED * len(added):
        return None
    return f"of the {round(n)} words that it adds to the question, the evidence has {round(held * n / len(added))}"
