"""Documents that are no PDFs, through the ingest stage: what becomes of them, and of what is hostile or broken."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from docx import Document as Word
from docx.oxml import parse_xml
from hypothesis import given
from hypothesis import strategies as st
from support.small_corpus import documents_folder

from ragassay.errors import LEFT_OUT, InputError
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Page, Passage, Section
from ragassay.synth.documents.text import DocumentText
from ragassay.synth.formats import PAGE_CHARACTERS, convert_html, convert_text, paged_markdown
from ragassay.synth.ingest import ingest
from ragassay.synth.pdf.readers import OutlineEntry

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PROSE = "The pump is started by pressing the green button twice within one second of opening the valve.\n"


def workspace(corpus: Path, kinds: list[str], more: str = "") -> Workspace:
    return documents_folder(corpus, f"[ingest]\nkinds = {json.dumps(kinds)}\n{more}")


def bad(space: Workspace) -> dict[str, str]:
    lines = space.unreadable.read_text("utf-8").splitlines()
    return {row["doc"]: row["error"] for row in map(json.loads, lines)}


def text_of(space: Workspace, doc: str) -> str:
    return "\n".join(page.text for page in read_records(space.pages, Page) if page.doc == doc)


def test_markdown_text_and_html_become_pages_sections_and_passages(tmp_path: Path) -> None:
    space = workspace(tmp_path / "c", ["markdown", "text", "html"], "passage_words = 20\npassage_overlap_words = 5\n")
    manual = f"---\ntitle: Pumps\n---\n# Pumps\n\n{PROSE * 30}\n## Start\n\n{PROSE * 30}\n```\n# no heading\n```\n"
    (space.corpus / "manual.md").write_text(manual, "utf-8")
    (space.corpus / "notes.txt").write_text(PROSE, "utf-16")
    (space.corpus / "page.html").write_text(f"<h1>Valves</h1><p>{PROSE}</p>", "utf-8")
    (space.corpus / "questions.txt").write_text("How is it started?\n", "utf-8")
    assert ingest(space).exit_status == 0
    pages, passages = read_records(space.pages, Page), read_records(space.passages, Passage)
    assert [(page.doc, page.page) for page in pages][-3:] == [("manual.md", 2), ("notes.txt", 1), ("page.html", 1)]
    for piece in passages:
        place = piece.metadata
        assert text_of(space, place["doc"])[place["start"] : place["end"]] == piece.text
    titles = {piece.title for piece in passages if piece.metadata["doc"] == "manual.md"}
    assert titles == {"Pumps", "Pumps > Start", "manual"}
    assert {piece.title for piece in passages if piece.metadata["doc"] == "page.html"} == {"Valves"}
    for section in read_records(space.sections, Section):
        assert text_of(space, section.doc)[section.start : section.end] == section.text


def test_headings_of_the_same_name_stand_where_they_stand() -> None:
    parts = "".join(f"## {name}\n\n### Options\n\n{name} takes options.\n\n" for name in ("Alpha", "Beta"))
    made = paged_markdown(parts)
    outline = tuple(OutlineEntry(*entry) for entry in made.outline)
    text = DocumentText("m.md", tuple(enumerate(made.pages, 1)), outline)
    assert [text.title_at(text.text.index(f"{name} takes")) for name in ("Alpha", "Beta")] == [
        "Alpha > Options",
        "Beta > Options",
    ]


def test_settings_and_prompts_beside_documents_are_none(tmp_path: Path) -> None:
    space = workspace(tmp_path / "c", ["markdown"])
    toml = space.corpus / "experiment.toml"
    toml.write_text(toml.read_text("utf-8").replace("[judge]", 'prompt = "mine.md"\n[judge]'), "utf-8")
    (space.corpus / "mine.md").write_text("Answer {query}", "utf-8")
    (space.corpus / "manual.md").write_text(PROSE, "utf-8")
    space = Workspace(space.corpus, space.results, load_experiment(toml))
    ingest(space)
    assert {page.doc for page in read_records(space.pages, Page)} == {"manual.md"}


def test_pdfs_alone_are_read_unless_kinds_says_so(tmp_path: Path) -> None:
    space = workspace(tmp_path / "c", ["pdf"])
    (space.corpus / "a.html").write_text("<p>x</p>", "utf-8")
    with pytest.raises(InputError, match=r'no PDFs in this folder.*kinds = \["html"\] under \[ingest\]'):
        ingest(space)


def test_form_feeds_are_pages_with_their_heads_taken_away() -> None:
    made = convert_text("\f".join(f"RFC 1\n{PROSE}word{n}" for n in range(4)).encode() + b"\f")
    assert len(made.pages) == 4 and made.printed


@given(st.text(st.sampled_from("ab #\n`-=>|"), max_size=9000))
def test_pages_are_the_whole_text_in_pieces_of_a_page(text: str) -> None:
    made = paged_markdown(text)
    assert "".join(made.pages) == text and all(len(page) <= PAGE_CHARACTERS for page in made.pages)
    assert all(1 <= page <= len(made.pages) and 1 <= level <= 6 and title for page, level, title in made.outline)


def test_html_brings_words_and_no_scripts() -> None:
    hostile = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
    <html><head><title>t</title><script>steal()</script></head><body onload="steal()"><!-- secret -->
    <p>Seen <a href="javascript:steal()">link</a> &b; &f; <img src="http://evil/x.png" alt="a valve" onerror="x"></p>
    <table><tr><th>Pin</th><th>Use</th></tr><tr><td>1</td><td>Reset</td></tr></table>
    <iframe src="http://evil"></iframe><style>p{}</style><pre>x_y *= 2</pre></body></html>"""
    [page] = convert_html(hostile.encode()).pages
    assert "Seen link" in page and "a valve" in page and "| 1 | Reset |" in page and "x_y *= 2" in page
    assert not any(word in page for word in ("steal", "evil", "secret", "root:", "aaaaaaaaaa", "p{}"))


