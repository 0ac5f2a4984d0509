"""Agent sanity: whether the files that an agent was to write are there, and whether anything is in them.

An agent's files for a query lie in `FOLDER/AGENT/QUERY_ID/`, FOLDER being the option `folder`, relative to the corpus
folder. Expected are those that `metadata.expected_files` names, or where it is not given those that the answer
links to ("[report](report.pdf)"); a name that leads out of the folder is a file that is not there.

- agent_sanity_files: those of the expected files that are there / expected files;
- agent_sanity_json: JSON files there that parse / JSON files there;
- agent_sanity_pages: pages with something on them / pages, of all files there. A PDF has its own pages, on which any
  text, picture or line is something; every other file is one page, and a character that is no space is something.

A file that cannot be opened is one page without anything. At most 200 files of an answer are looked at, and of each at
most 20 MB and 2,000 pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.records import Assessment, Query
from ragassay.text import plain

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, Evaluator, Need, Options
from ....engine.parts import records
from ....engine.reply import JudgeFailed
from .json_text import NotJson, parsed

CRITERIA = ("agent_sanity_files", "agent_sanity_json", "agent_sanity_pages")
MOST_FILES, MOST_BYTES, MOST_PAGES = 200, 20_000_000, 2_000
_LINK = re.compile(r"\]\(\s*<?([^()<>\s:?#]{1,300})>?\s*\)")


class AgentSanityOptions(Options):
    """folder: where the agents' files lie, relative to the corpus folder."""

    folder: str | None = None


class AgentSanity(Evaluator):
    """Looks at the files that an agent wrote for a query."""

    name = "agent_sanity"
    family = "eval-studio-form"
    about = "whether the files an agent was to write are there, its JSON parses and no page is empty; asks no model"
    calls = 0.0
    reads = ("answer",)
    asks = "nothing"
    source = "H2O Eval Studio, agent sanity check"
    tags = ("valid and reliable", "ongoing monitoring")
    options: AgentSanityOptions
    options_type = AgentSanityOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Three shares, from 0 to 1."""
        return tuple(Criterion(name, threshold=0.75) for name in CRITERIA)

    @property
    def judge(self) -> str:
        """The method: nobody judges."""
        return "agent_sanity"

    def check_at_hand(self) -> None:
        """Raises InputError where the folder is not there."""
        if self.options.folder is not None and not self.base.is_dir():
            raise InputError("is not a folder", file=self.base, remedy="see [evaluate.settings.agent_sanity] folder")

    @property
    def base(self) -> Path:
        """FOLDER."""
        return self.setup.folder / (self.options.folder or "")

    def lacks(self, query: Query) -> tuple[Need, ...]:
        """Where no folder is set, queries without expected files are passed over."""
        return ("expected_files",) if self.options.folder is None and _expected(query) is None else ()

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each share; an error where it is of nothing."""
        if self.options.folder is None:
            raise JudgeFailed("[evaluate.settings.agent_sanity] has no folder to look in")
        folder = _inside(_inside(self.base, case.subject), case.query.id)
        expected = _expected(case.query)
        names = list(dict.fromkeys(_LINK.findall(case.text) if expected is None else expected))
        there = {name: _is_file(folder, name) for name in names}
        files = list(_files(folder))
        parsing = [_parses(path) for path in files if path.suffix.lower() == ".json"]
        pages = [page for path in files for page in _pages(path)]
        shares = dict(zip(CRITERIA, map(_share, (list(there.values()), parsing, pages)), strict=True))
        reasons = ("no file is expected", "there is no JSON file", "there is no page")
        details = [{"file": name, "found": found} for name, found in there.items()]
        return records(self, case, shares, dict(zip(CRITERIA, reasons, strict=True)), details=details)


def _expected(query: Query) -> list[str] | None:
    """`metadata.expected_files`, None where it is not given. Raises InputError where it is no list of texts."""
    given: Any = query.metadata.get("expected_files")
    if given is not None and not (isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)):
        problem = f"query '{plain(query.id)}': metadata.expected_files is not a list of names"
        raise InputError(problem, remedy='write it as ["report.pdf"]')
    return None if given is None else list(given)


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def _inside(folder: Path | None, name: str) -> Path | None:
    """The path of a name in a folder; None where it leads out of it or cannot be one."""
    if folder is None or "\0" in name:
        return None
    try:
        path = (folder / name).resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    return path if path != folder.resolve() and path.is_relative_to(folder.resolve()) else None


def _is_file(folder: Path | None, name: str) -> bool:
    path = _inside(folder, name)
    try:
        return path is not None and path.is_file()
    except OSError:
        return False


def _files(folder: Path | None) -> Iterator[Path]:
    """The files in a folder and below it, in order; links that lead out are left out."""
    if folder is None or not folder.is_dir():
        return
    paths = [path for path in sorted(folder.rglob("*")) if _is_file(folder, str(path.relative_to(folder)))]
    if len(paths) > MOST_FILES:
        raise JudgeFailed(f"the agent wrote {len(paths):,} files, and at most {MOST_FILES} are looked at")
    yield from paths


def _read(path: Path) -> bytes:
    if path.stat().st_size > MOST_BYTES:
        raise JudgeFailed(f"'{plain(path.name)}' has more than {MOST_BYTES:,} bytes")
    return path.read_bytes()


def _parses(path: Path) -> bool:
    try:
        parsed(_read(path).decode("utf-8-sig"))
    except (NotJson, UnicodeDecodeError, OSError):
        return False
    return True


def _pages(path: Path) -> list[bool]:
    """Whether something is on each page."""
    try:
        data = _read(path)
    except OSError:
        return [False]
    return _pdf_pages(data) if path.suffix.lower() == ".pdf" else [bool(data.strip(b" \t\r\n\v\f\0"))]


def _pdf_pages(data: bytes) -> list[bool]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return [False]
    try:
        if len(document) > MOST_PAGES:
            raise JudgeFailed(f"a PDF has {len(document):,} pages, and at most {MOST_PAGES:,} are looked at")
        return [_has_something(document, number) for number in range(len(document))] or [False]
    finally:
        document.close()


def _has_something(document: Any, number: int) -> bool:
    import pypdfium2

    try:
        return next(iter(document[number].get_objects(max_depth=1)), None) is not None
    except pypdfium2.PdfiumError:
        return False
