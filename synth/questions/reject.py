"""Which of the questions that models wrote enter the pool, and for what reason the others do not."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ragassay.files import digest_bytes
from ragassay.records import Query, Rejected, Section, Turn

from .own import ExpertQuestion

THRESHOLD = Fraction(4, 5)
"""Two questions are near-duplicates from this Jaccard index of their content words on: 4 of 5 words shared.

It is the resemblance of Broder 1997, "On the resemblance and containment of documents"."""

_WIDE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_WIDE = re.compile(rf"[{_WIDE}]")
_WORD = re.compile(rf"[{_WIDE}]+|(?:(?![{_WIDE}])[\w'’])+")
_SPACED_WORD = re.compile(r"[\w'’]+")
_NAME = re.compile(r"\d|_|.[A-Z]")

_FUNCTION_WORD_LIST = """
    a an and are as at be been being but by can could did do does doing during for from had has have how i if in into is
    it its may me might my must of on one or our shall should so some such than that the their them then there these
    they this those to us was we were what when where which while who whom whose why will with would you your
    aber als am an auf aus bei bin bis das dass dem den der des die dies ein eine einem einen einer eines er es für
    gibt haben hat ich ihr im in ist kann können man mein mit nach oder sich sie sind um und vom von wann warum was
    welche welchem welchen welcher welches wenn wer werden wie wieso wird wir wo worden wurde zu zum zur über
    au aux avec ce ces cette comme comment d dans de des du elle en est et il ils je l la le les leur lorsque ma mes
    mon nous on ou où par pour pourquoi puis quand que quel quelle quelles quels qui s sa se ses son sont sur un une
    vous à
    al como con cuando cuál cuáles cómo cuándo de del desde donde dónde el ella en entre es esta este esto está han hay
    la las lo los me mi o para pero por porque puede pueden puedo qué que quién se ser si son su sus un una y
    ao aos as com como da das de do dos e em entre essa esse esta este eu foi há isso isto já mas meu minha na nas no
    nos o onde os ou para pela pelo pode podem por porque posso qual quais quando quem que se seu sua são um uma é
    """
FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())
"""Words that carry no content in questions in English, German, French, Spanish and Portuguese; "not" is content."""


@dataclass(frozen=True)
class Shape:
    """What is compared of a question: its content words, stemmed; all its words; and those that name a thing."""

    content: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]


@functools.lru_cache(maxsize=4096)
def shape_of(text: str, language: str) -> Shape:
    """The shape of a question. `language` (ISO 639) chooses the stemmer; a language without one is not stemmed.

    Scripts without spaces are cut into pairs of characters. A name is a word with a digit, an underscore or a capital
    after its first letter (`UART1`, `sei_now`, `avrGcc`).
    """
    tokens = tokens_of(text)
    words = frozenset(token.casefold() for token in tokens)
    content = frozenset(content_of(words, language))
    names = frozenset(token.casefold() for token in tokens if _NAME.search(token))
    return Shape(content or words, words, names)


def tokens_of(text: str) -> list[str]:
    """The words of a text in their order; scripts without spaces are cut into pairs of characters."""
    text, found = unicodedata.normalize("NFKC", text), list[str]()
    if not _IS_WIDE.search(text):  # most are so
        return [word.strip("'’_") or word for word in _SPACED_WORD.findall(text)]
    for word in _WORD.findall(text):
        pairs = [word[at : at + 2] for at in range(len(word) - 1)] if _IS_WIDE.match(word) else []
        found += pairs or [word.strip("'’_") or word]
    return found


def words_of(text: str) -> list[str]:
    """The words of a text in their order, in small letters; scripts without spaces are cut into characters."""
    found = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return [part for word in found for part in (word if _IS_WIDE.match(word) else [word.strip("'’_") or word])]


def content_of(words: Iterable[str], language: str) -> list[str]:
    """The stems of those words, in small letters, that carry content."""
    stem = _stem(language)
    return [stem(word) for word in words if word not in FUNCTION_WORDS]


def similarity(one: Shape, other: Shape) -> Fraction:
    """The Jaccard index of the content words, 0 to 1; 0 where one question names a thing that the other does not."""
    if not (one.names <= other.words and other.names <= one.words):
        return Fraction(0)
    union = len(one.content | other.content)
    return Fraction(len(one.content & other.content), union) if union else Fraction(0)


@functools.cache
def _stem(language: str) -> Callable[[str], str]:
    import Stemmer

    try:
        stem: Callable[[str], str] = Stemmer.Stemmer(language.split("-")[0].lower()).stemWord
    except KeyError:
        return str
    return stem


ALIKE = 0.84
"""Part of the way from unrelated questions to equal ones at which two ask the same (docs/questions.md)."""

UNRELATED = (
    "What time does the museum open on Sundays?",
    "How do I make sourdough bread rise better?",
    "Which vaccine is given against measles?",
    "Why does my car make a noise when braking?",
    "Who won the election of 1912?",
    "How can I reset my password?",
    "What is the capital gains tax on shares?",
    "Does aspirin thin the blood?",
    "How tall can a maple tree grow?",
    "Why was the flight cancelled?",
    "How do I connect a printer without a cable?",
    "Is a contract binding without a signature?",
)
"""Questions that have nothing to do with one another; the mean cosine of each two is where a model puts such."""

Embed = Callable[[Sequence[str]], npt.NDArray[np.floating]]
"""Questions to a row each, of any length but zero."""


@dataclass(frozen=True)
class Meanings:
    """rows: a vector of length 1 for each text. threshold: the cosine from which on two texts ask the same.

    Models differ in how near unrelated texts stand, so the cosine that counts as a repetition lies at the same part of
    the way from there to 1 for all of them.
    """

    rows: Mapping[str, npt.NDArray[np.float32]]
    threshold: float

    @classmethod
    def of(cls, embed: Embed, texts: Iterable[str]) -> Meanings:
        """The meanings of those texts. Raises what `embed` does."""
        wanted = list(dict.fromkeys([*UNRELATED, *texts]))
        vectors = embed(wanted).astype(np.float32)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        apart = vectors[: len(UNRELATED)] @ vectors[: len(UNRELATED)].T
        unrelated = float(apart[np.triu_indices(len(UNRELATED), 1)].mean())
        return cls(dict(zip(wanted, vectors, strict=True)), unrelated + ALIKE * (1 - unrelated))


class Asked:
    """Questions asked so far, with a name for each, to hold a new one against. meanings: None for words alone."""

    def __init__(self, language: str, meanings: Meanings | None = None) -> None:
        self._language, self._meanings = language, meanings
        self._known: list[tuple[str, Shape]] = []
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        self._rows: list[npt.NDArray[np.float32]] = []

    def add(self, name: str, text: str) -> None:
        """Remember a question under a name. With meanings, its text must be among them."""
        shape = shape_of(text, self._language)
        for word in shape.content:
            self._by_word[word].append(len(self._known))
        self._known.append((name, shape))
        if self._meanings:
            self._rows.append(self._meanings.rows[text])

    def repeated(self, text: str) -> str | None:
        """The name of the question that this one repeats, and how where not by its words; None where it is new.

        By words and by meaning it is the nearest one at or above the threshold, the earliest of equals; two questions
        of which each names a thing that the other does not (`UART0`, `UART1`) never repeat one another.
        """
        shape = shape_of(text, self._language)
        shared = Counter(index for word in shape.content for index in self._by_word.get(word, ()))
        close = [index for index, count in shared.items() if count >= THRESHOLD * len(shape.content)]
        alike, place = min(((-similarity(shape, self._known[at][1]), at) for at in close), default=(Fraction(0), -1))
        if -alike >= THRESHOLD:
            return self._known[place][0]
        if not self._meanings or not self._rows:
            return None
        cosines = np.round(np.stack(self._rows) @ self._meanings.rows[text], 4)
        near = [
            index
            for index in np.flatnonzero(cosines >= self._meanings.threshold)
            for other in [self._known[index][1]]
            if shape.names <= other.words or other.names <= shape.words
        ]
        best = min(near, key=lambda index: (-cosines[index], index), default=None)
        return None if best is None else f"{self._known[best][0]}, in other words (cosine {cosines[best]:.2f})"


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
_NUMBERING = re.compile(
    r"^(?:(?:\d{1,2}[.):]|[-*•–]|(?:Q|Question|Frage|Pregunta|Pergunta)\s?\d*[.:)])\s+)+", re.IGNORECASE
)
_DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」"}


@dataclass(frozen=True)
class Candidate:
    """A question as a model wrote it about a section; `position` counts from 0 within the reply.

    answer: its golden answer, empty where none was asked for. fault: why it is rejected whatever it says. statement:
    whether it may be without the form of a question. details: what else the pool says of it. history: what was said
    before it in its conversation.
    """

    text: str
    model: str
    section: Section
    position: int
    answer: str = ""
    fault: str | None = None
    statement: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Turn, ...] = ()

    @property
    def compared(self) -> str:
        """What is held against other questions: of a turn the question that stands alone, "" where there is none."""
        if "conversation" not in self.details:
            return clean(self.text)
        return clean(str(self.details.get("stand_alone", "")))

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


def fault_of(text: str, *, statement: bool = False, turn: bool = False) -> str | None:
    """Why a cleaned question, looked at alone, cannot be a query; None where it can.

    statement: whether it may be without the form of a question, as some people's are. turn: whether something was said
    before, so that it may be short, of any form, and lean on that.
    """
    if fault := fault_in_writing(text):
        return fault
    if len(text) > LONGEST:
        return f"too long: more than {LONGEST} characters"
    if machine_words(text):
        return "words between a model and its user, not a question"
    if _CODE.search(text):
        return "code or data, not a question"
    if turn:
        return None
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
    Kept ones have unique ids, also unlike those of the user's `own` queries, whose near-duplicates are rejected too:
    `q-` and the first ten digits of the text's SHA-256 (a turn's with its conversation), more where that is taken. A
    turn is held against others by the question that stands alone.
    """
    known, pool = Asked(language, meanings), Asked(language, meanings)
    for expert in experts:
        known.add(f"copy of the expert question in line {expert.line}", expert.text)
    for query in own:
        if text := _alone(query):
            known.add(f"near-duplicate of the user's own query {query.id}", text)
    taken = {query.id for query in own}
    kept: dict[int, Query] = {}
    rejected: dict[int, Rejected] = {}
    for place, candidate in sorted(enumerate(candidates), key=lambda pair: _draw(pair[1], seed)):
        text = clean(candidate.text)
        extra = per_section is not None and candidate.position >= per_section
        compared = candidate.compared
        reason = candidate.fault or (f"more than {per_section} questions in one reply" if extra else None)
        reason = reason or fault_of(text, statement=candidate.statement, turn=bool(candidate.history))
        reason = reason or (known.repeated(compared) if compared else None)
        if reason is None and compared and (earlier := pool.repeated(compared)):
            reason = f"near-duplicate of {earlier}"
        if reason is not None:
            said, metadata = writable(candidate.text), candidate.metadata
            rejected[place] = Rejected(text=said, metadata=metadata, reason=reason, history=candidate.history)
            continue
        talk = str(candidate.details["conversation"]) if candidate.history else ""
        digest = digest_bytes(f"{talk}{text}".encode())
        name = next(name for length in range(10, 65) if (name := f"q-{digest[:length]}") not in taken)
        taken.add(name)
        if compared:
            pool.add(name, compared)
        kept[place] = Query(id=name, text=text, metadata=candidate.metadata, history=candidate.history)
    return Sifted(tuple(kept[i] for i in sorted(kept)), tuple(rejected[i] for i in sorted(rejected)))


