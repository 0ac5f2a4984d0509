"""Whether a question asks one thing: two questions in one, and a choice between given answers, in five languages.

Nobody can say of an answer to half of them whether it is right, and a choice hands the answer over. The patterns aim at
what surely asks twice or offers a choice; they let the doubtful stand.
"""

from __future__ import annotations

import re

from .reject import asks

_MARK = re.compile(r"[?？؟](?![\s?？؟]*[?？؟\"'’”»)\]])")
_ASKING = (
    r"(?:what|why|how|when|where|which|who|whose|whether|was|warum|wieso|wie|wann|wo|wozu|welche\w*|wer|comment|pourquoi|"
    r"quand|où|quels?|quelles?|combien|qué|cómo|cuándo|dónde|cuál(?:es)?|quién|qual|quais|quando|onde|quem)"
)
_AUX = r"(?:is|are|was|were|do|does|did|can|could|should|must|will|would|has|have|may)"
_SUBJECT = r"(?:it|they|there|i|we|you|he|she|one|this|that|these|those|the|my|our|an?)"
_SECOND = re.compile(
    rf"(\w+),? and (?:also |then )?(?:(?:what|why|how|when|where|which|who) (?:\w+ ){{0,2}}(?:{_AUX}|to|many|much)\b|"
    rf"{_AUX} {_SUBJECT}\b)|"
    r"(\w+),? und (?:warum|wieso|wie|wann|wo|wozu|was|welche\w*|wer) \w+|"
    r"(\w+),? et (?:comment|pourquoi|quand|où|quels?|quelles?|combien) \w+|"
    r"(\w+),? y (?:cómo|por qué|cuándo|dónde|cuál(?:es)?|qué|quién) \w+|"
    r"(\w+),? e (?:por que|quando|onde|qual|quais|quem) \w+",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"(?:{_ASKING}|{_AUX})", re.IGNORECASE)
"""What stands before "and" where two words ask the same thing together: "when and where is …"."""

_CHOICE = re.compile(
    r"\beither\b.+\bor\b|\bwhether\b.+\bor\b(?! not\b)|\b(in|on|at|by|with|from|for) (?:\S+ ){1,3}or \1\b|"
    rf"\bor (?:{_AUX}|rather|instead|just|only|merely|simply) {_SUBJECT}\b|"
    rf"^(?:should|shall|must) {_SUBJECT}\b.*\bor\b(?! not\b)|^{_AUX} .*,(?: \w+)? or (?!not\b)|"
    r"^(?:which|who|what)\b.*[,:] .*\bor\b|"
    r"\bentweder\b.+\boder\b|\bob\b.+\boder\b(?! nicht\b)|\boder (?:ist|sind|wird|werden|soll|muss|kann|doch|eher) |"
    r"^(?:soll|sollte|sollten|muss|müssen) (?:ich|wir|man)\b.*\boder\b(?! nicht\b)|"
    r"\bsoit\b.+\bsoit\b|\bou (?:bien|plutôt|est-ce)\b|^(?:dois-je|devrais-je|faut-il)\b.*\bou\b(?! (?:non|pas)\b)|"
    r"\bo (?:bien|más bien)\b|^¿?(?:debo|debería|hay que)\b.*\bo\b(?! no\b)|^(?:devo|deveria)\b.*\bou\b(?! não\b)",
    re.IGNORECASE,
)


def more_than_one(text: str, *, comparison: bool = False) -> str | None:
    """Why a question does not ask one thing, in words for `rejected.jsonl`; None where it does, or asks nothing.

    `text` has its white space folded to single blanks. comparison: whether a choice between two is what is wanted.
    """
    if not asks(text):
        return None
    if len(_MARK.findall(text)) > 1:
        return "two questions in one: two question marks"
    for found in _SECOND.finditer(text):
        before = next(group for group in found.groups() if group)
        if not _BEFORE.fullmatch(before):
            return f"two questions in one: “{found.group()[len(before) :].lstrip(', ')}”"
    if not comparison and (choice := _CHOICE.search(text)):
        return f"either/or: “{choice.group().strip()}”"
    return None
