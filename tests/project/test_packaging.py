"""What `pip install .` packs: of the demo's corpus the files that are named, and nothing that somebody made there."""

from __future__ import annotations

import tomllib

from support.places import ROOT


def test_of_a_corpus_nothing_is_packed_by_a_pattern():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    data = settings["tool"]["setuptools"]["package-data"]["ragassay"]
    named = [name for name in data if name.startswith("corpora/")]
    assert len(named) == len(set(named)) > 10
    assert [name for name in named if not (ROOT / name).is_file()] == []
