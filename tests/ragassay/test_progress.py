"""Counters of work: what is told where one work follows another."""

from __future__ import annotations

import io

from ragassay.progress import StderrProgress, counter


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
