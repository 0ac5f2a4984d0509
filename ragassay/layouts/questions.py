"""Questions and corpora as people have them: a table (CSV, TSV, XLSX), JSON or JSON Lines under whatever headings;
BEIR's JSON Lines, lines of id and text, TREC's topics and documents.

What a table's columns are is told by `[questions] columns`, or guessed from their headings and said in a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from ..errors import InputError
from ..experiment.tables import Column
from ..files import check_record, digest_bytes, first_problem, json_line, read_records, read_text
from ..records import Passage, Query
from ..text import csv_text, did_you_mean, listed, one_line, plain
from .cells import TABLES, Row, header_of, read_rows, text

NAME = "questions"
SUFFIXES = (".csv", ".tsv", ".xlsx", ".json", ".jsonl")

HEADINGS: Mapping[Column, tuple[str, ...]] = {
    "question": (
        *("question", "questions", "query", "text", "user input", "input", "prompt", "question text", "query text"),
        *("frage", "fragen", "anfrage", "pregunta", "pergunta", "domanda", "vraag", "fråga", "spørgsmål", "pytanie"),
        *("вопрос", "问题", "質問", "질문"),
    ),
    "answer": (
        *("expected response", "expected answer", "reference answer", "reference", "ground truth", "golden answer"),
        *("gold answer", "gold", "correct answer", "ideal answer", "expected output", "expected", "answer", "answers"),
        *("antwort", "erwartete antwort", "musterantwort", "réponse", "respuesta", "resposta", "risposta", "antwoord"),
        *("svar", "odpowiedź", "ответ", "答案", "回答", "답변"),
    ),
    "id": ("id", "query id", "question id", "qid", "nr", "no", "number", "nummer", "numéro", "número"),
    "role": ("role", "asked by", "persona", "rolle", "rôle", "rol", "ruolo", "papel"),
}
"""What a column may be, and the headings by which it is known, in small letters; the first that is there is taken."""

_ID = re.compile(r"[A-Za-z0-9._-]+")
"""What can stand as a query's id in a TREC file."""

_OURS = frozenset(
    ("evidence", "section", "sections", "model", "kind", "blind", "shared_words", "edited_from", "rejected_for")
)
"""Fields of a query's metadata that ragassay writes: a column of such a name is carried along as `column NAME`."""


class Questions(NamedTuple):
    """The questions of a file, in its order, and a sentence on what its columns were taken for."""

    queries: tuple[Query, ...]
    told: str


def question_files(corpus: Path) -> list[Path]:
    """The files of the corpus folder that could hold the user's own test set: `queries.jsonl` (BEIR), and `questions`
    with one of the SUFFIXES.
    """
    names = ("queries.jsonl", *(f"{NAME}{suffix}" for suffix in SUFFIXES))
    return [path for name in names if (path := corpus / name).exists()]


def question_file(corpus: Path) -> Path | None:
    """The one of `question_files` that there is; None without any. Raises InputError where there are two."""
    found = question_files(corpus)
    if len(found) > 1:
        raise InputError(f"there is {found[1].name} as well", file=found[0], remedy="keep the one that counts")
    return found[0] if found else None


def read_questions(path: Path, columns: Mapping[Column, str]) -> Questions:
    """The questions, with `metadata.expected_response`, `metadata.role` and the other columns where they are filled.

    columns: "question", "answer", "id" or "role" to the heading that has it; the rest is guessed (`HEADINGS`), and what
    was guessed is carried along instead where it is no text. An id that is not there, or guessed and not usable for
    all, is `q-` and the first ten digits of the text's SHA-256. Raises InputError, with the line: no column of
    questions, a heading that is not there or told for two things, a question or an id that cannot be used, and what
    `read_rows` refuses.
    """
    rows = list(read_rows(path, 'write an object a question: {"question": …}'))
    table = path.suffix.lower() in TABLES
    headings = list(dict.fromkeys(name for row in rows for name in row.fields)) or (header_of(path) if table else [])
    if not rows and not headings:
        remedy = "write one a row, below the headings" if table else 'write {"question": …} for each'
        raise InputError("has no question", file=path, remedy=remedy)
    taken = _taken(headings, columns, path)
    if not rows:
        raise InputError("has no question", file=path, remedy="write one a row, below the headings")
    ids = _ids(rows, taken.get("id"), "id" in columns)
    guessed = taken.keys() & {"answer", "role"} - columns.keys()
    no_text = {what for what in guessed if not all(_is_text(row.fields.get(taken[what])) for row in rows)}
    taken = {what: name for what, name in taken.items() if what not in no_text and (what != "id" or ids is not None)}
    texts, made, seen = list[str](), list[str](), Counter[str]()
    for row in rows:
        if not (asked := _text(row, taken["question"])):
            raise row.wrong(f"{_shown(taken['question'])}: there is no question", "write it, or take the row out")
        seen[asked] += 1
        texts.append(asked)
        made.append(made_id(asked) + (f"-{seen[asked]}" if seen[asked] > 1 else ""))
    others = [name for name in headings if name not in taken.values()]
    queries = [
        checked(row._replace(fields={"_id": id, "text": asked, "metadata": _metadata(row, taken, others)}))
        for row, asked, id in zip(rows, texts, ids or made, strict=True)
    ]
    return Questions(tuple(queries), _told(path, len(queries), taken, others))