def test_html_nested_beyond_all_bounds_keeps_its_words() -> None:
    assert "deep" in "".join(convert_html(b"<div>" * 20_000 + b"deep" + b"</div>" * 20_000).pages)


def test_html_in_another_encoding_is_read_by_what_it_says() -> None:
    page = '<meta charset="windows-1252"><p>Größe und Maß</p>'.encode("cp1252")
    assert "Größe und Maß" in convert_html(page).pages[0]


def word(path: Path) -> None:
    made = Word()
    made.add_heading("Motors", 1)
    made.add_paragraph(PROSE.strip())
    made.add_paragraph("Check the fuse.", style="List Bullet")
    table = made.add_table(1, 2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Pin", "Use"
    tracked = (
        f"<w:p {W}><w:r><w:t>Kept</w:t></w:r><w:ins><w:r><w:t xml:space='preserve'> added</w:t></w:r></w:ins>"
        f"<w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    )
    control = f"<w:sdt {W}><w:sdtContent><w:p><w:r><w:t>In a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    for xml in (tracked, control):
        made.element.body.insert(-1, parse_xml(xml))
    made.save(str(path))


def test_word_is_read_in_the_order_of_the_document(tmp_path: Path) -> None:
    space = workspace(tmp_path / "c", ["docx"])
    word(space.corpus / "motor.docx")
    assert ingest(space).exit_status == 0
    read = [line for line in text_of(space, "motor.docx").split("\n") if line]
    assert read == [
        "# Motors",
        PROSE.strip(),
        "- Check the fuse.",
        *("| Pin | Use |", "| --- | --- |"),
        *("Kept added", "In a control"),
    ]
    assert read_records(space.passages, Passage)[0].title == "Motors"


def test_what_is_broken_or_hostile_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    space = workspace(tmp_path / "c", ["docx", "text", "html"])
    (space.corpus / "good.txt").write_text(PROSE, "utf-8")
    (space.corpus / "latin.txt").write_bytes("one\nGröße".encode("latin-1"))
    (space.corpus / "binary.txt").write_bytes(b"a\0b")
    (space.corpus / "empty.html").write_text("<p> </p>", "utf-8")
    (space.corpus / "none.docx").write_bytes(b"no zip")
    with zipfile.ZipFile(space.corpus / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 61_000_000)
    word(space.corpus / "entities.docx")
    entities = '<!DOCTYPE d [<!ENTITY a "1234567890"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    body = f"{entities}<w:document {W}><w:body><w:p><w:r><w:t>Safe &a; &f;</w:t></w:r></w:p></w:body></w:document>"
    _replace(space.corpus / "entities.docx", "word/document.xml", body)
    outcome = ingest(space)
    said = bad(space)
    assert outcome.exit_status == LEFT_OUT
    assert set(said) == {"latin.txt", "binary.txt", "empty.html", "none.docx", "bomb.docx"}
    assert said["latin.txt"] == "is not UTF-8 text (line 2); save it as UTF-8"
    assert said["bomb.docx"] == "unpacks to 61 MB in 1 files; divide it"
    assert "root:" not in text_of(space, "entities.docx") and "Safe" in text_of(space, "entities.docx")
    assert text_of(space, "good.txt") == PROSE.strip()


def _replace(path: Path, member: str, text: str) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (members | {member: text.encode()}).items():
            archive.writestr(name, data)


def test_a_missing_package_is_one_sentence_that_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    space = workspace(tmp_path / "c", ["docx"])
    (space.corpus / "a.docx").write_bytes(b"")
    with pytest.raises(InputError, match=r"reading docx needs the extra 'documents'"):
        ingest(space)
