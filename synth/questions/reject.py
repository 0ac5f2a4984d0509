"""Which of the questions that models wrote enter the pool, and for what reason the others do not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragassay.digests import digest_bytes
from ragassay.records import Query, Rejected, Section

from .expert import ExpertQuestion
from .near_meaning import Asked, Meanings
from .stand_alone import leans_on

LONGEST = 400
"""Characters of the longest question that is kept."""
FEWEST_WORDS = 3
"""Words of the shortest one; in scripts without spaces, twice as many characters."""

_MARK = re.compile(r"[?？؟፧՞⁇⸮\u037e]+(?=[\s\"'’”»›)\]」』*_!？?]|$|[^\x00-\x7f])")
_GREEK_MARK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff][\"'»)]?\s?;")
_REQUEST = re.compile(
    r"^(?:please |bitte |merci de |por favor,? |(?:can|could|would) you (?:please )?)*(?:"
    r"explain|describe|list|compare|show|tell|give|help|outline|summari[sz]e|name|find|provide|walk me|"
    r"erkläre?n?|beschreiben?|nennen?|vergleichen?|zeigen?|expliquez?|décri(?:s|vez)|comparez?|listez?|donnez?|"
    r"expli(?:ca|que)|descri(?:be|ba|va)|compar[ae]|enumer[ae]|liste)\b",
    re.IGNORECASE,
)
_ASKED_WITHOUT_MARK = re.compile(
    r"^(?:what|why|how|which|who|whose|wie|was|warum|weshalb|wieso|wozu|womit|wodurch|welche[mnrs]?|wer|wieviele?|"
    r"comment|pourquoi|quel(?:le)?s?|combien|est-ce|qu['’]est-ce|cómo|qué|por qué|cuál(?:es)?|cuánt[oa]s?|quién|"
    r"o que|por que|qua(?:l|is)|quant[oa]s?|quem)\b.*[^.!:,;]$",
    re.IGNORECASE,
)
_ASIAN_REQUEST = re.compile(r"か。?$|[吗呢嗎][。]?$|什么|什麼|如何|怎么|怎麼|怎样|哪|多少|(?:까|나요|가요)[.。]?$")
_CODE = re.compile(
    r"^[\[{<`#|]|```|[\]}]$|\"(?:question|questions|fact|text)\"\s*:|\\n|^(?:import|return|def|const|var) "
)
_MACHINE = re.compile(
    r"<\|\w|</?(?:s|think|im_start|im_end)>|</(?:section|example|system|assistant)>|\[/?INST\]|"
    r"^(?:system|assistant|user|human)\s*:|"
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your |my )*(?:previous|prior|above|earlier|preceding|these) "
    r"(?:\w+ )?(?:instructions?|prompts?|messages?)|"
    r"\b(?:reveal|print|repeat|output|show me|tell me) (?:your|the) (?:system )?(?:prompt|instructions)\b|"
    r"\byou are (?:now )?(?:a |an )?(?:helpful |language |ai )?(?:assistant|chatgpt|model|ai|judge)\b|\bas an ai\b|"
    r"\bi(?:'m|’m| am) sorry\b|\bi (?:cannot|can['’]t|am unable to) "
    r"(?:assist|help|provide|generate|create|comply|write|fulfil)|"
    r"\bhere (?:are|is) (?:\d+ |ten |the |some |your |a )*questions?\b|"
    r"\b(?:ignorier\w*|ignore[zr]?|ignora|ignoriere) (?:alle|toutes? les|todas las|todas as) \w+",
    re.IGNORECASE,
)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NUMBERING = re.compile(
    r"^(?:(?:\d{1,2}[.):]|[-*•–]|(?:Q|Question|Frage|Pregunta|Pergunta)\s?\d*[.:)])\s+)+", re.IGNORECASE
)
_DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」"}


@dataclass(frozen=True)
class Candidate:
    """A question as a model wrote it about a section; `position` counts from 0 within the reply.

    answer: its golden answer, empty where none was asked for. fault: why it is rejected whatever it says. statement:
    whether it may be without the form of a question. details: what else the pool says of it.
    """

    text: str
    model: str
    section: Section
    position: int
    answer: str = ""
    fault: str | None = None
    statement: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def metadata(self) -> dict[str, Any]:
        """What the pool and the rejected file say of where a question comes from."""
        section = self.section
        place = {"doc": section.doc, "first_page": section.first_page, "last_page": section.last_page}
        golden = {"expected_response": writable(self.answer)} if self.answer else {}
        return {"model": self.model, "section": section.id, **place, **self.details, **golden}


@dataclass(frozen=True)
class Sifted:
    """`kept` and `rejected` together hold each candidate once, both in the candidates' order."""

    kept: tuple[Query, ...]
    rejected: tuple[Rejected, ...]


