"""Which way of cutting a `[[chunking]]` names, and the spans that it gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.experiment.plugins import import_own, said
from ragassay.experiment.variant_settings import Chunking
from ragassay.text import plain

from .text import Cut, DocumentText, Span, Strength, Stretch, best

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.floating]

SHORTEST, LONGEST = 0.6, 1.25
"""Of the words asked for; a good place to cut is looked for between the two."""

SHORTEST_TAIL = 0.25
"""What is left over at the end, of the words asked for, joins the passage before when it is less."""

STEP, OVERLAP_STEP = 0.1, 0.25
"""How many words, of those asked for, a better kind of cut may lie away."""


def by_words(text: DocumentText, size: int, overlap: int) -> list[Span]:
    """About `size` words each, at most LONGEST times that, and about `overlap` (less than `size`) of the last's.

    None crosses a hole that left-out pages made.
    """
    return [stretch.span(*run) for stretch in text.stretches for run in windows(stretch.places, size, overlap)]


def windows(places: Sequence[Cut], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """(first, stop) word indexes, stop excluded, that cover the len(places) + 1 words; 0 <= overlap < size."""
    n_words, first, covered, repeated = len(places) + 1, 0, 0, min(overlap, size - 1)
    while n_words - first > LONGEST * size:
        latest = int(min(first + LONGEST * size, n_words - SHORTEST_TAIL * size))
        earliest = min(max(int(first + SHORTEST * size), covered + 1), latest)
        stop = best(places, earliest - 1, latest - 1, first + size - 1, STEP * size) + 1
        if stop <= covered:  # what is left is a tail: the last passage takes it, and less of what is covered
            first = n_words - int(LONGEST * size)
            break
        yield first, stop
        begin = covered = stop
        if repeated:  # so many words before the stop, give or take half of them for a better place
            earliest = max(stop - int(1.5 * repeated), first + 1)
            latest = max(stop - max(repeated // 2, 1), earliest)
            begin = best(places, earliest - 1, latest - 1, stop - repeated - 1, OVERLAP_STEP * repeated) + 1
        first = begin
    yield first, n_words


def parts(places: Sequence[Cut], first: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    """The words from `first` to `stop`, excluded, in runs of at most `size`, cut where it is best to cut."""
    while stop - first > size:
        earliest, latest = first + max(int(SHORTEST * size), 1), first + size
        end = best(places, earliest - 1, latest - 1, latest - 1, STEP * size) + 1
        yield first, end
        first = end
    yield first, stop


Run = tuple[int, int]
"""Indexes of words in a stretch: the first, and the one behind the last."""


def by_headings(stretch: Stretch, size: int) -> Iterator[Run]:
    """The text of each heading: cut by words where it is longer than about `size`, with the next where it is tiny.

    Headings are the outline's and lines that begin with a section's number; text without any is cut by words.
    """
    first, n_words = 0, len(stretch.spans)
    for stop in [*(n for n, place in enumerate(stretch.places, 1) if place.strength == Strength.HEADING), n_words]:
        if stop == n_words or min(stop - first, n_words - stop) >= SHORTEST_TAIL * size:
            for begin, end in windows(stretch.places[first : stop - 1], size, 0):
                yield first + begin, first + end
            first = stop


@dataclass(frozen=True)
class OwnCut:
    """The callable of the chunking `name`; `callable_name` is "module:name", `settings` the file that names it."""

    name: str
    callable_name: str
    settings: Path
    function: Callable[[str], Any]

    def error(self, problem: str, remedy: str | None = None) -> InputError:
        """What is wrong with it, as one sentence."""
        return InputError(plain(f"chunking '{self.name}': {problem}"), file=self.settings, remedy=remedy)


def load_own_cut(name: str, callable_name: str, folder: Path, settings: Path) -> OwnCut:
    """Import "module:name", inside `importable(folder)`: an object with `split_text`, its class, or a function.

    A class is made without arguments. Raises InputError.
    """
    found = import_own(callable_name, folder, f"chunking '{name}'", settings)
    made = OwnCut(name, callable_name, settings, lambda text: text)
    if isinstance(found, type):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise made.error(f"{callable_name} cannot be made without arguments ({said(error)})") from error
    function = getattr(found, "split_text", found)
    if not callable(function):
        remedy = "name a function of a text, or a splitter with split_text"
        raise made.error(f"{callable_name} is nothing that cuts a text", remedy)
    return OwnCut(name, callable_name, settings, function)


def by_python(text: DocumentText, cut: OwnCut) -> list[Span]:
    """What the callable gives for each stretch of the text: pieces of it, or their (start, end) in it.

    Pieces are found again in the text in their order, whatever white space they have; what is empty is left out.
    Raises InputError where the callable fails, and for a piece that is not in the text behind the beginning of the one
    before.
    """
    found: list[Span] = []
    for stretch in text.stretches:
        start, end = stretch.span(0, len(stretch.spans))
        within = text.text[start:end]
        try:
            pieces = list(cut.function(within))
        except (Exception, SystemExit) as error:
            raise cut.error(f"{cut.callable_name} fails on {text.doc} ({said(error)})") from error
        before = (-1, 0)
        for number, piece in enumerate(pieces, 1):
            if isinstance(piece, str) and not piece.strip():
                continue
            span = _find(within, piece, before) if isinstance(piece, str) else _told(within, piece)
            if span is None or span[0] < before[0]:
                shown = " ".join(str(piece).split())
                raise cut.error(
                    f"{cut.callable_name} gives a piece {number} that is not in the text of {text.doc} from where the "
                    f'one before begins: "{shown[:60]}{"…" * (len(shown) > 60)}"',
                    "give pieces of the text as it is, or (start, end) in it, in their order",
                )
            if span[0] < span[1]:
                found.append((start + span[0], start + span[1]))
                before = span
    return found


def _told(text: str, piece: object) -> Span | None:
    """A (start, end) without white space at its ends; None for what is none."""
    if not (isinstance(piece, Iterable) and (both := list(piece)) and len(both) == 2):
        return None
    start, end = both
    if not (type(start) is int and type(end) is int and 0 <= start <= end <= len(text)):
        return None
    begin = min(_after_white(text, start), end)
    return begin, begin + len(text[begin:end].rstrip())


def _find(text: str, piece: str, before: Span) -> Span | None:
    """Where the piece stands: right behind the one before, else first of where it ends behind it, else first at all."""
    pattern = re.compile(r"\s*".join(map(re.escape, piece.split())))
    start, end = before
    if behind := pattern.match(text, _after_white(text, end)):
        return behind.span()
    first: Span | None = None
    at = start + 1
    while match := pattern.search(text, at):
        first = first or match.span()
        if match.end() > end:
            return match.span()
        at = match.start() + 1
    return first


def _after_white(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def by_pages(text: DocumentText, stretch: Stretch, size: int) -> Iterator[Run]:
    """`size` pages each, counted from the first page with text of the stretch; pages without text make none."""
    pages = [text.page_at(start) for start, _ in stretch.spans]
    for _, run in groupby(range(len(pages)), key=lambda word: (pages[word] - pages[0]) // size):
        words = list(run)
        yield words[0], words[-1] + 1


_FIRST, _MARKS = 0xF0000, 0xFFFE
"""A plane of Unicode for private use: cleaned text has nothing from it."""


def by_recursive(text: DocumentText, stretch: Stretch, size: int, overlap: int) -> Iterator[Run]:
    """At most `size` words each, and at most `overlap` (less than `size`) words of the last's, as LangChain has it.

    Where no white space is left to cut at, words stay whole and LangChain's own would cut between any two letters.

    What is split has a mark for each word and the white space between them: the splitter says only the text of its
    pieces, and its `add_start_index` goes wrong where lengths are words (it takes the overlap for characters). By its
    first mark a piece is known among all that read the same.
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, length_function=lambda piece: len("".join(piece.split()))
    )
    between = [text.text[place.end : place.start] for place in stretch.places]
    marks = (chr(_FIRST + number % _MARKS) for number in count())
    marked = "".join(mark + white for white, mark in zip([*between, ""], marks, strict=False))
    first = 0
    for piece in filter(None, ("".join(piece.split()) for piece in splitter.split_text(marked))):
        first += (ord(piece[0]) - _FIRST - first) % _MARKS
        yield first, first + len(piece)


