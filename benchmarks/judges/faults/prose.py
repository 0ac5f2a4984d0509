"""Texts to plant faults in: the demo's answers, and paragraphs of manuals that were translated.

The manuals are those of Debian's packages debian-handbook (CC BY-SA 3.0 or GPL 2+) and gnome-user-docs (CC BY-SA 3.0),
as they are unpacked; nothing of them is kept here. What is in English, as in the English edition, was not translated.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from ragassay.files import read_records
from ragassay.records import Answer, Query

HANDBOOK, HELP = "usr/share/doc/debian-handbook/html", "usr/share/help"
MANUALS = {
    "zh": (f"{HANDBOOK}/zh-CN", "CJK"),
    "ar": (f"{HANDBOOK}/ar-MA", "ARABIC"),
    "ru": (f"{HANDBOOK}/ru-RU", "CYRILLIC"),
    "ja": (f"{HANDBOOK}/ja-JP", "CJK HIRAGANA KATAKANA"),
    "ko": (f"{HELP}/ko", "HANGUL"),
    "fa": (f"{HANDBOOK}/fa-IR", "ARABIC"),
    "mr": (f"{HELP}/mr", "DEVANAGARI"),
    "de": (f"{HANDBOOK}/de-DE", "LATIN"),
    "fr": (f"{HANDBOOK}/fr-FR", "LATIN"),
}
"""By language: the folder, and the scripts that most letters of a paragraph are in."""

ENGLISH = {HANDBOOK: "en-US", HELP: "C"}
LEAST = 400
"""Letters of a text from manuals; those of the dense scripts count thrice."""

_ENGLISH = re.compile(r"\b(?:the|The|and|with|which|that|this|your|from)\b")
_DENSE = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"})


class Text(NamedTuple):
    """One text: whose (`demo` or a language), its language, a name for a list, what it says, and a question for it."""

    of: str
    language: str
    name: str
    text: str
    question: str


class _Paragraphs(HTMLParser):
    """Collects `<p>` and DocBook's `<div class="para">`, without blocks of code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._parts: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "p" or ("class", "para") in attrs:
            self._parts = []
        elif tag in {"pre", "screen", "table"}:
            self._parts = None

    def handle_endtag(self, tag: str) -> None:
        if tag in {"p", "div"} and self._parts is not None:
            self.found.append(re.sub(r"\s+", " ", "".join(self._parts)).strip())
            self._parts = None

    def handle_data(self, data: str) -> None:
        if self._parts is not None:
            self._parts.append(data)


def of_manuals(folder: Path, most: int) -> list[Text]:
    """Up to `most` texts of each language, evenly over its manual; `folder` holds the unpacked packages."""
    found: list[Text] = []
    for language, (path, scripts) in MANUALS.items():
        english = folder / next(f"{room}/{name}" for room, name in ENGLISH.items() if path.startswith(room))
        known = set(_paragraphs(english))
        mine = (one for one in _paragraphs(folder / path) if one not in known and _is_in(one, scripts.split()))
        texts = list(_joined(mine))
        step = max(1, len(texts) // most)
        found += [
            Text(language, language, f"{language}-{number}", text, texts[number - step][:200])
            for number, text in list(enumerate(texts))[::step][:most]
        ]
    return found


def _paragraphs(folder: Path) -> list[str]:
    """Of all pages of a manual in their order, each once."""
    found: list[str] = []
    for path in sorted(one for one in folder.rglob("*") if one.suffix in {".html", ".page"}):
        reader = _Paragraphs()
        reader.feed(path.read_text(encoding="utf-8"))
        found += [one for one in reader.found if len(one) >= 40]
    return list(dict.fromkeys(found))


def _is_in(text: str, scripts: list[str]) -> bool:
    if len(_ENGLISH.findall(text)) > 1:
        return False
    letters = Counter(unicodedata.name(sign, "?").split()[0] for sign in text if sign.isalpha())
    return sum(letters[script] for script in scripts) >= 0.7 * (letters.total() or 1)


def _joined(paragraphs: Iterator[str]) -> Iterator[str]:
    parts: list[str] = []
    for paragraph in paragraphs:
        parts.append(paragraph)
        if sum(_size(part) for part in parts) >= LEAST:
            yield "\n\n".join(parts)
            parts = []


def _size(text: str) -> int:
    names = (unicodedata.name(sign, "?").split()[0] for sign in text if sign.isalpha())
    return sum(3 if name in _DENSE else 1 for name in names)


def of_the_demo(results: Path) -> list[Text]:
    """Every answer of `make demo`."""
    asked = {query.id: query.text for query in read_records(results / "queries.jsonl", Query)}
    answers = [one for path in sorted((results / "answers").glob("*.jsonl")) for one in read_records(path, Answer)]
    return [
        Text("demo", "en", f"{one.agent}/{one.query_id}", one.answer, asked[one.query_id])
        for one in answers
        if one.answer
    ]
