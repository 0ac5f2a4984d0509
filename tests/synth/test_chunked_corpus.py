"""What `[[chunking]]` tables add to the corpus, and that everything else stays as it was."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from support.digest_encoder import DigestEncoder
from support.json_lines import records
from support.loopback.server import ScriptedServer
from support.need_replies import sober
from support.read_once import pdfs_read_once as pdfs_read_once
from support.results_folder import experiment, results_folder
from support.scripted_judge import Scripted
from support.small_corpus import answer_everything, make_corpus

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace, chunking_of, count_passages, read_passages
from ragassay.files import read_records
from ragassay.records import Page, Passage, Section
from ragassay.retrieval.rankers import embedding
from ragassay.synth.ingest import ingest
from ragassay.synth.make_questions import make_questions

MODEL = "openai:a"
CHUNKINGS = """
[[chunking]]
name = "tiny"
by = "sentences"
size = [15, 30]
returns = "section"

[[chunking]]
name = "meaning"
by = "semantic"
size = 60

[[chunking]]
name = "mine"
by = "python"
callable = "my_cuts:lines"
"""


def turned(model: str | None, texts: Sequence[str]) -> npt.NDArray[np.floating]:
    assert model is None
    return np.array([[len(text), 1.0] for text in texts])


def open_corpus(folder: Path, more: str, base_url: str | None = None) -> Workspace:
    make_corpus(folder / "c", MODEL, base_url, more=more)
    (folder / "c" / "my_cuts.py").write_text("def lines(text):\n    return text.splitlines()\n", "utf-8")
    return Workspace(folder / "c", folder / "r", load_experiment(folder / "c" / "experiment.toml"))


def test_ingests_own_passages_come_first_and_then_each_chunking(tmp_path: Path) -> None:
    workspace = open_corpus(tmp_path, "")
    ingest(workspace)
    before = {path: path.read_bytes() for path in (workspace.passages, workspace.pages, workspace.sections)}
    n_before = count_passages(workspace.passages)
    outcome = ingest(open_corpus(tmp_path, CHUNKINGS), None, turned)
    assert workspace.passages.read_bytes().startswith(before.pop(workspace.passages))
    assert all(path.read_bytes() == content for path, content in before.items())

    found = read_records(workspace.passages, Passage)
    assert outcome.n_records == len(found) == len({one.id for one in found})
    order = list(dict.fromkeys(map(chunking_of, found)))
    assert order == ["ingest", "tiny-size_15", "tiny-size_30", "meaning", "mine", "sections"]
    assert len(read_passages(workspace.passages)) == count_passages(workspace.passages) == n_before

    pages = read_records(workspace.pages, Page)
    texts = {doc: "\n".join(one.text for one in pages if one.doc == doc) for doc in {one.doc for one in pages}}
    for one in found:
        where = one.metadata
        assert one.text == texts[where["doc"]][where["start"] : where["end"]]
        prefix = "" if chunking_of(one) == "ingest" else f"{chunking_of(one)}."
        assert one.id.startswith((f"{prefix}errata-", f"{prefix}user-manual-"))
        assert ("section" in where) == chunking_of(one).startswith("tiny")
    sections = {f"sections.{section.id}" for section in read_records(workspace.sections, Section)}
    assert {one.metadata["section"] for one in found if "section" in one.metadata} <= sections
    assert {one.id for one in read_passages(workspace.passages, "sections")} == sections


def test_a_chunking_changes_no_question_and_asks_for_none(tmp_path: Path) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        workspace = open_corpus(tmp_path, "", server.base_url)
        to = [str(workspace.corpus), "--results", str(workspace.results)]
        assert main(["ingest", *to]) == main(["questions", *to]) == 0
        queries, asked = workspace.queries.read_bytes(), len(server.requests)
        open_corpus(tmp_path, CHUNKINGS.partition('[[chunking]]\nname = "meaning"')[0], server.base_url)
        assert main(["ingest", *to]) == main(["questions", *to]) == 0
        assert len(read_records(workspace.passages, Passage)) > count_passages(workspace.passages)
        assert (workspace.queries.read_bytes(), len(server.requests)) == (queries, asked)


RARE = ["BOOTRST fuse", "IVSEL bit", "XMEGA core", "prescaler drift", "brown-out level", "stack canary"]


def section(n: int) -> Section:
    text = f"Secret{n} wisdom of the {RARE[n % 6]} and the {RARE[(n + 1) % 6]}: part {n} of it holds for all."
    return Section(id=f"a-{n}", doc="a.pdf", first_page=n + 1, last_page=n + 1, start=900 * n, end=900 * n, text=text)


def test_questions_are_chosen_by_ingests_passages_alone(tmp_path: Path) -> None:
    sections = [section(n) for n in range(6)]
    passages = [Passage(id=one.id, text=one.text) for one in sections]

    def chosen(name: str, more: Sequence[Passage]) -> tuple[Workspace, bytes]:
        table = {"source": "synthetic", "quota": {"file:a": 8}, "sections": 6, "per_section": 4, "few_shot": 1}
        settings = experiment("file:x", questions=table)
        workspace = results_folder(tmp_path / name, settings, sections=sections, passages=[*passages, *more])
        workspace.expert_questions.write_text("rep\tWhat does R cost?\n")
        make_questions(workspace, Scripted(sober))  # type: ignore[arg-type]
        return workspace, workspace.queries.read_bytes() + workspace.questions_check.read_bytes()

    workspace, alone = chosen("alone", ())
    pool = records(workspace.pool)
    likely = [Passage(id=f"w.{n}", text=one["text"], metadata={"chunking": "w"}) for n, one in enumerate(pool)]
    assert likely and chosen("beside", likely)[1] == alone
    bare = [one.model_copy(update={"metadata": {}}) for one in likely]
    assert chosen("as if its own", bare)[1] != alone, "these passages would have shown"


def test_own_code_that_fails_writes_nothing(tmp_path: Path) -> None:
    workspace = open_corpus(tmp_path, CHUNKINGS.replace("my_cuts:lines", "my_cuts:gone"))
    sys.modules.pop("my_cuts", None)
    with pytest.raises(InputError, match="chunking 'mine': my_cuts:gone"):
        ingest(workspace, None, turned)
    assert not workspace.results.exists() or not list(workspace.results.glob("*.jsonl"))


def test_sentences_are_embedded_once_whatever_the_breakpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(embedding, "load_encoder", lambda name: loaded.append(name) or DigestEncoder())
    found = []
    for more in ("", "breakpoint = 50\n"):
        table = f'[[chunking]]\nname = "meaning"\nby = "semantic"\nembedding = "digest"\n{more}'
        workspace = open_corpus(tmp_path, table)
        assert main(["ingest", str(workspace.corpus), "--results", str(workspace.results)]) == 0
        found.append(len(read_passages(workspace.passages, "meaning")))
    assert loaded == ["digest"] and found[1] > found[0] > 1
