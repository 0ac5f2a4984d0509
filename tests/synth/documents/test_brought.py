"""Passages that are ready, documents of a user's loader, scans through ocrmypdf, and pages that look wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.json_lines import records, write_lines
from support.pdf_maker import make_pdf
from support.small_corpus import documents_folder

from ragassay.errors import InputError
from ragassay.files import read_records
from ragassay.records import Page, Passage, Section
from ragassay.synth.documents.page_furniture import suspicious_pages
from ragassay.synth.ingest import ingest
from ragassay.synth.stages import INGEST

PROSE = "The pump is started by pressing the green button twice within one second of opening the valve."


def test_ready_passages_are_taken_as_they_are_and_sections_made_of_them(tmp_path: Path) -> None:
    space = documents_folder(tmp_path / "c", '[ingest]\nkinds = ["passages"]\n')
    given = [
        {"_id": "9", "title": "Pumps", "text": f" {PROSE}  twice ", "metadata": {"doc": "a b.pdf", "colour": "red"}},
        {"_id": "7", "title": "Lone", "text": PROSE},
        {"_id": "8", "title": "Pumps", "text": PROSE, "metadata": {"doc": "a b.pdf"}},
        {"_id": "x", "title": "a-b.pdf", "text": PROSE},
    ]
    write_lines(space.corpus / "corpus.jsonl", given)
    assert ingest(space).n_records == 4
    passages = {one.id: one for one in read_records(space.passages, Passage)}
    assert {i: (p.title, p.text) for i, p in passages.items()} == {r["_id"]: (r["title"], r["text"]) for r in given}
    assert passages["9"].metadata["colour"] == "red"
    pages = read_records(space.pages, Page)
    for one in passages.values():
        text = "\n".join(page.text for page in pages if page.doc == one.metadata["doc"])
        assert text[one.metadata["start"] : one.metadata["end"]] == one.text
    sections = read_records(space.sections, Section)
    assert [section.doc for section in sections] == ["a b.pdf", "Lone", "a-b.pdf"]
    assert len({section.id for section in sections}) == 3 and sections[0].last_page == 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"_id": "1", "text": PROSE}, "corpus.jsonl:2: the _id '1' stands on line 1 already"),
        ({"_id": "2 3", "text": PROSE}, "corpus.jsonl:2: its _id holds white space"),
        ({"_id": "2", "text": " "}, "corpus.jsonl:2: the passage has no text"),
        ({"_id": "2"}, "corpus.jsonl:2: text"),
    ],
)
def test_a_passage_that_cannot_be_used_is_named_with_its_line(tmp_path: Path, row: dict[str, str], said: str) -> None:
    space = documents_folder(tmp_path / "c", '[ingest]\nkinds = ["passages"]\n')
    write_lines(space.corpus / "corpus.jsonl", [{"_id": "1", "text": PROSE}, row])
    with pytest.raises(InputError) as error:
        ingest(space)
    assert said in str(error.value) and not space.passages.exists()


LOADER = """
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

def pages(folder):
    for number in (0, 2):
        yield Document(f"Page {number} says much of pumps.", metadata={"source": str(folder.resolve() / "a.pdf"),
                                                                      "page": number})
    yield Document("Nobody said where this is from.")

class Wiki(BaseLoader):
    def lazy_load(self):
        yield Document("A wiki page.", metadata={"source": "https://wiki/Pump"})

def broken(folder):
    raise OSError("no wiki today")
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("pages", [("a.pdf", 1), ("a.pdf", 3), ("document-3", 1)]),
        ("Wiki", [("https://wiki/Pump", 1)]),
    ],
)
def test_a_loader_gives_the_documents(tmp_path: Path, name: str, found: list[tuple[str, int]]) -> None:
    space = documents_folder(tmp_path / "c", f'[ingest]\nloader = "load_{name}:{name}"\n')
    (space.corpus / f"load_{name}.py").write_text(LOADER, "utf-8")
    ingest(space)
    assert [(page.doc, page.page) for page in read_records(space.pages, Page)] == found
    assert space.corpus / f"load_{name}.py" in INGEST.uses(space), "another loader makes other documents"


