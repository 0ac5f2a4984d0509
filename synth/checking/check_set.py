"""Checking anyone's test set against a corpus: what is wrong with which question, and what the set is like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.text import one_line

from ..questions.near_meaning import Asked, Embed, Meanings
from .answer_held import comparable, not_held
from .copied import Overlap, overlap
from .corpus_text import CorpusText, windows
from .evidence_there import Found, evidence_of
from .findings import FAULTS, Checked, Counted, Fault, Finding
from .like_the_experts import overlaps_of, realism
from .test_set import Item
from .where import coverage
from .wording import garbled, is_empty, leaning, model_talk, other_script

PRESENTLY = 0.5
"""Share of a set's questions from which on a script that the corpus lacks is the set's own, and no fault."""


@dataclass(frozen=True)
class Looked:
    """One item with what was looked up for it. readable: whether its text is neither empty nor garbled.

    passage: (document, text) that BM25 finds first for it. overlap: with its evidence, or else that passage, whichever
    it shares most with; None where there is neither.
    """

    item: Item
    readable: bool
    evidence: Sequence[Found]
    passage: tuple[str, str] | None
    overlap: Overlap | None


def check_set(
    path: Path, items: Sequence[Item], corpus: CorpusText, experts: Sequence[str] = (), embed: Embed | None = None
) -> Checked:
    """Every fault of every item, and what the set is like as a whole.

    experts: people's questions that it is held against. embed: tells near-duplicates by meaning, which without it are
    told by their words alone. Raises what `embed` does.
    """
    looked = [_looked(item, corpus) for item in items]
    cross = _crosses(looked, corpus)
    findings = [
        *(finding for one in looked for finding in _of_text(one, corpus, cross)),
        *_repeated([one.item for one in looked if one.readable], corpus.language, embed),
        *(finding for one in looked for finding in _of_content(one, corpus)),
    ]
    order = {fault: number for number, fault in enumerate(FAULTS)}
    findings.sort(key=lambda finding: (finding.row, order[finding.fault]))
    readable = [one for one in looked if one.readable]
    overlaps = [one.overlap for one in readable]
    said, about = realism([one.item.text for one in readable], experts, corpus)
    return Checked(
        set=str(path),
        corpus=str(corpus.place),
        n=len(items),
        findings=tuple(findings),
        counts=_counts(looked, findings),
        coverage=coverage(looked, corpus),
        overlap=overlaps_of(overlaps),
        experts_overlap=overlaps_of([_nearest(text, (), corpus)[1] for text in experts]) if experts else None,
        realism=said,
        partly_found=tuple(one.item.id for one in looked if any(_partly(found) for found in one.evidence)),
        notes=(*_notes(items, cross, embed), *about),
    )


def _looked(item: Item, corpus: CorpusText) -> Looked:
    readable = not (is_empty(item.text) or garbled(item.text))
    evidence = evidence_of(item, corpus)
    passage, most = _nearest(item.text, evidence, corpus) if readable else (None, None)
    return Looked(item, readable, evidence, passage, most)


def _nearest(
    question: str, evidence: Sequence[Found], corpus: CorpusText
) -> tuple[tuple[str, str] | None, Overlap | None]:
    passage = corpus.best_passage(question)
    texts = [window for found in evidence if found.text for window in windows(found.text)]
    found = [overlap(question, text, corpus.language) for text in (*texts, *([passage[1]] if passage else []))]
    return passage, max(found, key=lambda one: (one.copied, one.run, one.shared), default=None)


def _crosses(looked: Sequence[Looked], corpus: CorpusText) -> str | None:
    """The script of most questions, where the corpus lacks it: then questions in it are no fault."""
    scripts = Counter(other_script(one.item.text, corpus.scripts) for one in looked if one.readable)
    script, n = max(scripts.items(), key=lambda pair: pair[1], default=(None, 0))
    return script if len(looked) > 1 and n >= PRESENTLY * scripts.total() else None


def _of_text(one: Looked, corpus: CorpusText, cross: str | None) -> Iterator[Finding]:
    text = one.item.text
    if (broken := garbled(text)) and text.strip():
        yield _finding(one.item, "garbled", broken)
    elif is_empty(text):
        shown = one_line(text)
        yield _finding(one.item, "empty", f"only “{shown}”" if shown else "the question is blank")
    if not one.readable:
        return
    if (script := other_script(text, corpus.scripts)) and script != cross:
        yield _finding(one.item, "other-script", f"its letters are {script.title()}, which the corpus has not")
    if words := model_talk(text):
        yield _finding(one.item, "model-talk", f"“{words}”")
    if words := leaning(text):
        yield _finding(one.item, "not-alone", f"leans on “{words}”")


def _repeated(items: Sequence[Item], language: str, embed: Embed | None) -> Iterator[Finding]:
    texts = {item.id: one_line(item.text) for item in items}
    asked = Asked(language, Meanings.of(embed, texts.values()) if embed else None)
    for item in items:
        if earlier := asked.repeated(texts[item.id]):
            other = earlier.split(", in other words")[0]
            yield _finding(item, "near-duplicate", f"asks what {earlier} asks", other)
        else:
            asked.add(item.id, texts[item.id])


def _of_content(one: Looked, corpus: CorpusText) -> Iterator[Finding]:
    if one.overlap and one.overlap.copied:
        most = one.overlap
        detail = (
            f"{most.run:g} words in a row (“{most.words}”) and {most.shared:.0%} of its content words are a passage's"
        )
        yield _finding(one.item, "copy", detail)
    if missing := [found.fault for found in one.evidence if found.fault]:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        yield _finding(one.item, "evidence-not-in-corpus", missing[0] + more)
    evidence = _judging(one)
    if evidence and (problem := not_held(one.item.answer or "", evidence, one.item.text, corpus.language)):
        yield _finding(one.item, "answer-not-held", problem)


def _judging(one: Looked) -> str:
    """The text that an answer is held against; "" where it cannot be judged."""
    text = "\n".join(found.text for found in one.evidence)
    return text if one.item.answer and comparable(one.item.answer, text) else ""


def _finding(item: Item, fault: Fault, detail: str, other: str | None = None) -> Finding:
    return Finding(id=item.id, fault=fault, row=item.row, line=item.line, detail=one_line(detail), other=other)


def _partly(found: Found) -> bool:
    return found.fault is None and found.share is not None and found.share < 1


def _counts(looked: Sequence[Looked], findings: Sequence[Finding]) -> dict[Fault, Counted]:
    found = Counter(finding.fault for finding in findings)
    readable = sum(one.readable for one in looked)
    able: Mapping[Fault, int] = {
        "empty": len(looked),
        "garbled": len(looked),
        "copy": sum(one.overlap is not None for one in looked),
        "evidence-not-in-corpus": sum(any(each.judged for each in one.evidence) for one in looked),
        "answer-not-held": sum(bool(_judging(one)) for one in looked),
    }
    return {
        fault: Counted(found=found[fault], n=n, n_not_judged=len(looked) - n)
        for fault in FAULTS
        for n in [able.get(fault, readable)]
    }


def _notes(items: Sequence[Item], cross: str | None, embed: Embed | None) -> Iterator[str]:
    if len(items) == 1:
        yield "the set has one question, of which nothing can be said as a set: neither near-duplicates nor realism"
    if cross:
        yield f"half of the questions or more are in {cross.title()} letters, which the corpus lacks: no fault of each"
    if embed is None and len(items) > 1:
        yield "near-duplicates were found by their words alone, not by meaning (--embedding)"
