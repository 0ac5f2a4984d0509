"""What an answer leaves and repeats: the files that its agent wrote for it, and loops, by three figures or as one."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.records import Assessment, Query
from ragassay.text import plain

from .....texts.sentences import longest_loop, longest_repeat, sentences
from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion, Need, Options, Rule, records
from ....engine.question import JudgeFailed
from .schema import NotJson, parsed

CRITERIA = ("agent_sanity_files", "agent_sanity_json", "agent_sanity_pages")
MOST_FILES, MOST_BYTES, MOST_PAGES = 200, 20_000_000, 2_000
_LINK = re.compile(r"\]\(\s*<?([^()<>\s:?#]{1,300})>?\s*\)")


class AgentSanityOptions(Options):
    """folder: where the agents' files lie, relative to the corpus folder."""

    folder: str | None = None


class AgentSanity(Rule):
    """Looks at the files that an agent wrote for a query, in `FOLDER/AGENT/QUERY_ID/`.

    Expected are those that `metadata.expected_files` names, or where it is not given those that the answer links to
    ("[report](report.pdf)"); a name that leads out of the folder is a file that is not there.

    - agent_sanity_files: those of the expected files that are there / expected files;
    - agent_sanity_json: JSON files there that parse / JSON files there;
    - agent_sanity_pages: pages with something on them / pages, of all files there. A PDF has its own pages, on which
      any text, picture or line is something; every other file is one page, and a character that is no space is
      something. A file that cannot be opened is one page without anything.

    At most 200 files of an answer are looked at, and of each at most 20 MB and 2,000 pages.
    """

    name = "agent_sanity"
    place = 905
    family = "eval-studio-form"
    about = "whether the files an agent was to write are there, its JSON parses and no page is empty; asks no model"
    reads = ("answer",)
    source = "H2O Eval Studio, agent sanity check"
    tags = ("valid and reliable", "ongoing monitoring")
    options: AgentSanityOptions
    options_type = AgentSanityOptions
    criteria = tuple(Criterion(name, threshold=0.75) for name in CRITERIA)

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
        files: list[Path] = []
        if folder is not None and folder.is_dir():  # and below it, without links that lead out
            files = [path for path in sorted(folder.rglob("*")) if _is_file(folder, str(path.relative_to(folder)))]
        if len(files) > MOST_FILES:
            raise JudgeFailed(f"the agent wrote {len(files):,} files, and at most {MOST_FILES} are looked at")
        parsing = [_parses(path) for path in files if path.suffix.lower() == ".json"]
        pages = [page for path in files for page in _pages(path)]
        looked = zip(CRITERIA, (list(there.values()), parsing, pages), strict=True)
        shares = {name: sum(found) / len(found) if found else None for name, found in looked}
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
    if path.suffix.lower() != ".pdf":
        return [bool(data.strip(b" \t\r\n\v\f\0"))]
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return [False]
    pages: list[bool] = []
    with closing(document):
        if len(document) > MOST_PAGES:
            raise JudgeFailed(f"a PDF has {len(document):,} pages, and at most {MOST_PAGES:,} are looked at")
        for number in range(len(document)):
            pages.append(False)
            with suppress(pypdfium2.PdfiumError):
                pages[-1] = next(iter(document[number].get_objects(max_depth=1)), None) is not None
    return pages or [False]


SHORTEST = 10
"""Characters of the shortest sentence that counts."""

_SHOWN = 200
_NOTHING = {
    "unique_sentences": f"the answer has no sentence of {SHORTEST} characters",
    "longest_repeated_substring": "the answer is empty",
    "compression_ratio": "the answer is empty",
}


class Looping(Rule):
    """Measures how much of an answer repeats itself.

    - unique_sentences: distinct sentences / sentences, of those of ten characters and more; 1 is good;
    - longest_repeated_substring: the length of the longest text that stands in the answer twice without overlap, times
      how often it stands there, by the length of the answer; 0 is good, and a loop comes near 1;
    - compression_ratio: the bytes that zlib makes of the answer at level 9, by the answer's bytes (UTF-8); loops are
      near 0. What comes out longer than it went in, as short answers do, is 1.

    The source names 0.75 as its general threshold. Good answers are compressed to less than that (those of the demo to
    as little as 0.48), so ours of the last two let them pass: no answer of the demo and no text of the ten scripts of
    the tests is beyond them, and each is once it is said ten times over.
    """

    name = "looping"
    place = 903
    family = "eval-studio-form"
    about = "whether the answer repeats itself: sentences, its longest repetition, how far it compresses; asks no model"
    reads = ("answer",)
    source = "H2O Eval Studio, looping detection"
    tags = ("valid and reliable", "ongoing monitoring")
    criteria = (
        Criterion("unique_sentences", threshold=0.75),
        Criterion("longest_repeated_substring", lower_is_better=True, threshold=0.5),
        Criterion("compression_ratio", threshold=0.2),
    )

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each; `details` show the repetition and how often it stands in the answer."""
        repeat, times = longest_repeat(case.text)
        long = [one for one in sentences(case.text) if len(one) >= SHORTEST]
        data = case.text.encode("utf-8", "surrogatepass")
        values = {
            "unique_sentences": len(set(long)) / len(long) if long else None,
            "longest_repeated_substring": len(repeat) * times / len(case.text) if case.text else None,
            "compression_ratio": min(len(zlib.compress(data, 9)) / len(data), 1.0) if data else None,
        }
        details: list[Mapping[str, object]] = [{"repeated": repeat[:_SHOWN], "length": len(repeat), "times": times}]
        return records(self, case, values, _NOTHING, details=details if repeat else ())


LEAST, LONG_RULE = 100, 200
"""Characters of a loop that is said three times; of one without a letter or digit."""


class LoopsFound(Rule):
    """Looks for a stretch of ten characters and more that is said four times in a row, or any that is said three times
    and fills LEAST characters; one without a letter or digit, as the rules of tables are, LONG_RULE.

    Ours, beside `looping`: its three figures are shares of the whole answer, which a loop at the end of a long answer
    moves little, and how far zlib compresses depends on the script. Spaces, and the numbers of a list, make no
    difference.
    """

    name = "loops_found"
    place = 904
    family = "eval-studio-form"
    about = "whether a stretch of the answer is said again and again in a row; 1 is a loop; asks no model"
    reads = ("answer",)
    source = "ours, beside H2O Eval Studio's looping detection"
    tags = ("valid and reliable", "ongoing monitoring")
    criteria = (Criterion(name, lower_is_better=True, threshold=0.5),)

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """`details` show the stretch and how often it is said."""
        if not case.text.strip():
            return [self.fail(case, f"{NO_VALUE}the answer is empty")]
        found = longest_loop(case.text)
        worded = any(map(str.isalnum, found.text))
        often = worded and found.times >= 4 and len(found.text) >= SHORTEST
        if not often and found.length < (LEAST if worded else LONG_RULE):
            return [self.assess(case, 0.0, reason="nothing found")]
        details = [{"repeated": found.text[:_SHOWN], "length": len(found.text), "times": found.times}]
        reason = f"{len(found.text)} characters, {found.times} times in a row"
        return [self.assess(case, 1.0, reason=reason, details=details)]