def test_a_loader_that_fails_is_said(tmp_path: Path) -> None:
    space = documents_folder(tmp_path / "c", '[ingest]\nloader = "load_broken:broken"\n')
    (space.corpus / "load_broken.py").write_text(LOADER, "utf-8")
    with pytest.raises(InputError, match=r"the loader load_broken:broken fails \(OSError: no wiki today\)"):
        ingest(space)


def program(folder: Path, script: str) -> None:
    """An `ocrmypdf` that is a shell script: its last argument is the file to write, the one before the one to read."""
    folder.mkdir()
    path = folder / "ocrmypdf"
    path.write_text(f"#!/bin/sh\nfor out; do :; done\n{script}\n", "utf-8")
    path.chmod(0o755)


def test_scans_are_recognised_once_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_pdf(tmp_path / "read.pdf", [PROSE])
    program(tmp_path / "bin", f'echo "$@" >> {tmp_path}/asked\ncp {tmp_path}/read.pdf "$out"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    space = documents_folder(tmp_path / "c", "[ingest]\nocr = true\n")
    make_pdf(space.corpus / "scan.pdf", [""])
    make_pdf(space.corpus / "text.pdf", [PROSE])
    for _ in range(2):
        assert ingest(space).exit_status == 0
    assert {page.doc: page.text for page in read_records(space.pages, Page)} == {"scan.pdf": PROSE, "text.pdf": PROSE}
    [asked] = (tmp_path / "asked").read_text("utf-8").splitlines()
    assert "--skip-text" in asked and "-l eng" in asked and "scan.pdf" in asked


def test_a_scan_that_cannot_be_recognised_is_named_and_so_is_a_page_that_looks_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", 'echo "no language data: eng" >&2\nexit 3')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    space = documents_folder(tmp_path / "c", "[ingest]\nocr = true\n")
    make_pdf(space.corpus / "scan.pdf", [""])
    make_pdf(space.corpus / "text.pdf", [PROSE, "Page two"])
    outcome = ingest(space)
    assert "scan.pdf: its text is not recognised (ocrmypdf: no language data: eng)" in outcome.notices
    assert [row["doc"] for row in records(space.unreadable)] == ["scan.pdf"]
    assert not [*space.recognised.iterdir()]
    [wrong] = records(space.suspicious_pages)
    assert (wrong["doc"], wrong["page"], wrong["reasons"]) == ("text.pdf", 2, ["2 words"])
    assert wrong["excerpt"] == "Page two"


def test_ocr_without_the_program_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    space = documents_folder(tmp_path / "c", "[ingest]\nocr = true\n")
    make_pdf(space.corpus / "scan.pdf", [""])
    with pytest.raises(InputError, match="ocrmypdf, which is not installed"):
        ingest(space)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Die GrÃ¶ÃŸe der Pumpe ist wichtig fÃ¼r den Betrieb.", "letters of another encoding"),
        ("1 2 3 4 5 6 7 8 9 0 " * 10, "hardly a letter"),
        ("\n".join("PUMPSTARTUP"), "11 of 11 lines are one character long"),
        ("Page 7", "2 words"),
        ("The pres- sure of the wa- ter in the val- ve is mea- sured by a sen- sor.", "5 words are broken by hyphens"),
    ],
)
def test_pages_that_look_wrong_are_told_with_the_reason(text: str, reason: str) -> None:
    pages = [Page(doc="a.pdf", page=1, text=PROSE), Page(doc="a.pdf", page=2, text=text)]
    [found] = suspicious_pages(pages)
    assert found.page == 2 and any(one.startswith(reason) for one in found.reasons)
    assert found.excerpt == " ".join(text.split())[:160]


def test_sound_pages_blank_ones_and_tables_are_not_suspicious() -> None:
    table = "Pin | Name | Use\n1 | RESET | starts the chip again\n2 | VCC | 1.8 to 5.5 V\n"
    compound = "The two- and three-phase motors, low- and high-side switches, pre- and post-heating, on- and off-times."
    texts = ["", PROSE, table, compound]
    assert not list(suspicious_pages([Page(doc="a", page=n, text=text) for n, text in enumerate(texts, 1)]))