def checked(row: Row) -> Query:
    """The query of an object as `queries.jsonl` has them, with an id made of its text where it has none.

    Raises InputError: it is no query, its text is blank, too long or not Unicode, its id cannot stand in a TREC file.
    """
    value = row.fields
    if isinstance(asked := value.get("text"), str) and value.get("_id", value.get("id")) is None:
        value = {**value, "_id": made_id(asked)}
    try:
        json_line(value).encode()
        query = Query.model_validate(value)
    except ValidationError as error:
        raise row.wrong(first_problem(error)) from None
    except ValueError:
        raise row.wrong("has NaN or half of a surrogate pair in it") from None
    check_record(query, row.path, row.line)
    if not query.text.strip():
        raise row.wrong("text: is blank")
    if not _ID.fullmatch(query.id):
        raise row.wrong(f"the id '{plain(query.id)}' cannot be used", "use letters, digits, dot, underscore and hyphen")
    return query


def made_id(asked: str) -> str:
    """The id of a question that has none."""
    return f"q-{digest_bytes(asked.encode('utf-8', 'surrogatepass'))[:10]}"


def _is_text(value: object) -> bool:
    """Whether a cell or a field can be an answer or a role; an empty one can."""
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


_LONGEST_NAME, _MOST_NAMES = 60, 12


def _shown(heading: str) -> str:
    """A heading as messages name it: in one line, and not longer than that of anybody who wrote it."""
    name = one_line(heading[: 2 * _LONGEST_NAME])
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _named(headings: Sequence[str]) -> str:
    """The first of the headings in quotes, and how many more there are."""
    filled = [f"'{_shown(name)}'" for name in headings if name]
    more = [f"{len(filled) - _MOST_NAMES:,} more"] if len(filled) > _MOST_NAMES else []
    return listed([*filled[:_MOST_NAMES], *more])


def _taken(headings: Sequence[str], columns: Mapping[Column, str], path: Path) -> dict[Column, str]:
    """What each heading is taken for."""
    taken: dict[Column, str] = {}
    for what, told in columns.items():
        same = [told, *(name for name in headings if one_line(name) == one_line(told))]
        heading = next((name for name in same if name in headings), told)
        if heading not in headings:
            there = f"{one_line(did_you_mean(heading, headings))} there are {_named(headings)}".strip()
            raise InputError(f"has no column '{_shown(heading)}' ({what})", file=path, line=1, remedy=there)
        if other := next((name for name, one in taken.items() if one == heading), None):
            remedy = "name another column for one of them, or leave it out"
            raise InputError(
                f"the column '{_shown(heading)}' is told as {other} and as {what}", file=path, remedy=remedy
            )
        taken[what] = heading
    for what in HEADINGS:
        found = heading_of(what, headings)
        if what not in taken and found is not None and found not in taken.values():
            taken[what] = found
    if "question" not in taken:
        remedy = (
            "say which does, with --column question=HEADING of `ragassay new`, or with columns = { question = "
            '"HEADING" } under [questions]'
        )
        has = f"has {_named(headings)}, and none of them is known to hold questions"
        raise InputError(has if any(headings) else "has no heading", file=path, line=1, remedy=remedy)
    return taken


def heading_of(what: Column, headings: Sequence[str]) -> str | None:
    """The heading that is known to hold that (`HEADINGS`); None where none is."""
    plainly = {_plainly(name): name for name in reversed(headings)}
    return next((plainly[name] for name in HEADINGS[what] if name in plainly), None)


