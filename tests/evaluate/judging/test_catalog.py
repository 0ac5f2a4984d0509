"""Judges by name: ours, which register themselves, and what other packages bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.json_lines import records, write_lines
from support.plugin import MODULE, Installed
from support.plugin import plugin as plugin

from ragassay import judges
from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.judging.catalog import built_in, families

NAME = "words_in_bounds"


def test_families_stand_together_in_the_order_of_their_places():
    assert list(built_in())[:3] == ["context_relevance", "groundedness", "answer_relevance"] == [*families()["triad"]]
    assert [*dict.fromkeys(kind.family for kind in built_in().values()), "eval-studio"] == list(families())
    parts = [name for family, names in families().items() if family.startswith("eval-studio-") for name in names]
    assert parts == [*families()["eval-studio"]] and len({kind.place for kind in built_in().values()}) == len(
        built_in()
    )


def test_answers_are_judged_by_what_another_package_brings(tmp_path: Path, plugin: Installed):
    texts = {"short": "so " * 50, "long": "so " * 51}
    write_lines(tmp_path / "queries.jsonl", [{"_id": name, "text": "Which?"} for name in texts])
    answers = [{"query_id": name, "agent": "a", "answer": text, "passages": []} for name, text in texts.items()]
    write_lines(tmp_path / "answers.jsonl", answers)
    given = [part for name in ("answers", "queries") for part in (f"--{name}", f"{tmp_path / name}.jsonl")]
    assert main(["judge", *given, "--with", NAME, "--out", str(tmp_path / "out.jsonl")]) == 0
    assert {row["query_id"]: row["label"] for row in records(tmp_path / "out.jsonl")} == {"short": 1.0, "long": 0.0}


def test_it_is_listed_after_ours_and_is_a_function(plugin: Installed, capsys, tmp_path: Path):
    assert main(["judge", "--list", "--json"]) == 0
    last = json.loads(capsys.readouterr().out)[-1]
    assert (last["name"], last["source"], last["asks"]) == (NAME, "ragassay-example 1.0", "nothing")
    main(["judge", "--list", "--markdown"])
    assert NAME not in capsys.readouterr().out
    assert NAME in dir(judges)
    assert judges.words_in_bounds(query="Which?", answer="a b", most=1, work=tmp_path).label == 0.0


def test_it_is_suggested_where_a_name_is_misspelt_and_named_otherwise_in_its_class_not_taken(plugin: Installed):
    with pytest.raises(InputError, match=f"did you mean '{NAME}'"):
        judges.named("words_in_bound")
    plugin.install(judges={"other": f"{MODULE}:WordsInBounds"})
    with pytest.raises(InputError, match=f"judge 'other' of ragassay-example 1.0 has the name '{NAME}'"):
        judges.named("other")


def test_one_that_is_named_as_ours_is_not_taken_and_not_listed(plugin: Installed, capsys):
    plugin.install(judges={"groundedness": f"{MODULE}:WordsInBounds"})
    assert judges.named("groundedness").__doc__ == judges.groundedness.__doc__
    assert main(["judge", "--list"]) == 2
    assert "'groundedness', which ragassay-example 1.0 brings, is the name of a judge" in capsys.readouterr().err
