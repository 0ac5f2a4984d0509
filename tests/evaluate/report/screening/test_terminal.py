"""The screening in the terminal."""

from __future__ import annotations

import io

from rich.cells import cell_len
from rich.console import Console
from support.made_up_results.texts import HOSTILE
from support.made_up_screen import LONG, made_up_screen

from ragassay.evaluate.report.terminal import screen_table
from ragassay.evaluate.screening.screened import ScreenResults


def printed(results: ScreenResults, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(screen_table(results))
    return stream.getvalue()


def test_a_line_a_finalist_with_quality_interval_cost_and_failures():
    lines = printed(made_up_screen(), 180).splitlines()
    assert lines[0].startswith(f"{LONG} leads, but cannot be told")
    header = next(line for line in lines if line.startswith("Finalist")).split()
    assert header[1:3] == ["recall", "[95%]"] and header[-5:] == ["tokens", "p50", "p95", "index", "failed"]
    plain = next(line for line in lines if line.startswith("plain (baseline)")).split()
    assert plain[2:] == ["0.512", "[0.411,", "0.613]", "–", "–", "812", "0.42", "ms", "1.1", "ms", "2.3", "MB", "0"]
    best = next(line for line in lines if line.startswith("hybrid-words") and "0.731" in line)
    assert (
        all(part in best for part in ("0.688", "0.705", "1,507", "18 ms", "1.3 s", "981 B")) and best.split()[-1] == "2"
    )


def test_wide_names_are_folded_and_what_has_no_room_is_named():
    text = printed(made_up_screen(), 80)
    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= 80
    table = [line.split("  ")[0] for line in lines[lines.index(next(x for x in lines if x.startswith("Finalist"))) :]]
    assert LONG in "".join(table)
    assert "left out for want of room, and in screen.html:" in text and "p95" in text
    assert "0.731   [0.642, 0.803]" in text


def test_settings_that_matter_and_those_of_which_nothing_is_told():
    text = printed(made_up_screen(), 150)
    assert "chunking.size of bm25 matters: 160 is 0.164 better." in text
    assert "nothing is told apart by kind" in text


def test_names_are_plain_text_and_nothing_need_be_chosen():
    for name in HOSTILE:
        assert not set(printed(made_up_screen(best=name), 100)) & {"\x1b", "\x07", "\u202e"}
    assert printed(made_up_screen(chosen=None, effects=(), finalists=(), said=("None.",)), 100).strip() == "None."