def sentences(stretch: Stretch) -> list[Run]:
    """The stretch's sentences in order; headings, paragraphs and list items end one as well."""
    ends = [number + 1 for number, place in enumerate(stretch.places) if place.strength >= Strength.SENTENCE]
    return list(zip([0, *ends], [*ends, len(stretch.spans)], strict=True))


def cut_to(stretch: Stretch, runs: Sequence[Run], size: int) -> list[Run]:
    """The same, those of more than `size` words cut into parts."""
    return [part for first, stop in runs for part in parts(stretch.places, first, stop, size)]


def filled(runs: Sequence[Run], size: int, overlap: int) -> Iterator[Run]:
    """Neighbouring runs together, as many as fit into `size`; those that fit into `overlap` begin the next as well."""
    first = 0
    while first < len(runs):
        stop = first + 1
        while stop < len(runs) and runs[stop][1] - runs[first][0] <= size:
            stop += 1
        yield runs[first][0], runs[stop - 1][1]
        begin = stop
        while (  # what the next one repeats must leave room for something new
            stop < len(runs)
            and begin > first + 1
            and runs[stop - 1][1] - runs[begin - 1][0] <= overlap
            and runs[stop][1] - runs[begin - 1][0] <= size
        ):
            begin -= 1
        first = begin


