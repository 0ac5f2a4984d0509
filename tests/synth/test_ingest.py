"""The ingest stage on folders of small PDFs: what is written, what is said, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.pdf_maker import add_outline, break_page, make_encrypted_pdf, make_pdf
from support.small_corpus import documents_folder

from ragassay.errors import InputError
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import read_records
from ragassay.records import Page, Passage, Section
from ragassay.synth.ingest import ingest

READERS = ["auto", "pypdf"]
"""Auto is both, PDFium where it can be."""


def paragraph(topic: str, sentences: int = 12) -> str:
    """Lines of prose, each a sentence of eight words."""
    return "\n".join(f"The {topic} has a property of number {n}q." for n in range(sentences))


def workspace(corpus: Path, *, tables: str = "", corpus_table: str = "") -> Workspace:
    return documents_folder(corpus, f"[corpus]\n{corpus_table}\n{tables}")


def written(space: Workspace) -> tuple[list[Page], list[Section], list[Passage], list[dict[str, Any]]]:
    bad = [json.loads(line) for line in space.unreadable.read_text("utf-8").splitlines()]
    return (
        read_records(space.pages, Page),
        read_records(space.sections, Section),
        read_records(space.passages, Passage),
        bad,
    )


def document_text(pages: list[Page], doc: str) -> str:
    return "\n".join(page.text for page in pages if page.doc == doc)


@pytest.mark.parametrize("reader", READERS)
def test_pages_sections_and_passages_agree_on_the_text(tmp_path: Path, reader: str) -> None:
    make_pdf(tmp_path / "c/manual.pdf", [paragraph(f"pump{n}") for n in range(6)], header="Pumps", footer="{page}")
    space = workspace(tmp_path / "c", tables=f'[ingest]\nreader = "{reader}"\npassage_words = 50\nsection_pages = 2\n')
    seen: list[tuple[int, int]] = []
    outcome = ingest(space, lambda done, total: seen.append((done, total)))
    pages, sections, passages, bad = written(space)
    text = document_text(pages, "manual.pdf")
    assert outcome == StageOutcome(n_records=len(passages)) and bad == []
    assert [page.page for page in pages] == [1, 2, 3, 4, 5, 6]
    assert pages[2].text == paragraph("pump2")
    for section in sections:
        assert section.text == text[section.start : section.end]
        assert section.last_page - section.first_page < 2
    for passage in passages:
        where = passage.metadata
        assert passage.text == text[where["start"] : where["end"]] and where["doc"] == "manual.pdf"
        assert passage.text.split()[0] in pages[where["first_page"] - 1].text
        assert passage.text.split()[-1] in pages[where["last_page"] - 1].text
    assert [section.id for section in sections] == [f"manual-s{n:04d}" for n in range(1, len(sections) + 1)]
    assert [passage.id for passage in passages] == [f"manual-p{n:05d}" for n in range(1, len(passages) + 1)]
    assert seen[-1] == (6, 6) and seen == sorted(seen)


def test_both_readers_read_the_same_words(tmp_path: Path) -> None:
    make_pdf(tmp_path / "c/a.pdf", ["A (round) bracket, a back\\slash\nand caf\u00e9 \u2013 100 \u20ac"])
    texts = []
    for reader in (*READERS, "pdfium"):
        space = workspace(tmp_path / "c", tables=f'[ingest]\nreader = "{reader}"\n')
        ingest(space)
        texts.append(written(space)[0][0].text)
    assert texts[0] == texts[1] == texts[2] == "A (round) bracket, a back\\slash\nand caf\u00e9 \u2013 100 \u20ac"


NAMES = ["two words (final) [2].PDF", "手册.pdf", "Küche.pdf", "x/manual.pdf", "y/manual.pdf"]
NAMES.append("deep/er/.hidden/../z.pdf")


PASSED_OVER = ["replies/b.pdf", "embeddings/c.pdf", ".trash/d.pdf", "._e.pdf"]


def test_any_file_name_makes_ids_that_are_ids_and_differ_and_what_is_no_document_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "c/deep/er/.hidden").mkdir(parents=True)
    for name in (*NAMES, *PASSED_OVER, "sub/replies/f.pdf"):
        make_pdf(tmp_path / "c" / name, [paragraph("bearing")])
    space = workspace(tmp_path / "c")
    assert ingest(space).exit_status == 0
    pages, sections, passages, _ = written(space)
    assert {page.doc for page in pages} == {*NAMES[:-1], "deep/er/z.pdf", "sub/replies/f.pdf"}
    ids = [record.id for record in (*sections, *passages)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", identifier) for identifier in ids)
    by_doc = {passage.metadata["doc"]: passage.id for passage in passages}
    assert by_doc["two words (final) [2].PDF"] == "two-words-final-2-p00001"
    assert by_doc["x/manual.pdf"] == "x-manual-p00001"


@pytest.mark.parametrize("pair", [("a b.pdf", "a-b.pdf"), ("x/y.pdf", "x-y.pdf"), ("m.pdf", "m.PDF")])
def test_two_documents_with_one_id_are_refused_by_name(tmp_path: Path, pair: tuple[str, str]) -> None:
    for name in pair:
        make_pdf(tmp_path / "c" / name, ["text"])
    if len(list((tmp_path / "c").rglob("*.*"))) < 2:
        return  # a file system that does not tell the two names apart
    with pytest.raises(InputError) as caught:
        ingest(workspace(tmp_path / "c"))
    assert pair[0] in str(caught.value) and pair[1] in str(caught.value) and "rename" in str(caught.value)


def test_a_folder_without_pdfs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no PDFs"):
        ingest(workspace(tmp_path / "c"))


@pytest.mark.parametrize("reader", READERS)
def test_the_good_go_on_and_the_bad_are_named(tmp_path: Path, reader: str) -> None:
    corpus = tmp_path / "c"
    make_pdf(corpus / "good.pdf", [paragraph("rotor")])
    make_encrypted_pdf(corpus / "locked.pdf", [paragraph("secret")])
    make_pdf(corpus / "scan.pdf", ["", ""])
    (corpus / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is none \x00\xff")
    (corpus / "empty.pdf").write_bytes(b"")
    (corpus / "gone.pdf").symlink_to(corpus / "nowhere.pdf")
    cut = (corpus / "good.pdf").read_bytes()
    (corpus / "half.pdf").write_bytes(cut[: len(cut) // 3])
    space = workspace(corpus, tables=f'[ingest]\nreader = "{reader}"\n')
    outcome = ingest(space)
    pages, _, _, bad = written(space)
    assert {page.doc for page in pages} == {"good.pdf"}
    errors = {record["doc"]: record["error"] for record in bad}
    assert sorted(errors) == ["broken.pdf", "empty.pdf", "gone.pdf", "half.pdf", "locked.pdf", "scan.pdf"]
    assert "password" in errors["locked.pdf"] and "OCR" in errors["scan.pdf"] and "broken" in errors["broken.pdf"]
    assert outcome.exit_status == 5 and outcome.n_failed == 6
    assert all(any(doc in notice for notice in outcome.notices) for doc in errors)


def test_no_readable_pdf_at_all_is_refused(tmp_path: Path) -> None:
    make_encrypted_pdf(tmp_path / "c/locked.pdf", ["x"])
    with pytest.raises(InputError, match=r"locked\.pdf.*password"):
        ingest(workspace(tmp_path / "c"))


def test_a_name_that_is_not_utf8_does_not_stop_the_others(tmp_path: Path) -> None:
    make_pdf(tmp_path / "c/good.pdf", [paragraph("rotor")])
    try:
        shutil.copy(tmp_path / "c/good.pdf", os.fsdecode(os.fsencode(tmp_path / "c") + b"/caf\xe9.pdf"))
    except OSError:
        return  # a file system that takes only UTF-8
    space = workspace(tmp_path / "c")
    assert ingest(space).exit_status == 5
    assert "not UTF-8" in written(space)[3][0]["error"]


@pytest.mark.parametrize("reader", READERS)
def test_a_page_that_cannot_be_read_is_said_and_leaves_a_hole(tmp_path: Path, reader: str) -> None:
    break_page(make_pdf(tmp_path / "c/a.pdf", [paragraph(f"gear{n}") for n in range(3)]), 2)
    space = workspace(tmp_path / "c", tables=f'[ingest]\nreader = "{reader}"\n')
    outcome = ingest(space)
    pages, _, passages, bad = written(space)
    assert [page.page for page in pages] == [1, 3] and len(bad) == 1 and outcome.exit_status == 5
    assert "page 2" in bad[0]["error"] and "1 of 3" in bad[0]["error"] and bad[0]["pages"] == [2]
    assert [(p.metadata["first_page"], p.metadata["last_page"]) for p in passages] == [(1, 1), (3, 3)]


def test_nothing_crosses_the_hole_that_excluded_pages_leave(tmp_path: Path) -> None:
    make_pdf(tmp_path / "c/a b.pdf", [paragraph(f"fan{n}") for n in range(9)])
    space = workspace(tmp_path / "c", corpus_table='exclude_pages = { "a b.pdf" = "1, 4-5, 8-" }')
    ingest(space)
    pages, sections, passages, _ = written(space)
    assert [page.page for page in pages] == [2, 3, 6, 7]
    text = document_text(pages, "a b.pdf")
    for first, last, start, end, body in [
        *((s.first_page, s.last_page, s.start, s.end, s.text) for s in sections),
        *((m["first_page"], m["last_page"], m["start"], m["end"], p.text) for p in passages for m in [p.metadata]),
    ]:
        assert {first, last} <= {2, 3} or {first, last} <= {6, 7}
        assert body == text[start:end] and not ("fan2" in body and "fan5" in body)


@pytest.mark.parametrize(
    ("ranges", "says"),
    [
        ("1-", "all 3 pages"),
        ("7", "beyond the end"),
        ("2-9", "3 pages"),
        ("3-2", "not a range"),
        ("0", "counted from 1"),
        ("two", "'two'"),
        ("1;2", "ranges such as"),
        ("-2", "'-2'"),
    ],
)
def test_page_ranges_that_do_not_fit_are_refused(tmp_path: Path, ranges: str, says: str) -> None:
    make_pdf(tmp_path / "c/a.pdf", ["one", "two", "three"])
    space = workspace(tmp_path / "c", corpus_table=f'exclude_pages = {{ "a.pdf" = "{ranges}" }}')
    with pytest.raises(InputError) as caught:
        ingest(space)
    message = str(caught.value)
    assert says in message and 'corpus.exclude_pages."a.pdf"' in message and "experiment.toml:2" in message


def test_excluding_pages_of_a_document_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    make_pdf(tmp_path / "c/manual.pdf", ["one"])
    space = workspace(tmp_path / "c", corpus_table='exclude_pages = { "manul.pdf" = "1" }')
    with pytest.raises(InputError, match=r'no such PDF.*"manual\.pdf"'):
        ingest(space)


@pytest.mark.parametrize("reader", READERS)
def test_passages_are_titled_by_the_outline(tmp_path: Path, reader: str) -> None:
    path = make_pdf(
        tmp_path / "c/a.pdf",
        ["1 Pumps\n" + paragraph("pump", 30), "1.1 Seals\n" + paragraph("seal", 30), paragraph("ring", 30)],
    )
    add_outline(path, [(1, 1, "1 Pumps"), (2, 2, "Seals")])
    make_pdf(tmp_path / "c/sub/plain one.pdf", [paragraph("bolt")])
    ingest(space := workspace(tmp_path / "c", tables=f'[ingest]\nreader = "{reader}"\n'))
    passages = written(space)[2]
    titles = {
        word: p.title
        for p in passages
        for word in ("pump", "ring", "bolt")
        if p.text.split()[-6] == word or word in p.text
    }
    assert titles == {"pump": "1 Pumps", "ring": "1 Pumps > Seals", "bolt": "plain one"}


def test_words_that_run_together_are_noticed_with_a_reader_that_is_set(tmp_path: Path) -> None:
    make_pdf(tmp_path / "c/a.pdf", ["Thewordsofthispagestandtogether andsodothoseofthenextlinetoo"])
    space = workspace(tmp_path / "c", tables='[ingest]\nreader = "pypdf"\n')
    notice = ingest(space).notices[0]
    assert "run together" in notice and 'set reader = "auto"' in notice and written(space)[0]


def test_a_document_mostly_of_scans_is_noticed(tmp_path: Path) -> None:
    make_pdf(tmp_path / "c/a.pdf", [paragraph("bolt"), "", "", ""])
    outcome = ingest(workspace(tmp_path / "c"))
    assert "3 of 4 pages have no text" in outcome.notices[0] and outcome.exit_status == 0
