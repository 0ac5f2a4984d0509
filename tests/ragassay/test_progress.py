"""Counters of work: what is told where one work follows another."""

from __future__ import annotations

import io

from ragassay.progress import Counts, StderrProgress, counter


def test_a_counter_that_goes_on_after_another_counts_its_own():
    said = io.StringIO()
    progress = StderrProgress(said)
    variants, texts = counter(progress, "variants"), counter(progress, "texts")
    variants(1, 2)
    texts(3, 3)
    variants(2, 2)
    assert said.getvalue().splitlines() == ["texts: 3/3", "variants: 2/2"]


def test_other_work_is_counted_anew():
    said = io.StringIO()
    tell = counter(StderrProgress(said), "screen: texts encoded")
    for done, total in [(2, 3), (3, 3), (2, 5), (1, 4), (4, 4)]:
        tell(done, total)
    assert said.getvalue().splitlines() == ["screen: texts encoded: 3/3", "screen: texts encoded: 4/4"]


def test_the_time_left_is_told_by_the_pace_of_what_was_asked():
    """Ten asked in ten seconds, and fifty to ask; what the cache had took no time."""
    seconds = iter([0.0, *[10.0] * 9])
    counts = Counts(100, lambda: next(seconds))
    for outcome in [*["cached"] * 40, *["done"] * 9, "failed"]:
        counts.advance(outcome, None)  # type: ignore[arg-type]
    assert counts.left_s() == 50
    assert counts.line("judge") == "judge: 50/100, 1 failed, 40 from cache, 0:50 left"
