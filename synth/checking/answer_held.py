"""Whether the evidence holds an answer, as far as words say it for certain: its numbers, names, negations, words.

An answer that is said otherwise, is about something else in the same words, or draws a conclusion passes: what holds
and what does not is for a judge to say. What is found here needs none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import permutations

from ..questions.reject import FUNCTION_WORDS, shape_of, tokens_of
from .wording import is_wide, scripts_of

LARGEST_COUNT = 20
"""Whole numbers up to here may be counts of what a text lists, or stand there as words."""
MOST_COMBINED = 12
"""Numbers of a text of which sums, differences, products and ratios are made."""

_UNITS = (10.0, 100.0, 1e3, 1e6, 1e9, 8.0, 1024.0, 1024.0**2, 60.0, 3600.0, 24.0, 7.0, 12.0)
"""By how much units are larger than others: thousands, bytes, minutes, hours, days, weeks, months."""

_NUMBER = re.compile(
    r"(?<![\w.])0[xX][0-9A-Fa-f]+|"
    r"(?<![A-Za-z_\d])\d+(?:[.,'’\u00a0\u202f\u066b\u066c ]\d{3}(?!\d)|[.,\u066b]\d+)*(?![A-Za-z_]*\d*[A-Za-z_]*\d)"
)
_SPELT = re.compile(
    r"\b(?:thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half|double|twice|"
    r"dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig|hundert|tausend|million|milliarde|hälfte|halb|dutzend|"
    r"trente|quarante|cinquante|soixante|moitié|treinta|cuarenta|cincuenta|sesenta|ciento|trinta|quarenta|cinquenta)\w*|"
    r"\b(?:cents?|mille|mitad|cien|mil|cem|metade)\b|"
    r"(?<!\w)(?:тридцат|сорок|пятьдесят|шестьдесят|семьдесят|восемьдесят|девяност|сто\b|сот|двест|трист|тысяч|миллион|"
    r"миллиард|половин)\w*|ثلاثون|ثلاثين|أربع[وي]ن|خمس[وي]ن|ست[وي]ن|سبع[وي]ن|ثمان[وي]ن|تسع[وي]ن|مائة|مئة|ألف|مليون|نصف|"
    r"[一二三四五六七八九十百千万亿两]{2,}|[百千万亿]|半",
    re.IGNORECASE,
)


def numbers_in(text: str) -> set[float]:
    """The numbers of a text: 1,000 and 1.000 are one thousand, 3,5 is three and a half, 0x1F is 31."""
    return {value for value, _, _ in _found(text)}


def spells_numbers(text: str) -> bool:
    """Whether a text writes a number above twenty, or a part such as half, in words of the languages known here."""
    return bool(_SPELT.search(unicodedata.normalize("NFKC", text)))


def foreign_number(answer: str, evidence: str, question: str) -> str | None:
    """A number of the answer that stands neither in the evidence nor in the question; None where there is none.

    Not judged: evidence that spells numbers out, counts up to twenty, and what a sum, a difference, a product or a
    ratio of two of the evidence's numbers makes, rounded or not, as a per cent too, and what is one in another unit.
    """
    if spells_numbers(evidence):
        return None
    known = numbers_in(evidence) | numbers_in(question)
    if not known:
        return None
    for value, written, _ in _found(answer):
        is_count = value <= LARGEST_COUNT and value == int(value)
        if not (is_count or value in known or _comes_of(value, known)):
            return written
    return None


def other_amount(answer: str, evidence: str) -> tuple[str, str] | None:
    """(7 cycles, 4 cycles): a number with the word behind it, where the evidence has that word behind one other alone.

    The answer's number stands nowhere in the evidence, also not in another unit, as a sum or a difference.
    """
    if spells_numbers(evidence):
        return None
    known, there = numbers_in(evidence), dict[str, dict[float, str]]()
    for value, unit, written in _amounts(evidence):
        there.setdefault(unit, {})[value] = written
    for value, unit, written in _amounts(answer):
        others = there.get(unit, {})
        if value > 1 and len(others) == 1 and not _comes_of(value, known):
            return written, next(iter(others.values()))
    return None


def _found(text: str) -> Iterator[tuple[float, str, str]]:
    """Each number, digits of every script read as ASCII's: its value, how it is written, and what stands behind it."""
    folded = unicodedata.normalize("NFKC", text)
    plain = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in folded)
    for match in _NUMBER.finditer(plain):
        if (value := _value(match.group())) is not None:
            yield value, match.group(), plain[match.end() : match.end() + 20]


