"""Of every format: what is written and read again is the same but for the parts that it says it cannot hold."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from support.made_collections import collections
from support.pages import PAGES
from support.reduced import reduced

from ragassay.cli.verbs.export import TO
from ragassay.cli.verbs.import_ import FROM
from ragassay.evaluate.from_files.collections.collection import Collection
from ragassay.evaluate.from_files.collections.formats import FORMATS, READERS
from ragassay.evaluate.from_files.collections.held import not_held


def written(name: str, made: Collection, folder: Path) -> dict[str, bytes]:
    """Every file of it, by its place."""
    FORMATS[name].write(made, folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def read(name: str, folder: Path) -> Collection:
    return replace(READERS[FORMATS[name].source or name]([folder]), notes=())


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(deadline=None, max_examples=25)
@given(made=collections())
def test_what_is_read_again_is_the_same_but_for_what_is_named(name: str, made: Collection):
    assume(made.counts()["answers"] or name not in ("phoenix", "mlflow-traces"))
    with TemporaryDirectory() as place:
        first, second = Path(place) / "first", Path(place) / "second"
        files = written(name, made, first)
        again = read(name, first)
        if name == "trec":
            again, made = (replace(one, answers={}) for one in (again, made))
        assert reduced(again, {}) == reduced(made, FORMATS[name].loses)
        if name != "trec":
            assert written(name, again, second) == files


def test_what_is_lost_is_counted_and_what_is_not_there_is_not():
    assert not_held("X", FORMATS["trec"].loses, Collection()) == []


def test_the_command_line_names_every_format():
    assert set(TO) == {*FORMATS, "mlflow"} and set(FROM) == set(READERS)


def test_the_page_says_of_every_format_what_it_cannot_hold():
    table = dict(
        re.findall(
            r"^\| `([\w-]+)` \| [^|]+ \| ([^|]+) \|$", PAGES["docs/import-export.md"].split("## Export")[1], re.M
        )
    )
    assert {name: ", ".join(one.loses) or "nothing" for name, one in FORMATS.items()} == {
        name: lost for name, lost in table.items() if name in FORMATS
    }