def compared_texts(
    candidates: Sequence[Candidate], experts: Sequence[ExpertQuestion], own: Sequence[Query]
) -> list[str]:
    """Every text that `sift` may hold against another."""
    written = [candidate.compared for candidate in candidates if candidate.fault is None]
    return [text for text in (*written, *(one.text for one in experts), *map(_alone, own)) if text]


def _alone(query: Query) -> str:
    """What is held against other questions, as of a `Candidate`."""
    return (getattr(query.text, "stand_alone", None) or "") if query.history else query.text


def _draw(candidate: Candidate, seed: int) -> tuple[str, str]:
    origin = f"{seed}:{candidate.model}:{candidate.section.id}:{candidate.position}"
    return digest_bytes(origin.encode()), origin


def asks(text: str) -> bool:
    """Whether a text has the form of a question or a request, in the languages that are known here."""
    found = (_MARK, _GREEK_MARK, _REQUEST, _ASKED_WITHOUT_MARK, _ASIAN_REQUEST)
    return any(pattern.search(text) for pattern in found)


def machine_words(text: str) -> str | None:
    """The words of a text that pass between a model and its user; None without any."""
    found = _MACHINE.search(text)
    return found.group().strip() if found else None


def length_words(text: str) -> float:
    """How many words it has; of a script without spaces, two characters are one."""
    return max(len(text.split()), len(_IS_WIDE.findall(text)) / 2)


