"""Kinds of retrievers by name: ours, and those that another package brings."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest
from support.json_lines import write_lines
from support.plugin import MODULE, Installed
from support.plugin import plugin as plugin

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.files import read_run
from ragassay.retrieval.rankers.ranker import CorpusFile, Ranker, brought, check_kind, indexed_texts, kind_of_ranker

PASSAGES = [
    {"_id": "long", "text": "fuse bits set the clock of the device"},
    {"_id": "short", "text": "the fuse"},
    {"_id": "other", "text": "a timer"},
]


WILD = """
from ragassay import Ranker


class Wild(Ranker):
    name = "wild"

    @classmethod
    def over(cls, material):
        return cls()

    def search(self, queries, k):
        return {given}
"""


def test_ours_are_found_by_name_and_bring_no_package(plugin: Installed) -> None:
    names = ("bm25", "knn", "sparse", "late-interaction", "hybrid")
    assert [kind_of_ranker(name).name for name in names] == list(names)
    assert brought([*names, "python"]) == {} and brought(["knn", "shortest"]) == {"shortest": "ragassay-example 1.0"}


def test_ours_stay_ours_and_a_name_must_be_the_classs(plugin: Installed) -> None:
    plugin.install(retrievers={"knn": f"{MODULE}:Shortest", "brief": f"{MODULE}:Shortest"})
    assert kind_of_ranker("knn").__name__ == "Knn"
    with pytest.raises(InputError, match=r"retriever 'brief' of ragassay-example .* has the name 'shortest'"):
        kind_of_ranker("brief")


def test_a_ranker_without_a_name_is_asked_for_by_nobody() -> None:
    with pytest.raises(InputError, match="unknown retriever ''"):
        kind_of_ranker("")
    with pytest.raises(NotImplementedError, match="has no name"):
        Ranker.over(None)


def test_texts_are_gone_through_anew_and_can_be_given_to_another_process(tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", PASSAGES)
    texts = pickle.loads(pickle.dumps(indexed_texts(CorpusFile(tmp_path / "corpus.jsonl"), 3)))
    assert [*texts] == [*texts] == [one["text"] for one in PASSAGES] and len(texts) == 3 and "the fuse" in texts


@pytest.mark.parametrize(
    ("kind", "settings", "said"),
    [
        ("shortest", {"most": "ten"}, "most is 'ten'; give a value such as 1000"),
        ("shortest", {"most": True}, "most is True"),
        ("shortest", {"least": 1}, "kind = \"shortest\" has no setting 'least'; it takes most"),
        ("bm25", {"most": 1}, "kind = \"bm25\" has no setting 'most'; it takes none of its own"),
        ("python", {"most": 1}, 'settings are not for kind = "python"'),
        ("shortes", {}, "unknown retriever 'shortes'; did you mean 'shortest'"),
    ],
)
def test_settings_that_a_kind_does_not_take_are_said(plugin: Installed, kind: str, settings: dict, said: str) -> None:
    check_kind("shortest", {"most": 10})
    with pytest.raises(InputError) as error:
        check_kind(kind, settings)
    assert said in str(error.value)


def test_files_are_searched_by_what_a_package_brings(plugin: Installed, tmp_path: Path) -> None:
    corpus = write_lines(tmp_path / "corpus.jsonl", PASSAGES)
    queries = write_lines(tmp_path / "queries.jsonl", [{"_id": "q", "text": "the fuse bits"}])
    given = ["search", "--corpus", str(corpus), "--queries", str(queries), "--out", str(tmp_path / "run")]
    assert main([*given, "--retriever", "shortest"]) == 0
    assert read_run(tmp_path / "run") == {"q": [("short", 0.5), ("long", 0.125)]}
    assert main([*given, "--retriever", "shorter"]) == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("1 / 0", r"failed \(ZeroDivisionError: division by zero\); mend or uninstall it"),
        ("[]", r"failed \(ValueError: 0 rankings for 1 queries"),
        ("[[('gone', 1.0)]]", "there is no passage 'gone'"),
        ("[[('long', 1.0), ('long', 1.0)]]", "a passage stands twice"),
        ("[[('long', 1.0), ('short', 2.0)]]", "must not rise"),
        ("[[('long', float('nan'))]]", "must be finite"),
        ("[['long']]", r"failed \(ValueError"),
    ],
)
def test_a_packages_retriever_that_fails_is_said_with_its_package(
    plugin: Installed, tmp_path: Path, capsys, given: str, says: str
) -> None:
    (plugin.folder / f"{tmp_path.name}.py").write_text(WILD.format(given=given))
    plugin.install(retrievers={"wild": f"{tmp_path.name}:Wild"})
    corpus = write_lines(tmp_path / "corpus.jsonl", PASSAGES)
    queries = write_lines(tmp_path / "queries.jsonl", [{"_id": "q", "text": "the fuse bits"}])
    asked = ["search", "--corpus", str(corpus), "--queries", str(queries), "--out", str(tmp_path / "run")]
    assert main([*asked, "--retriever", "wild"]) == 2
    told = capsys.readouterr().err
    assert "retriever 'wild' of ragassay-example 1.0 failed" in told and re.search(says, told)
    assert not (tmp_path / "run").exists()


def test_an_experiment_is_screened_by_it_and_another_version_makes_it_screen_anew(
    plugin: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = tmp_path / "mine"
    write_lines(corpus / "corpus.jsonl", PASSAGES)
    write_lines(
        corpus / "queries.jsonl",
        [{"_id": "q", "text": "the fuse bits", "metadata": {"evidence": [{"passage": "short"}]}}],
    )
    tables = """[ingest]
kinds = ["passages"]
[questions]
source = "own"
[answer]
model = "file:any"
agents = []
[judge]
model = "file:any"
[retrieval]
k = 1
[[retriever]]
name = "brief"
kind = "shortest"
settings = { most = 5 }
[[retriever]]
name = "bm25"
kind = "bm25"
"""
    (corpus / "experiment.toml").write_text(tables)
    for verb in ("ingest", "questions", "screen"):
        assert main([verb, str(corpus)]) == 0, capsys.readouterr().err
    results = tmp_path / "results/mine"
    assert read_run(results / "screening/brief.trec") == {"q": [("short", 0.5)]}
    runs = [json.loads(line) for line in (results / "screening.jsonl").read_text().splitlines()]
    assert [run["settings"].get("settings.most") for run in runs] == [5, None]
    capsys.readouterr()
    assert main(["screen", str(corpus)]) == 0 and "screen: up to date" in capsys.readouterr().err
    plugin.install(version="1.1")
    assert main(["screen", str(corpus)]) == 0
    said = 'screen: running (retrievers.shortest: "ragassay-example 1.0" is now "ragassay-example 1.1"'
    assert said in capsys.readouterr().err
    (corpus / "experiment.toml").write_text(tables.replace('"shortest"', '"longest"'))
    assert main(["screen", str(corpus)]) == 2
    assert "experiment.toml:13: retriever 'brief': unknown retriever 'longest'" in capsys.readouterr().err