def _plainly(heading: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", re.sub(r"([a-z])([A-Z])", r"\1 \2", heading)).casefold().split())


def _text(row: Row, heading: str) -> str:
    """What the column holds, without white space around it; '' where there is nothing."""
    value = row.fields.get(heading)
    return "" if value is None else row.told(text, value, f"{_shown(heading)}: ").strip()


def _ids(rows: Sequence[Row], heading: str | None, told: bool) -> list[str] | None:
    """Those of the column; None where there is none, or where it was guessed and not each has one of its own."""
    if heading is None:
        return None
    ids: dict[str, int | None] = {}
    for row in rows:
        value = row.fields.get(heading)
        id = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
        if _ID.fullmatch(id) and id not in ids:
            ids[id] = row.line
        elif told:
            problem = f"the id '{plain(id)}' is used twice" if id in ids else f"the id '{plain(id)}' cannot be used"
            remedy = (
                "use each once, of letters, digits, dot, underscore and hyphen; or leave the column out of `columns`"
            )
            raise row.wrong(problem, remedy)
        else:
            return None
    return list(ids)


def _metadata(row: Row, taken: Mapping[Column, str], others: Sequence[str]) -> dict[str, Any]:
    whole = row.fields.get("metadata")
    nested = whole.get("evidence") if isinstance(whole, dict) else None
    given = row.fields.get("evidence")
    if nested or (given and not isinstance(given, str)):
        remedy = 'name the file queries.jsonl, one {"_id": …, "text": …, "metadata": {"evidence": […]}} a line'
        raise row.wrong("evidence is read from queries.jsonl", remedy)
    fields: Mapping[Column, str] = {"answer": "expected_response", "role": "role"}
    metadata: dict[str, Any] = {name: _text(row, taken[what]) for what, name in fields.items() if what in taken}
    metadata = {name: value for name, value in metadata.items() if value}
    for name in others:
        value = row.fields.get(name)
        if name == "metadata" and isinstance(value, dict):
            metadata = {**{key: one for key, one in value.items() if key != "evidence"}, **metadata}
        elif name and value not in (None, ""):
            metadata.setdefault(f"column {name}" if name in _OURS else name, value)
    return {name: value for name, value in metadata.items() if value != ""}


def _told(path: Path, n: int, taken: Mapping[Column, str], others: Sequence[str]) -> str:
    """`questions.csv: 50 questions from the column 'Frage', expected answers from 'Antwort'; ids are made; …`."""
    said = [f"{n:,} question{'s' * (n != 1)} from the column '{_shown(taken['question'])}'"]
    said += [f"expected answers from '{_shown(taken['answer'])}'"] if "answer" in taken else []
    said += [f"roles from '{_shown(taken['role'])}'"] if "role" in taken else []
    said += [f"ids from '{_shown(taken['id'])}'"] if "id" in taken else ["ids made from the texts"]
    along = f"; carried along: {_named(others)}" if any(others) else ""
    return f"{one_line(path.name)}: {', '.join(said)}{along}"


Field = Literal["title", "desc", "narr"]
"""Of a TREC topic: the few words, the sentence, and what is relevant."""

_QUERIES = (
    "queries are JSON Lines with _id and text (BEIR), lines of id, tab and text, or TREC topics "
    "(<top> <num> <title> <desc> <narr>)"
)
_HEADERS = {
    *(("id", "text"), ("_id", "text"), ("qid", "query"), ("qid", "text")),
    *(("query_id", "query"), ("query_id", "text")),
}
_TOPIC = re.compile(r"<top\b[^>]*>(.*?)(</top\s*>|(?=<top\b)|\Z)", re.S | re.I)
_TAG = re.compile(r"</?([a-z][\w-]*)\b[^>]*>", re.I)
_LABELS = {"num": "number", "title": "topic", "desc": "description", "narr": "narrative"}
_NAMES = {"question": "title", "query": "title", "description": "desc", "narrative": "narr", "number": "num"}


def read_queries_file(path: Path, fields: Sequence[Field] = ("title",)) -> list[Query]:
    """The queries of `path`, whose layout is told by how it begins: `{` JSON Lines, `<` topics, else a table.

    fields: of a topic, what makes its text, joined by a space; a topic that lacks one of them has the others. Topic
    numbers lose leading zeros, as in TREC's qrels; a table's texts the apostrophe before what a spreadsheet might run
    (`text.csv_text`). A pipe is JSON Lines. Raises InputError with the line.
    """
    if not path.is_file():
        return read_records(path, Query)
    text = read_text(path)
    begin = text.lstrip()[:1]
    if begin == "<":
        return list(_topics(path, text, fields))
    return read_records(path, Query) if begin in {"{", "[", ""} else list(_table(path, text))


def _table(path: Path, text: str) -> Iterator[Query]:
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in line.rstrip("\r").split("\t")]
        if cells == [""] or (number == 1 and tuple(cell.lower() for cell in cells) in _HEADERS):
            continue
        if len(cells) != 2 or not all(cells):
            problem = f"has {len(cells)} columns, a query has its id and its text"
            raise InputError(problem, file=path, line=number, remedy=_QUERIES)
        yield Query(id=cells[0], text=csv_text(cells[1]))


