"""One table in every place: the same cells, and no text in it becomes anything but text."""

from __future__ import annotations

import re

import pytest
from markupsafe import Markup
from support.made_up_results.page import Page

from ragassay.records import Figure
from ragassay.table import Agent, Cell, Column, Group, Table

HOSTILE = "</td><script>alert(1)</script>|[red]*x*\n\x1b[31m\u202e `y`"
FIGURE = Figure(value=0.412, n=36, n_failed=2, ci_low=0.35, ci_high=0.47)


def cell(value: str, n: str = "n 36", **more: str) -> Cell:
    return Cell(value, "[0.35, 0.47]", n, figure=FIGURE, **more)


def table(*rows: tuple[Cell | str, ...], names: tuple[str, ...] = ("Agent", "Score"), **more: object) -> Table:
    return Table("Scores", [Column(name) for name in names], rows, **more)  # type: ignore[arg-type]


def every_rendering(made: Table) -> list[str]:
    return [made.to_html(), made.to_terminal(), made.to_markdown()]


def test_every_rendering_has_every_value_interval_count_and_note():
    made = table((Agent("bm25"), cell("0.41", failed="2 failed")), ("knn", cell("0.30", "n 35")), notes=["One note."])
    for text in every_rendering(made):
        for part in ("bm25", "0.41", "2 failed", "n 36", "knn", "0.30", "n 35", "One note."):
            assert part in re.sub(r"\\|\n", "", text), text
        assert len(re.findall(re.escape("[0.35, 0.47]"), text.replace("\\", ""))) == 2


def test_hostile_text_is_text_in_html_and_markdown_and_steers_no_terminal():
    hostile = Cell(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), HOSTILE)
    made = Table(
        HOSTILE,
        [Column(HOSTILE, HOSTILE), Column("b", HOSTILE), Column("c")],
        [(HOSTILE, hostile, Agent(HOSTILE)), Group(HOSTILE, HOSTILE), ("x", "1", "2")],
        [HOSTILE],
        HOSTILE,
    )
    html, terminal, markdown = every_rendering(made)
    page = Page(f"<p>{html}</p>")
    assert "script" not in {tag for tag, _ in page.tags} and page.text.count("</td><script>alert(1)</script>") >= 9
    for text in (html, terminal, markdown):
        assert "\x1b" not in text and "\u202e" not in text and "\\x1b" in text.replace("\\\\x", "\\x")
    assert "[red]" in terminal
    lines = markdown.splitlines()
    assert len(lines) == 9 and {len(re.findall(r"(?<!\\)\|", line)) for line in lines[2:7]} == {4}
    assert not re.search(r"(?<!\\)[<*`]", markdown.replace("**", "", 2))


def test_markup_stands_in_html_alone():
    html, terminal, markdown = every_rendering(table(("a", Markup("<b>7</b>"))))
    assert "<b>7</b>" in html and "7" in terminal and "<b>" not in terminal and "b>7" not in markdown


def test_what_all_cells_share_is_said_once():
    made = table(("a", cell("1")), ("b", cell("2")))
    assert made.to_html().count("n 36") == 1 and "n 36 in every cell." in made.to_html()
    two = table(("a", cell("1"), cell("3", "n 9")), ("b", cell("2"), cell("4", "n 9")), names=("A", "B", "C"))
    assert "B <small>n 36</small>" in two.to_html() and "in every cell" not in two.to_html()
    assert "B (n 36)" in two.to_markdown() and two.to_markdown().count("n 36") == 1


def test_a_column_without_any_value_is_named_below_with_its_reason_unless_something_failed():
    missing = Cell("–", why="not measured")
    made = table(("a", cell("1"), missing), ("b", cell("2"), missing), names=("A", "B", "Cost"))
    assert "Cost: not measured" in made.to_html() and made.to_html().count("<td") == 2
    failed = table(("a", cell("1"), Cell("–", failed="2 failed", why="all failed")), names=("A", "B", "Cost"))
    assert failed.to_html().count("<td") == 2 and "all failed" in failed.to_html()
    alone = table(("a", missing))
    assert alone.to_html().count("<td") == 1 and "not measured" in alone.to_html()


def test_agents_have_their_colours_and_groups_a_row():
    made = Table("t", [Column("A"), Column("B")], [Group("first", "0 to 2"), (Agent("x"), "1"), (Agent("y"), "2")])
    html = made.to_html({"x": 3}, css="plain")
    assert '<span class="ag c3">x</span>' in html and '<span class="ag c11">y</span>' in html
    assert '<th scope="rowgroup" colspan="2">first <small>0 to 2</small></th>' in html
    assert '<td class="num">1</td>' in html and '<table class="plain">' in html


def test_columns_give_way_in_their_order_and_are_named():
    columns = [Column("Agent"), Column("points"), Column("wide one", keep=1), Column("wide two", keep=2)]
    made = Table("t", columns, [("a", "50.0", "1", "2")], elsewhere="the report")
    assert "left out" not in made.to_terminal(60)
    narrow = made.to_terminal(26)
    assert "wide one" in narrow.splitlines()[0] and "and in the report: wide two" in " ".join(narrow.split())
    assert "50.0" in made.to_terminal(12)


def test_a_terminal_folds_words_and_cuts_no_number_off():
    made = table(("word " * 20, "12,345.67"), names=("Name", "N"))
    text = made.to_terminal(30)
    assert "12,345.67" in text and text.count("word") == 20 and max(map(len, text.splitlines())) <= 30


def test_a_table_without_rows_is_a_sentence(capsys: pytest.CaptureFixture[str]):
    table().print("nothing [b]here[/b]")
    assert capsys.readouterr().out == "nothing [b]here[/b]\n"
    table(("name " * 40, "1")).print()
    assert "name " * 39 in capsys.readouterr().out


def test_a_data_frame_has_numbers_and_keeps_what_has_none():
    made = table(("a", cell("0.41"), "x"), ("b", Cell("–", why="none"), "y"), names=("Agent", "Score", "Word"))
    frame = made.to_pandas()
    assert list(frame.columns) == ["Agent", "Score", "Score low", "Score high", "Score n", "Score failed", "Word"]
    assert frame["Score"][0] == 0.412 and frame["Score"].isna()[1] and frame["Score failed"][0] == 2
    assert list(frame["Word"]) == ["x", "y"]


def test_a_row_has_a_cell_for_each_column():
    with pytest.raises(ValueError, match="1 cells in a row, and 2 columns"):
        table(("a",))