def writable(text: str) -> str:
    """The text as it came, with half surrogate pairs made visible, since UTF-8 cannot hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


_RUSSIAN_PART = (
    r"(?:текст|отрыв|фрагмент|абзац|раздел(?!\w* диск)|документ|стать|глав|пример|рисун|таблиц|"
    r"отчёт|отчет)\w*"
)
_RUSSIAN = (
    rf"\b(?:данн(?:ый|ого|ому|ым|ом|ая|ой|ую|ое)|эт(?:от|ого|ому|им|ом|а|ой|у|о)|приведённ\w*|приведенн\w*|"
    rf"указанн\w*|представленн\w*|вышеупомянут\w*|упомянут\w*) {_RUSSIAN_PART}",
    r"\b(?:согласно|судя по) (?:тексту|отрывку|фрагменту|абзацу|документу|статье)\b(?=\s*(?:[?.,;:!]|$))",
    r"\bв (?:тексте|отрывке|фрагменте|абзаце|документе|статье)(?=\s*(?:упом|опис|выше|говор))",
    r"\b(?:упомянут|описан|указан|приведён|приведен|перечислен|показан)\w* (?:выше|ниже)\b",
    r"\b(?:вышеупомянут|вышеуказан|нижеприведён|нижеприведен|вышеописан)\w*",
    r"^(?:что|как|зачем|почему|когда) (?:он|она|оно|они|это) (?:делает|делают|возвращает|означает|работает|работают)"
    r"(?=\s*\?)",
)
_CHINESE_PART = "(?:文章|文本|段落|段文字|段话|章节|文档|材料|表格|例子|示例|节选|片段|上下文)"
_CHINESE = (
    f"(?:根据|依据|按照|在)(?:上述|以上|上面|本|该|这篇|这段|此|给定的?|所给的?|提供的?){_CHINESE_PART}",
    "(?:根据|按照|如)(?:上文|下文|本文|文中|上图|下图|上表|下表)",
    f"(?:上述|以上|上面的?|下面的?|以下的?|这篇|这段){_CHINESE_PART}",
    "(?:上文|文中|本文|前文)(?:中)?(?:所)?(?:提到|提及|描述|所述|介绍|说)",
    "^(?:它|他们|她|它们|这个|那个)(?:是什么|返回什么|有什么|怎么|如何|为什么)",
)
_JAPANESE = (
    "(?:この|その|上記の?|以下の|次の|上の|下の)(?:文章|文書|段落|章(?!句)|節(?!約|目)|表(?!現|示|情|面)|図(?!書|形|面)|"
    "例(?!外)|本文|テキスト|抜粋)",
    "(?:本文|文中|上記)(?:に|で|の|によ)",
)
_ARABIC_PART = r"(?:النص|المقطع|الفقرة|القسم|المستند|الوثيقة|المقال|المقالة|الجدول|الشكل|المثال|الفصل)"
_ARABIC = (
    rf"\b(?:هذا|هذه|ذلك|تلك) {_ARABIC_PART}(?=\s|[؟?.,،]|$)",
    rf"(?:وفقا|وفقًا|وفقاً|طبقا|طبقًا|حسب|بحسب|بناء على|استنادا إلى) ?(?:ل|إلى )?(?:{_ARABIC_PART}|لنص|للنص|للمقطع|"
    r"للفقرة|للمستند|للوثيقة|للمقال)(?=\s*(?:[؟?.,،]|$|أعلاه|السابق|المذكور|المعطى))",
    rf"{_ARABIC_PART} (?:أعلاه|أدناه|السابقة?|المذكورة?|المعطاة?|المعطى|المقدمة?)(?=\s|[؟?.,،]|$)",
    r"(?:المذكورة?|الموضحة?|الواردة?) (?:أعلاه|أدناه|سابقا|سابقًا)",
)
_PART = (
    r"(?:passages?|excerpts?|snippets?|extracts?|sections?|sub-?sections?|chapters?|paragraphs?|texts?|documents?|"
    r"articles?|listings?|figures?|tables?|diagrams?|illustrations?|examples?|pages?|appendix|footnotes?)"
)
_WORK = r"(?:document(?:ation)?|manual|guide|handbook|data ?sheet|book|paper|report|specification|authors?)"
_TOLD = (
    r"(?:mentioned|described|discussed|shown|listed|given|provided|stated|presented|outlined|defined|explained|noted)"
)
_THING = (
    r"(?:functions?|registers?|devices?|commands?|options?|macros?|codes?|programs?|values?|parameters?|errors?|"
    r"features?|methods?|approach(?:es)?|settings?|process(?:es)?|tools?|systems?|variables?|steps?|problems?|issues?|"
    r"instructions?|packages?|products?|services?|terms?|concepts?|techniques?|rules?|files?|modules?)"
)
_STOP = r"[?？]|[.,;:!)](?:\s|$)|$"
_ENDS = (
    rf"(?=\s*(?:{_STOP}|above|below|here\b|about|say|state|mention|describe|explain|suggest|recommend|show|define|"
    r"illustrate|demonstrate|cover|do\b|contain))"
)
_WHICH = r"(?:(?:given|provided|above|following|preceding|previous|first|second|last|whole|entire|attached|same) )?"
_ASKS = r"(?:what|why|how|when|where|which|who)"
_AUX = r"(?:does|do|did|is|are|was|were|can|could|should|will|would|has|have|must|may|might)"
_DUMMY = (
    r"(?:that\b|to\b|(?:\w+ly |not |so |still |ever |even |an? |the |any |more |most |less |generally )*"
    r"[\w-]+ (?:\w+ )?(?:to|that|if|for|when|whether)\b|mean\b|matter\b|take\b|make sense|cost\b|possible|"
    r"necessary|safe|worth|ok(?:ay)?\b|true\b|called\b|enough\b|better\b)"
)

_ENGLISH = (
    rf"\b(?:this|these|those) (?:\w+ )?{_PART}\b",
    rf"\b(?:this|these) {_WORK}\b",
    rf"\baccording to (?:the|this|that|these) {_WHICH}(?:{_PART}|{_WORK}|information|context)\b",
    rf"\b(?:in|from|by|on|of|with|see|as per|based on|does|do|did|throughout) the {_WHICH}(?!pages?\b){_PART}{_ENDS}",
    rf"\bthe (?:above|below|aforementioned|(?:above-)?mentioned) (?:\w+ )?(?:{_PART}|{_THING}|{_WORK}|information)\b",
    rf"\bthe (?:given|provided|quoted) (?:\w+ )?(?:{_PART}|code|information|context)\b",
    r"\bthe (?:preceding|previous) (?:section|chapter|paragraph|example|figure|listing|text|passage|excerpt|code)\b",
    rf"\b(?:{_PART}|{_THING}|information|context|code) (?:{_TOLD} )?(?:above|below)\b"
    r"(?! (?:\d\w*|-|zero|the|an?|its|that|this|which|what|about|or|and)\b)",
    rf"\b{_TOLD} (?:above|below|earlier|previously|in the|in this)\b(?! (?:release|version|standard)s?\b)"
    rf"(?: (?:\w+ )?{_PART}\b)?{_ENDS}",
    rf"\bthe {_TOLD} {_PART}\b",
    r"\bthe (?:passage|excerpt|snippet)\b(?! (?:of|from|to|in|between|through)\b)",
    r"\bthe authors?\b(?! of\b)",
    rf"\b(?:(?:of|is|are) the following|the following (?:{_PART}|code|statements?|options?|list|output|program))\b"
    r"(?!.*[:`])",
    r"\b(?:provided|given|supplied) (?:context|information|text|content)\b",
    r"\b(?:figure|fig\.|table|listing|illustration|equation|eq\.|footnote|example) \(?(?:\d+(?:[.-]\d+)*|[IVX]+)\b",
    r"\b(?:in|from|of|on|see|to|by) (?:section|chapter|page|appendix|paragraph) (?:\d+(?:\.\d+)*|[A-Z]|[IVX]+)\b",
    rf"^(?:(?:and|but|so|also|then),? )?(?:{_ASKS} )?{_AUX}(?:n['’]t| not)? it\b(?! (?:be )?{_DUMMY})",
    rf"^(?:(?:and|but|so|also|then),? )?(?:{_ASKS} )?{_AUX}(?:n['’]t| not)? (?:they|them|he|she|these|those)"
    rf"(?=[?？]|$| (?!(?:\w+ )?(?:who|that|which|with|of|in)\b))(?! [\w-]+ {_ASKS})",
    rf"^(?:(?:and|but|so|also|then),? )?(?:{_ASKS} )?{_AUX}(?:n['’]t| not)? (?:this|that)"
    rf"(?=[?？]|$| (?:\w+ly )?(?:is|be|do|mean|work|happen|done|possible|necessary|important|called|used|required|so|"
    rf"affect|differ|compare|safe|matter|allowed|needed|and|or|to|in|on|for|with|when)\b)",
    rf"^(?:\w+,? )?(?:\w+ ){{0,5}}(?:this|these|those) (?:\w+ )?{_THING}\b(?!.*[:`\"“])",
    rf"^{_ASKS} (?:happens|is used|is done|else|is meant)(?: (?:here|there|in this case|then))? ?[?？]?$",
)
_GERMAN = (
    r"\b(?:laut|gemäß|gemäss|nach|in|aus|zufolge) (?:dem|der|den|des)(?: \w+)? "
    r"(?:text(?:abschnitt|stelle|auszug)?|abschnitts?|dokuments?|absatz(?:es)?|auszugs?|passage|kapitels?)"
    r"(?=\s*(?:[?.,;:!](?:\s|$)|$|zufolge|beschrieben|genannt|erwähnt|erklärt|definiert|dargestellt))",
    r"\b(?:laut|gemäß|gemäss) (?:text|abschnitt|dokument|absatz|auszug|passage|kapitel|dem text|dem abschnitt)\b",
    r"\b(?:diese[mnrs]?|obige[mnrs]?|vorliegende[mnrs]?|genannte[mnrs]?|erwähnte[mnrs]?) "
    r"(?:text\w*|abschnitts?|dokuments?|absatz\w*|auszugs?|passage|kapitels?|beispiels?|abbildung|tabelle|seite)\b",
    r"\bim (?:obigen |vorliegenden |genannten |gegebenen )?(?:text|abschnitt|dokument|absatz|auszug|kapitel)"
    r"(?=\s*(?:[?.,;:!](?:\s|$)|$|beschrieben|genannt|erwähnt|erklärt|definiert|dargestellt|oben|angegeben))",
    r"\b(?:oben|zuvor|vorher|hier) (?:genannt|erwähnt|beschrieben|gezeigt|aufgeführt)\w*",
    r"^(?:was|wie|warum|wann|wo|wozu) (?:\w+ )?(?:dies|dieses|diese)(?=\s*\?| (?:getan|genutzt|verwendet|gemacht)\b)",
    r"\b(?:abbildung|tabelle|abb\.) \d+",
)
_FRENCH_PART = r"(?:texte|passage|section|document|extrait|paragraphe|chapitre|article|figure|tableau|exemple|page)"
_FRENCH = (
    rf"\b(?:selon|d['’]après|dans|de|par) (?:(?:le|la|les) |l['’])(?:\w+ )?{_FRENCH_PART}s?(?: fourni\w*)?"
    r"(?=\s*(?:[?.,;:!](?:\s|$)|$|ci-))",
    rf"\b(?:selon|d['’]après) (?:(?:le|la) |l['’]){_FRENCH_PART}\b",
    rf"\b(?:ce|cet|cette|ces) {_FRENCH_PART}s?\b",
    r"\bci-(?:dessus|dessous)\b",
    r"\b(?:susmentionné|précité|mentionné plus haut|décrit plus haut)",
    r"\b(?:figure|tableau) \d+",
)
_IBERIAN = (
    r"\b(?:según|segundo|de acuerdo con|de acordo com|conforme|basado en|com base) (?:el|la|los|este|esta|o|a|no|na) "
    r"(?:\w+ )?(?:texto|pasaje|sección|documento|fragmento|párrafo|capítulo|extracto|passagem|seção|secção|trecho|"
    r"parágrafo|excerto|artículo|artigo)\b",
    r"\b(?:este|esta|estos|estas|neste|nesta|deste|desta) (?:texto|pasaje|sección|documento|fragmento|párrafo|capítulo|"
    r"extracto|passagem|seção|secção|trecho|parágrafo|excerto|ejemplo|exemplo|figura|tabla|tabela|página)\b",
    r"\b(?:en el|en la|del|de la|no|na|do|da) (?:texto|pasaje|sección|documento|fragmento|párrafo|capítulo|extracto|"
    r"passagem|seção|secção|trecho|parágrafo|excerto)(?=\s*(?:[?.,;:!](?:\s|$)|$|anterior|acima|arriba))",
    r"\b(?:mencionad|descrit|citad|indicad|mostrad)[oa]s? (?:arriba|anteriormente|acima|antes|previamente)\b",
    r"\b(?:arriba|anteriormente|acima|antes) (?:mencionad|descrit|citad|indicad)[oa]s?\b",
    r"\b(?:figura|tabla|tabela) \d+",
)
_ALL_LANGUAGES = (*_ENGLISH, *_GERMAN, *_FRENCH, *_IBERIAN, *_RUSSIAN, *_CHINESE, *_JAPANESE, *_ARABIC)
_PATTERNS = [re.compile(pattern, re.IGNORECASE) for pattern in _ALL_LANGUAGES]


def leans_on(text: str) -> str | None:
    """The words by which a question leans on something outside itself, or None where it stands alone.

    A question that leans on what its writer was reading ("according to the passage…", "the example above", "What does
    it return?") cannot be put to a search system. The patterns, of nine languages, aim at what surely leans; they let
    the doubtful stand. `text` has its white space folded to single blanks.
    """
    return next((found.group().strip() for pattern in _PATTERNS if (found := pattern.search(text))), None)