def _topics(path: Path, text: str, fields: Sequence[Field]) -> Iterator[Query]:
    found = False
    for topic in _TOPIC.finditer(text):
        found = True
        line = text.count("\n", 0, topic.start()) + 1
        parts = _parts(topic[1])
        if not (number := parts.get("num", "")) or len(number.split()) != 1:
            raise InputError("a topic without its number (<num>)", file=path, line=line, remedy=_QUERIES)
        told = [parts[field] for field in fields if parts.get(field)]
        if not told:
            problem = f"topic {plain(number)} has no {' and no '.join(f'<{field}>' for field in fields)}"
            there = ", ".join(name for name in parts if name != "num") or "nothing"
            raise InputError(problem, file=path, line=line, remedy=f"it has {plain(there)}: name it with --topic-field")
        yield Query(id=number.lstrip("0") or "0" if number.isdecimal() else number, text=" ".join(told))
    if not found:
        raise InputError("has no <top>", file=path, line=1, remedy=_QUERIES)


def _parts(topic: str) -> dict[str, str]:
    """Tag to text, without the word that repeats the tag ("Number:") and with white space as single spaces."""
    parts: dict[str, str] = {}
    tags = list(_TAG.finditer(topic))
    for tag, following in zip(tags, [*tags[1:], None], strict=True):
        name = _NAMES.get(tag[1].lower(), tag[1].lower())
        if tag[0].startswith("</") or name in parts:
            continue
        words = " ".join(unescape(topic[tag.end() : following.start() if following else None]).split())
        parts[name] = re.sub(rf"^{_LABELS.get(name, name)}:\s*", "", words, flags=re.I)
    return parts


_CORPORA = "a corpus is JSON Lines with _id and text (BEIR), or a TREC collection (<DOC> <DOCNO> … </DOC>)"
_TITLES = ("title", "headline", "head", "hl", "ttl", "ti")
_START, _END = re.compile(rb"<doc\s*>", re.I), re.compile(rb"</doc\s*>", re.I)
_MARKUP = re.compile(r"<[/!]?[a-zA-Z][^<>]*>|<!--.*?-->", re.S)


class TrecCollection:
    """The documents of a file as passages, one at a time; each iteration reads the file anew.

    The title is what stands in TITLE, HEADLINE, HEAD, HL, TTL or TI; the text everything else but DOCNO, DOCID and
    DOCHDR. A document that is not UTF-8 is read as ISO 8859-1, in which old collections are. Iterating raises
    InputError with the line of a document without its DOCNO or its end, and of what stands between documents.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[Passage]:
        for line, document in self._documents():
            try:
                text = document.decode("utf-8")
            except UnicodeDecodeError:
                text = document.decode("iso-8859-1")
            identifier = _words(" ".join(_inside(text, "docno")[:1]))
            if not identifier:
                raise InputError("a document without its <DOCNO>", file=self.path, line=line, remedy=_CORPORA)
            titles = [words for name in _TITLES for part in _inside(text, name) if (words := _words(part))]
            for name in ("docno", "docid", "dochdr", *_TITLES):
                text = re.sub(rf"<{name}\b[^>]*>.*?</{name}\s*>", " ", text, flags=re.S | re.I)
            yield Passage(id=identifier, title=" ".join(titles), text=_words(text))

    def _documents(self) -> Iterator[tuple[int, bytes]]:
        """(line it begins in, what stands between its tags)."""
        begun, held = 0, bytearray()
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                rest = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                while rest:
                    if not begun:
                        start = _START.search(rest)
                        if (rest[: start.start()] if start else rest).strip():
                            raise InputError("stands outside <DOC>", file=self.path, line=number, remedy=_CORPORA)
                        begun, rest = (number, rest[start.end() :]) if start else (0, b"")
                    elif end := _END.search(rest):
                        yield begun, bytes(held + rest[: end.start()])
                        begun, held, rest = 0, bytearray(), rest[end.end() :]
                    else:
                        held += rest
                        rest = b""
        if begun:
            raise InputError("a document without </DOC>", file=self.path, line=begun, remedy=_CORPORA)


def _inside(document: str, name: str) -> list[str]:
    return re.findall(rf"<{name}\b[^>]*>(.*?)</{name}\s*>", document, re.S | re.I)


def _words(marked: str) -> str:
    return " ".join(unescape(_MARKUP.sub(" ", marked)).split())


def is_trec_collection(path: Path) -> bool:
    """Whether the file begins with a tag."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
