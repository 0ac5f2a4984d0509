"""`ragassay plot`: one page from one or more results.json."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.made_up_results.workspace import make_workspace

from ragassay.cli import main
from ragassay.evaluate.figures.query_values import box
from ragassay.evaluate.report.page import read_results
from ragassay.files import write_json
from ragassay.records import Figure

HOSTILE = '<img src=x onerror="alert(1)">\u202e'
VALUES = {"q1": 1.0, "q2": 2.0, "q3": 3.0, "q4": 2.0, "q5": 2.0, "q6": None}
MEAN = Figure(value=2.0, n=5, n_failed=1, ci_low=1.2, ci_high=2.8)


@pytest.fixture
def results(tmp_path: Path):
    """A function that writes a folder of results with these boxes: agent to measure to box."""
    made = read_results(make_workspace(tmp_path / "made").figures)

    def write(name: str, boxes: dict[str, dict[str, object]]) -> Path:
        (tmp_path / name).mkdir()
        write_json(tmp_path / name / "results.json", made.model_copy(update={"boxes": boxes}).dump())
        return tmp_path / name

    return write


def plotted(*paths: Path, out: Path, more: tuple[str, ...] = ()) -> str:
    assert main(["plot", *map(str, paths), "--out", str(out), *more]) == 0
    return out.read_text(encoding="utf-8")


def test_the_box_stands_where_its_numbers_say(results, tmp_path: Path) -> None:
    folder = results("one", {"bm25-rag": {"umbrela": box(VALUES, MEAN, (0.0, 3.0))}})
    html = plotted(folder, out=tmp_path / "plot.html")
    svg = re.search(r'<svg class="plot.*?</svg>', html, re.DOTALL)[0]
    # on 0 to 3: all quartiles at 2, which is 66.67%; no whisker; outliers 1 and 3; the mean's interval 40% to 93.33%
    assert 'class="median" x1="66.67%" x2="66.67%"' in svg
    assert re.findall(r'class="out" cx="([\d.]+)%"', svg) == ["33.33", "100"]
    assert 'class="ci" x1="40%" x2="93.33%"' in svg and 'class="mean" cx="66.67%"' in svg
    assert "median 2.000" in svg and "1 failed" in html and "[1.200, 2.800]" in html


def test_runs_stand_side_by_side_on_one_scale(results, tmp_path: Path) -> None:
    one = results("one", {"a": {"m": box(VALUES, MEAN), "only": box(VALUES, MEAN)}, "b": {"m": box(VALUES, MEAN)}})
    two = results("two", {"a": {"m": box({"q1": 9.0}, Figure(value=9.0, n=1))}})
    html = plotted(one, two / "results.json", out=tmp_path / "plot.html")
    panel = html[html.index(">m</h2>") : html.index(">only</h2>")]
    assert re.findall(r'aria-label="(\w+), (\w+):', panel) == [("one", "a"), ("one", "b"), ("two", "a")]
    assert panel.count('class="ticks"') == 1
    assert ">only</h2>" not in plotted(one, two, out=tmp_path / "some.html", more=("--measure", "m"))


def test_names_are_escaped_and_nothing_is_loaded(results, tmp_path: Path) -> None:
    folder = results("one", {HOSTILE: {HOSTILE: box(VALUES, MEAN)}})
    html = plotted(folder, out=tmp_path / "plot.html")
    assert "<img" not in html and "\u202e" not in html and "&lt;img" in html
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append((tag, dict(attrs)))  # type: ignore[method-assign]
    parser.feed(html)
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in tags}
    assert not [attrs for _, attrs in tags if {"src", "href"} & attrs.keys()]


def test_no_value_is_a_dash(results, tmp_path: Path) -> None:
    empty = box({"q1": None}, Figure(value=None, n=0, n_failed=1))
    html = plotted(results("one", {"a": {"m": empty}}), out=tmp_path / "plot.html")
    assert "one, a: no value" in html and 'class="box"' not in html


def test_what_cannot_be_plotted_is_one_sentence(results, tmp_path: Path, capsys) -> None:
    bare, full = results("bare", {}), results("full", {"a": {"m": box(VALUES, MEAN)}})
    out = ["--out", str(tmp_path / "plot.html")]
    for given, said in [
        ([str(bare)], "has no spread of any measure; run `ragassay compare` again"),
        ([str(tmp_path / "none")], "there are no figures yet"),
        ([str(full), str(full / "results.json")], "the same run is given twice"),
        ([str(full), "--measure", "x"], "no run has the measure 'x'; there are m"),
    ]:
        assert main(["plot", *given, *out]) == 2
        err = capsys.readouterr().err
        assert said in err and err.count("\n") == 1
    assert not (tmp_path / "plot.html").exists()
    assert json.loads((full / "results.json").read_text())["boxes"]["a"]["m"]["n_failed"] == 1