NEIGHBOURS = 1
"""Sentences before and after one that are embedded with it."""


def by_meaning(
    text: DocumentText, size: int, breakpoint: float, embed: Callable[[Sequence[str]], Vectors]
) -> list[Span]:
    """Neighbouring sentences whose distance is at most the percentile `breakpoint` (0 to 100), `size` words at most.

    After G. Kamradt, "5 Levels of Text Splitting" (2024), level 4, as LangChain's SemanticChunker has it: each sentence
    is embedded together with one before and one after it, and the text is cut where the cosine distance of neighbours
    is above a percentile of all distances of the document.

    `embed` gives a row for each text. A stretch of sentences that is longer than `size` is filled up sentence by
    sentence.
    """
    runs = [sentences(stretch) for stretch in text.stretches]
    in_company: list[str] = []
    for stretch, own in zip(text.stretches, runs, strict=True):
        for number in range(len(own)):
            some = own[max(0, number - NEIGHBOURS) : number + NEIGHBOURS + 1]
            start, end = stretch.span(some[0][0], some[-1][1])
            in_company.append(text.text[start:end])
    if not in_company:
        return []
    import numpy as np

    rows = np.asarray(embed(in_company), dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    ends = np.cumsum([len(own) for own in runs])
    distances = [1 - np.sum(own[:-1] * own[1:], axis=1) for own in np.split(rows, ends[:-1])]
    every = np.concatenate(distances)
    highest = float(np.percentile(every, breakpoint)) if len(every) else 0.0
    found: list[Span] = []
    for stretch, own, far in zip(text.stretches, runs, distances, strict=True):
        cuts = (np.flatnonzero(far > highest) + 1).tolist()
        for first, stop in pairwise([0, *cuts, len(own)]):
            found += [stretch.span(*run) for run in filled(cut_to(stretch, own[first:stop], size), size, 0)]
    return found


Embed = Callable[[str | None, Sequence[str]], "Vectors"]
"""An embedding by name (None: [retrieval]'s) and texts to a row for each text."""

HERE_ALONE = frozenset({"semantic", "python"})
"""Ways that need an embedding or the user's code: they cut in this process, and not in those that clean documents."""

BREAKPOINT = 95.0
"""The percentile from which on semantic chunking cuts, where none is set: that of LangChain's SemanticChunker."""


@dataclass(frozen=True)
class Means:
    """What HERE_ALONE need: an embedding for semantic chunkings, and the callables by the chunkings' names."""

    embed: Embed | None = None
    own: Mapping[str, OwnCut] = field(default_factory=dict)


def spans_of(text: DocumentText, chunking: Chunking, means: Means | None = None) -> list[Span]:
    """Where the passages of a document begin and end, ascending; none crosses a hole that left-out pages made.

    means: needed by those of HERE_ALONE.
    Raises InputError where the user's own code fails.
    """
    size, overlap = chunking.words, chunking.overlap or 0
    if chunking.by == "semantic":
        assert means and means.embed
        embed, of = means.embed, chunking.embedding
        percentile = BREAKPOINT if chunking.breakpoint is None else chunking.breakpoint
        return by_meaning(text, size, percentile, lambda texts: embed(of, texts))
    if chunking.by == "python":
        assert means
        return by_python(text, means.own[chunking.name])

    def runs(stretch: Stretch) -> Iterator[Run]:
        match chunking.by:
            case "sentences":  # as many whole ones as fit; a longer one is cut into parts
                return filled(cut_to(stretch, sentences(stretch), size), size, overlap)
            case "recursive":
                return by_recursive(text, stretch, size, overlap)
            case "headings":
                return by_headings(stretch, size)
            case "pages":
                return by_pages(text, stretch, size)
            case _:
                return windows(stretch.places, size, overlap)

    return [stretch.span(*run) for stretch in text.stretches for run in runs(stretch)]
