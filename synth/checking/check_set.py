"""Checking anyone's test set against a corpus: what is wrong with which question, and what the set is like."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragassay.evidence import Span
from ragassay.records import Figure, QuestionsCheck
from ragassay.text import one_line, same_words

from ..looks import FEWEST, features_of, questions_check
from ..questions.reject import Asked, Embed, Meanings, leans_on, machine_words
from .answer_held import comparable, not_held
from .corpus_text import CorpusText, Found, evidence_of, windows
from .test_set import FAULTS, Checked, Counted, Coverage, Covered, Fault, Finding, Item, Overlaps, Spread
from .wording import Overlap, garbled, is_empty, other_script, overlap

SEED = 7
RESAMPLES = 1000
MOST = 400
"""Questions of a set that are held against the experts', drawn at random of a larger one."""


def overlaps_of(found: Sequence[Overlap | None]) -> Overlaps:
    """The spread of both figures; questions for which no passage was found have failed."""
    known = [one for one in found if one is not None]
    n_failed = len(found) - len(known)
    runs, shares = [one.run for one in known], [one.shared for one in known]
    return Overlaps(run=_spread(runs, n_failed), shared=_spread(shares, n_failed))


def _spread(values: Sequence[float], n_failed: int) -> Spread:
    """The mean with the percentile interval of 1,000 resamples of the questions, and the quartiles."""
    if not values:
        return Spread(mean=Figure(value=None, n=0, n_failed=n_failed), quartiles=None)
    row = np.array(values, float)
    rng = np.random.default_rng(SEED)
    means = [float(rng.choice(row, len(row)).mean()) for _ in range(RESAMPLES if len(row) > 1 else 0)]
    low, high = np.percentile(means, [2.5, 97.5]).tolist() if means else (None, None)
    first, median, third = np.percentile(row, [25, 50, 75]).tolist()
    mean = Figure(value=float(row.mean()), n=len(row), n_failed=n_failed, ci_low=low, ci_high=high)
    return Spread(mean=mean, quartiles=(first, median, third))


def realism(
    questions: Sequence[str], experts: Sequence[str], corpus: CorpusText
) -> tuple[QuestionsCheck | None, list[str]]:
    """The classifier two-sample test of a set's questions and the experts', and what is to be said of it.

    Questions of the set that are the experts' own are left out of it.
    """
    if not experts:
        return None, ["there are no experts' questions (questions.txt) to hold the set against: realism is not said"]
    known = {same_words(text) for text in experts}
    others = [text for text in questions if same_words(text) not in known]
    notes = []
    if len(others) < len(questions):
        notes.append(f"{len(questions) - len(others)} questions are the experts' own, and left out of realism")
    if len(others) < FEWEST or len(experts) < FEWEST:
        n = f"{len(experts)} experts' and {len(others)} other questions"
        return None, [*notes, f"realism is not said of {n}: it takes {FEWEST} of each"]
    if len(others) > MOST:
        others = random.Random(SEED).sample(others, MOST)
        notes.append(f"realism is of {MOST} of the questions, drawn at random")
    figures = ([features_of(text, corpus.search, corpus.language) for text in texts] for texts in (experts, others))
    return questions_check(*figures, seed=SEED), notes


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


def coverage(questions: Sequence[Looked], corpus: CorpusText) -> Coverage:
    """Documents and sections asked about, by evidence; by the passage found first for questions that bring none."""
    docs: set[str] = set()
    by_evidence = by_search = 0
    spans: list[Span] = []
    for one in questions:
        known = {found.doc for found in one.evidence if found.doc and not found.fault}
        spans += [found.span for found in one.evidence if found.span]
        by_evidence += bool(known)
        if not known and one.passage:
            by_search += 1
            known = {one.passage[0]}
        docs |= known
    sections = None
    if corpus.sections and spans:  # how many of them the spans begin in or reach into
        asked = sum(
            any(span.doc == one.doc and span.start < one.end and one.start < span.end for span in spans)
            for one in corpus.sections
        )
        sections = Covered(asked=asked, of=len(corpus.sections))
    return Coverage(
        documents=Covered(asked=len(docs), of=len(corpus.documents)),
        sections=sections,
        n_by_evidence=by_evidence,
        n_by_search=by_search,
        n_nowhere=len(questions) - by_evidence - by_search,
    )


def check_set(
    path: Path, items: Sequence[Item], corpus: CorpusText, experts: Sequence[str] = (), embed: Embed | None = None
) -> Checked:
    """Every fault of every item, and what the set is like as a whole.

    experts: people's questions that it is held against. embed: tells near-duplicates by meaning, which without it are
    told by their words alone. Raises what `embed` does.
    """
    looked = []
    for item in items:
        readable, evidence = not (is_empty(item.text) or garbled(item.text)), evidence_of(item, corpus)
        passage, most = _nearest(item.text, evidence, corpus) if readable else (None, None)
        looked.append(Looked(item, readable, evidence, passage, most))
    sound = [one for one in looked if one.readable]
    scripts = Counter(other_script(one.item.text, corpus.scripts) for one in sound)
    most_are, n = max(scripts.items(), key=lambda pair: pair[1], default=(None, 0))
    cross = most_are if len(looked) > 1 and n >= PRESENTLY * len(sound) else None
    findings = [
        *(finding for one in looked for finding in _of_text(one, corpus, cross)),
        *_repeated([one.item for one in sound], corpus.language, embed),
        *(finding for one in looked for finding in _of_content(one, corpus)),
    ]
    order = {fault: number for number, fault in enumerate(FAULTS)}
    findings.sort(key=lambda finding: (finding.row, order[finding.fault]))
    said, about = realism([one.item.text for one in sound], experts, corpus)
    notes = []
    if len(items) == 1:
        alone = "the set has one question, of which nothing can be said as a set"
        notes.append(f"{alone}: neither near-duplicates nor realism")
    if cross:
        half = f"half of the questions or more are in {cross.title()} letters"
        notes.append(f"{half}, which the corpus lacks: no fault of each")
    if embed is None and len(items) > 1:
        notes.append("near-duplicates were found by their words alone, not by meaning (--embedding)")
    return Checked(
        set=str(path),
        corpus=str(corpus.place),
        n=len(items),
        findings=tuple(findings),
        counts=_counts(looked, findings),
        coverage=coverage(looked, corpus),
        overlap=overlaps_of([one.overlap for one in sound]),
        experts_overlap=overlaps_of([_nearest(text, (), corpus)[1] for text in experts]) if experts else None,
        realism=said,
        partly_found=tuple(
            one.item.id
            for one in looked
            if any(found.fault is None and found.share is not None and found.share < 1 for found in one.evidence)
        ),
        notes=(*notes, *about),
    )


def _nearest(
    question: str, evidence: Sequence[Found], corpus: CorpusText
) -> tuple[tuple[str, str] | None, Overlap | None]:
    passage = corpus.best_passage(question)
    texts = [window for found in evidence if found.text for window in windows(found.text)]
    found = [overlap(question, text, corpus.language) for text in (*texts, *([passage[1]] if passage else []))]
    return passage, max(found, key=lambda one: (one.copied, one.run, one.shared), default=None)


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
    if words := machine_words(" ".join(text.split())):
        yield _finding(one.item, "model-talk", f"“{words}”")
    if words := leans_on(" ".join(text.split())):
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
        run = f"{one.overlap.run:g} words in a row (“{one.overlap.words}”)"
        detail = f"{run} and {one.overlap.shared:.0%} of its content words are a passage's"
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