def clean(text: str) -> str:
    """The question on one line, without a number, a bullet or a pair of quotation marks around it."""
    text = _NUMBERING.sub("", " ".join(text.split()))
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[-1] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def fault_of(text: str, *, statement: bool = False) -> str | None:
    """Why a cleaned question, looked at alone, cannot be a query; None where it can.

    statement: whether it may be without the form of a question, as some people's are.
    """
    if fault := fault_in_writing(text):
        return fault
    if len(text) > LONGEST:
        return f"too long: more than {LONGEST} characters"
    if machine_words(text):
        return "words between a model and its user, not a question"
    if _CODE.search(text):
        return "code or data, not a question"
    if length_words(text) < FEWEST_WORDS:
        return f"too short: fewer than {FEWEST_WORDS} words"
    if not statement and not asks(text):
        return "not a question"
    if words := leans_on(text):
        return f"cannot stand alone: “{words}”"
    return None


def fault_in_writing(text: str) -> str | None:
    """Why a text cannot be a query whoever wants it; None where it can."""
    if not text:
        return "empty"
    if any(unicodedata.category(char) in {"Cc", "Cs", "Co"} or char in _DIRECTIONS for char in text):
        return "control characters or broken text"
    return None


def sift(
    candidates: Sequence[Candidate],
    experts: Sequence[ExpertQuestion],
    own: Sequence[Query],
    *,
    per_section: int | None,
    language: str,
    seed: int,
    meanings: Meanings | None = None,
) -> Sifted:
    """Divide candidates into what the pool takes and what it does not, with the reason.

    per_section: how many a reply may have, None where its candidates have been counted already. meanings: those of
    `compared_texts`, where near-duplicates are to be found by them as well.

    Near-duplicates are found in an order drawn by the seed, in which no model comes before the others; it does not
    depend on which candidates there are, so that one reply more changes nothing among the rest but what it duplicates.
    Kept ones have unique ids, also unlike those of the user's `own` queries, whose near-duplicates are rejected too.
    """
    places = {id(candidate): index for index, candidate in enumerate(candidates)}
    known = _known(experts, own, Asked(language, meanings))
    pool = Asked(language, meanings)
    taken = {query.id for query in own}
    kept: dict[int, Query] = {}
    rejected: dict[int, Rejected] = {}
    for candidate in sorted(candidates, key=lambda candidate: _draw(candidate, seed)):
        text = clean(candidate.text)
        reason = candidate.fault or _extra(candidate, per_section) or fault_of(text, statement=candidate.statement)
        reason = reason or known.repeated(text)
        if reason is None and (earlier := pool.repeated(text)):
            reason = f"near-duplicate of {earlier}"
        if reason is None:
            query = Query(id=_id(text, taken), text=text, metadata=candidate.metadata)
            taken.add(query.id)
            pool.add(query.id, text)
            kept[places[id(candidate)]] = query
        else:
            rejected[places[id(candidate)]] = Rejected(
                text=writable(candidate.text), metadata=candidate.metadata, reason=reason
            )
    return Sifted(tuple(kept[i] for i in sorted(kept)), tuple(rejected[i] for i in sorted(rejected)))


def compared_texts(
    candidates: Sequence[Candidate], experts: Sequence[ExpertQuestion], own: Sequence[Query]
) -> list[str]:
    """Every text that `sift` may hold against another."""
    written = [clean(candidate.text) for candidate in candidates if candidate.fault is None]
    return [text for text in (*written, *(one.text for one in experts), *(one.text for one in own)) if text]


def _known(experts: Sequence[ExpertQuestion], own: Sequence[Query], known: Asked) -> Asked:
    for expert in experts:
        known.add(f"copy of the expert question in line {expert.line}", expert.text)
    for query in own:
        known.add(f"near-duplicate of the user's own query {query.id}", query.text)
    return known


def _extra(candidate: Candidate, per_section: int | None) -> str | None:
    extra = per_section is not None and candidate.position >= per_section
    return f"more than {per_section} questions in one reply" if extra else None


def _draw(candidate: Candidate, seed: int) -> tuple[str, str]:
    origin = f"{seed}:{candidate.model}:{candidate.section.id}:{candidate.position}"
    return digest_bytes(origin.encode()), origin


def _id(text: str, taken: set[str]) -> str:
    """`q-` and the first ten digits of the text's SHA-256, more where that is taken."""
    digest = digest_bytes(text.encode())
    return next(name for length in range(10, 65) if (name := f"q-{digest[:length]}") not in taken)


def asks(text: str) -> bool:
    """Whether a text has the form of a question or a request, in the languages that are known here."""
    found = (_MARK, _GREEK_MARK, _REQUEST, _ASKED_WITHOUT_MARK, _ASIAN_REQUEST)
    return any(pattern.search(text) for pattern in found)


def machine_words(text: str) -> str | None:
    """The words of a text that pass between a model and its user; None without any."""
    found = _MACHINE.search(text)
    return found.group().strip() if found else None


def length_words(text: str) -> float:
    return max(len(text.split()), len(_UNSPACED.findall(text)) / 2)


def writable(text: str) -> str:
    """The text as it came, with half surrogate pairs made visible, since UTF-8 cannot hold them."""
    return text.encode("utf-8", "backslashreplace").decode()
