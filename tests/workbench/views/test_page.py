"""A page of a document in the browser: its picture, what is marked on it, and what is said where that cannot be."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.pdf_maker import make_pdf
from support.results_folder import experiment
from support.small_corpus import page as words_of_page
from support.workbench import browsing

from ragassay.experiment.workspace import Workspace
from ragassay.files import read_objects, write_records
from ragassay.records import Query
from ragassay.synth.ingest import ingest


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Three pages in a folder of the corpus, read as `ragassay ingest` reads them, and a query with evidence."""
    corpus = tmp_path / "corpus"
    make_pdf(corpus / "deep" / "a b.pdf", [words_of_page(n) for n in (1, 2, 3)])
    made = Workspace(corpus, tmp_path / "results", experiment(ingest={"reader": "pdfium", "passage_words": 80}))
    ingest(made)
    start = next(passages(made)).get("start", 0) + 10
    evidence = [{"doc": "deep/a b.pdf", "start": start, "end": start + 40}]
    write_records(made.queries, [Query(_id="q/1", text="What is it?", metadata={"evidence": evidence})])
    return made


def passages(workspace: Workspace) -> Any:
    return (row["metadata"] | {"id": row["_id"], "text": row["text"]} for _, row in read_objects(workspace.passages))


def over_two_pages(workspace: Workspace) -> Mapping[str, Any]:
    return next(one for one in passages(workspace) if one["last_page"] == one["first_page"] + 1)


def marked(page: str, kind: str) -> str:
    """The words that are marked in the text."""
    found = re.findall(rf'<mark class="[^"]*{kind}[^"]*">(.*?)</mark>', page, re.DOTALL)
    return " ".join(" ".join(html.unescape(part).split()) for part in found)


def test_a_passage_and_evidence_are_marked_on_every_page_they_stand_on(workspace: Workspace):
    passage = over_two_pages(workspace)
    first = passage["first_page"]
    with browsing(workspace) as client:
        page = client.get(f"/results/page/deep/a%20b.pdf/{first}?passage={passage['id']}&query=q/1").text
        sheets = re.findall(r'id="sheet-(\d+)"', page)
        assert sheets == [str(first), str(first + 1)]
        assert marked(page, "passage") == " ".join(passage["text"].split())
        n_lines = len(passage["text"].splitlines())
        assert len(re.findall(r'<rect class="passage"', page)) == n_lines
        assert "cannot be told" not in page and "has changed" not in page
        picture = client.get(html.unescape(re.findall(r'<image href="([^"]+)"', page)[0]))
        assert picture.content.startswith(b"\x89PNG") and "immutable" in picture.headers["cache-control"]
        evidence = client.get("/results/page/deep/a%20b.pdf/1?query=q/1").text
    document = " ".join(line["text"] for _, line in read_objects(workspace.pages))
    assert marked(evidence, "evidence") and marked(evidence, "evidence") in " ".join(document.split())
    assert '<rect class="evidence"' in evidence


def test_another_file_of_the_same_name_is_said_and_nothing_is_marked_wrongly(workspace: Workspace):
    passage = over_two_pages(workspace)
    manifest = {"inputs": {"deep/a b.pdf": "0" * 64}}
    workspace.manifests.mkdir(exist_ok=True)
    (workspace.manifests / "ingest.json").write_text(json.dumps(manifest))
    make_pdf(workspace.corpus / "deep" / "a b.pdf", ["Nothing of that stands here any more."] * 3)
    with browsing(workspace) as client:
        page = client.get(f"/results/page/deep/a%20b.pdf/{passage['first_page']}?passage={passage['id']}").text
    assert "has changed since it was read" in page and "cannot be told for certain" in page
    assert "<rect" not in page and marked(page, "passage") == " ".join(passage["text"].split())


def test_without_the_file_there_is_the_text(workspace: Workspace):
    passage = next(passages(workspace))
    (workspace.corpus / "deep" / "a b.pdf").unlink()
    with browsing(workspace) as client:
        page = client.get(f"/results/page/deep/a%20b.pdf/1?passage={passage['id']}").text
        assert client.get("/results/picture/1/deep/a%20b.pdf").status_code == 404
    assert "<svg" not in page and marked(page, "passage")


def test_only_documents_that_were_read_are_shown(workspace: Workspace):
    make_pdf(workspace.corpus.parent / "secret.pdf", ["secret"])
    (workspace.corpus / "notes.txt").write_text("secret")
    with browsing(workspace) as client:
        for path in ("../secret.pdf", "%2e%2e/secret.pdf", "deep/../../secret.pdf", "notes.txt", "experiment.toml"):
            for address in (f"/results/page/{path}/1", f"/results/picture/1/{path}"):
                assert client.get(address).status_code == 404, address
        assert client.get("/results/page/deep/a%20b.pdf/99").status_code == 404
        for hostile in ("?passage=%00", "?start=-1&end=x", "?start=9&end=99999999999", "?query=../.."):
            assert client.get(f"/results/page/deep/a%20b.pdf/1{hostile}").status_code == 200


def test_a_query_links_only_pages_there_are(workspace: Workspace):
    def made_from(page: int) -> Query:
        at = {"doc": "deep/a b.pdf", "first_page": page, "last_page": page}
        return Query(_id=f"p{page}", text="What?", metadata=at)

    elsewhere = Query(_id="other", text="What?", metadata={"doc": "gone.pdf", "first_page": 1, "last_page": 1})
    write_records(workspace.queries, [made_from(2), made_from(9), elsewhere])
    with browsing(workspace) as client:
        for query, there in (("p2", True), ("p9", False), ("other", False)):
            page = client.get(f"/results/queries/{query}").text
            links = re.findall(r'href="(/results/page/[^"]+)"', page)
            assert bool(links) == there and "Made from" in page
            assert all(client.get(html.unescape(link)).status_code == 200 for link in links)


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 12, "-1", "1e3", "0x1"])
def test_a_page_number_that_is_none_is_no_page(workspace: Workspace, number: str):
    with browsing(workspace) as client:
        for address in (f"/results/page/deep/a%20b.pdf/{number}", f"/results/picture/{number}/deep/a%20b.pdf"):
            answer = client.get(address)
            assert answer.status_code == 404
            assert "There is no such page." in answer.text