def _amounts(text: str) -> Iterator[tuple[float, str, str]]:
    for value, written, behind in _found(text):
        if unit := re.match(r"[\s\u00a0-]?([^\W\d_]{2,12}|%)", behind):
            yield value, unit[1].casefold()[:5], written + unit.group()


def _value(written: str) -> float | None:
    if written[:2].lower() == "0x":
        return float(int(written, 16))
    text = re.sub(r"['’\u00a0\u202f\u066c ]", "", written).replace("\u066b", ".")
    whole, *parts = re.split("[.,]", text)
    if parts and all(len(part) == 3 for part in parts) and (len(parts) > 1 or whole != "0"):
        return float("".join([whole, *parts]))
    if len(parts) > 1:
        return None  # a version, a date, an address
    return float(".".join([whole, *parts]))


def _comes_of(value: float, known: Collection[float]) -> bool:
    """Whether a number is one of those known, in another unit, or made of two of them.

    Or is equal to one of these once that is rounded to 2 figures or more, as answers round.
    """
    return any(
        value == other or any(value == float(f"{other:.{digits}g}") for digits in (2, 3, 4))
        for other in _made(sorted(known))
    )


def _made(known: Sequence[float]) -> Iterator[float]:
    """The numbers themselves, those in other units, and what two of the first MOST_COMBINED make."""
    for one in known:
        yield one
        for factor in _UNITS:
            yield from (one * factor, one / factor)
    for one, other in permutations(known[:MOST_COMBINED], 2):
        yield from (one + other, one - other, one * other)
        if other:
            yield from (one / other, 100 * one / other, 100 * abs(one - other) / other)


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
    known = f"{evidence} {question}"
    if name := _code(answer, known) or _person(answer, known):
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


def _code(answer: str, known: str) -> str | None:
    """A name of code that does not stand in what is known, whatever its marks; nor, with a number, its number.

    KRT17 may stand there as keratin 17.
    """
    dense = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", known))).casefold()
    for word in answer.split():
        name = word.strip("\"'“”‘’.,;:!?").removeprefix("(")
        bare = "".join(filter(str.isalnum, name)).casefold()
        number = re.fullmatch(r"[a-z]+(\d+)", bare)
        there = bare in dense or bare.removesuffix("s") in dense or bool(number and number[1] in dense)
        if _CODE.fullmatch(name) and not there:
            return name
    return None


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
    known = [(sentence, *_without_negations(sentence, language)) for sentence in _sentences(evidence)]
    for said in _sentences(answer):
        content, n = _without_negations(said, language)
        if len(content) < 4:
            continue
        best, there, n_there = Fraction(0), "", 0
        for sentence, other, n_other in known:
            if (alike := Fraction(len(content & other), len(content | other))) > best:
                best, there, n_there = alike, sentence, n_other
        if best >= ALIKE and (n - n_there) % 2:
            return there if len(there) <= 120 else there[:120] + "…"
    return None


def _sentences(text: str) -> Sequence[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def _without_negations(text: str, language: str) -> tuple[frozenset[str], int]:
    """(The content words that are no negations, how many negations there are)."""
    rest = " ".join(word for word in _CHINESE_NOT.sub("", text).split() if not _is_negation(word))
    n = sum(map(_is_negation, text.split())) + len(_CHINESE_NOT.findall(text))
    return shape_of(rest, language).content, n


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
