"""Reading with `reader = "auto"`: real pages in ten scripts come out right or are named, whoever wrote the PDF."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, BooleanObject, DictionaryObject, NameObject, TextStringObject
from support.pdf_maker import make_encrypted_pdf, make_pdf
from support.small_corpus import documents_folder

from ragassay.experiment.workspace import StageOutcome
from ragassay.files import read_records
from ragassay.records import Page
from ragassay.synth.ingest import ingest
from ragassay.synth.pdf.choice import SAMPLE
from ragassay.synth.pdf.process import PdfPool
from ragassay.synth.pdf.readers import Glyph, in_columns
from ragassay.synth.pdf.soundness import fault

PDFS = Path(__file__).parents[2] / "data" / "pdfs"
TEXTS: dict[str, str] = json.loads((PDFS / "texts.json").read_text("utf-8"))

RIGHT = {
    "arabic-chromium": "pypdf",
    "arabic-fpdf2": "pdfium",
    "chinese-chromium": "pdfium",
    "chinese-downwards": "pdfium",
    "chinese-unembedded-downwards": "either",
    "cyrillic-chromium": "pdfium",
    "cyrillic-reportlab": "pdfium",
    "devanagari-reportlab": "pdfium",
    "greek-chromium": "pdfium",
    "hebrew-chromium": "pypdf",
    "japanese-chromium": "pdfium",
    "japanese-downwards": "pdfium",
    "japanese-unembedded": "either",
    "japanese-unembedded-downwards": "either",
    "korean-chromium": "pdfium",
    "latin-chromium": "pdfium",
    "thai-fpdf2": "pypdf",
}
"""Who reads it; either, where the font is not in the file and pdfium takes one of the machine's."""
NAMED = {
    "devanagari-chromium": "disagree",
    "greek-unmapped": "stand for no letters",
    "hebrew-reportlab": "backwards",
    "hebrew-two-fonts": "run together",
    "thai-chromium": "disagree",
}

PROSE = "All human beings are born free and equal in dignity and rights.\n" * 5


class Ingested:
    """What a folder of PDFs became, by document."""

    def __init__(self, corpus: Path, language: str = "en") -> None:
        space = documents_folder(corpus, f'[corpus]\nlanguage = "{language}"')
        self.progress: list[tuple[int, int]] = []
        self.outcome: StageOutcome = ingest(space, lambda done, total: self.progress.append((done, total)))
        self.pages = {(page.doc.removesuffix(".pdf"), page.page): page.text for page in read_records(space.pages, Page)}
        self.readers = by_doc(space.readers)
        self.unreadable = by_doc(space.unreadable)


def by_doc(path: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {row["doc"].removesuffix(".pdf"): row for row in rows}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    corpus = tmp_path_factory.mktemp("scripts") / "c"
    corpus.mkdir()
    for path in PDFS.glob("*.pdf"):
        shutil.copy(path, corpus)
    return Ingested(corpus)


def test_every_pdf_is_accounted_for() -> None:
    assert sorted([*RIGHT, *NAMED]) == sorted(path.stem for path in PDFS.glob("*.pdf"))


@pytest.mark.parametrize("name", RIGHT)
def test_a_text_in_any_script_comes_out_right(scripts: Ingested, name: str) -> None:
    text, wanted = scripts.pages[name, 1], TEXTS[name.split("-")[0]]
    assert "".join(text.split()) == "".join(wanted.split())
    if not name.startswith(("chinese", "japanese", "korean", "thai")):  # lines break between words
        assert text.split() == wanted.split()
    reader = scripts.readers[name]["reader"]
    assert reader in {"pdfium", "pypdf"} if RIGHT[name] == "either" else reader == RIGHT[name]
    assert name not in scripts.unreadable


@pytest.mark.parametrize("name", NAMED)
def test_what_no_reader_gets_right_is_left_out_and_named(scripts: Ingested, name: str) -> None:
    assert (name, 1) not in scripts.pages
    assert NAMED[name] in scripts.unreadable[name]["error"] and scripts.unreadable[name]["pages"] == [1]
    assert scripts.readers[name]["n_unreadable"] == 1
    assert scripts.outcome.exit_status == 5 and any(name in notice for notice in scripts.outcome.notices)


def test_the_reader_taken_is_said_where_it_is_not_the_usual_one(scripts: Ingested) -> None:
    said = " ".join(scripts.outcome.notices)
    assert "arabic-chromium.pdf: read with pypdf: as pdfium reads it, its words are spelt backwards" in said
    assert "latin-chromium" not in said


def joined(path: Path, *sources: Path) -> None:
    writer = PdfWriter()
    for source in sources:
        writer.append(PdfReader(source))
    writer.write(path)


def test_a_page_that_one_reader_gets_wrong_is_taken_from_the_other(tmp_path: Path) -> None:
    good = make_pdf(tmp_path / "good.pdf", [PROSE] * 12)
    (tmp_path / "c").mkdir()
    joined(tmp_path / "c/a.pdf", good, PDFS / "thai-fpdf2.pdf", PDFS / "greek-unmapped.pdf", good)
    made = Ingested(tmp_path / "c")
    assert "".join(made.pages["a", 13].split()) == "".join(TEXTS["thai"].split())
    assert made.readers["a"] | {"why": ""} == {
        "doc": "a.pdf", "reader": "pdfium", "why": "", "n_pages": 26, "n_other": 1, "n_unreadable": 1,
    }  # fmt: skip
    assert made.unreadable["a"]["pages"] == [14] and len(made.pages) == 25


def test_of_a_long_garbled_document_pypdf_reads_a_few_pages_only(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    joined(tmp_path / "c/a.pdf", *[PDFS / "greek-unmapped.pdf"] * 40)
    make_pdf(tmp_path / "c/b.pdf", [PROSE])
    made = Ingested(tmp_path / "c")
    assert made.progress[-1] == (41 + SAMPLE, 41 + SAMPLE) and made.unreadable["a"]["pages"] == [*range(1, 41)]
    assert [*made.pages] == [("b", 1)]


def test_letters_of_another_encoding_are_named(tmp_path: Path) -> None:
    make_pdf(tmp_path / "c/a.pdf", [TEXTS["cyrillic"].encode("cp1251").decode("cp1252")])
    make_pdf(tmp_path / "c/b.pdf", [PROSE])
    assert "another encoding" in Ingested(tmp_path / "c", "ru").unreadable["a"]["error"]


def test_a_document_in_another_script_than_the_corpus_is_kept_and_said(tmp_path: Path) -> None:
    make_pdf(tmp_path / "c/a.pdf", [PROSE])
    shutil.copy(PDFS / "japanese-chromium.pdf", tmp_path / "c")
    made = Ingested(tmp_path / "c", "ja")
    assert len(made.pages) == 2 and made.outcome.exit_status == 0
    assert made.outcome.notices == ("a.pdf: read with pdfium: it has no Japanese letters; the two readers agree",)


def test_the_page_that_a_form_shows_while_it_waits_is_named(tmp_path: Path) -> None:
    words = "Please wait...\nIf this message is not eventually replaced with the proper contents of the document,"
    make_pdf(tmp_path / "c/form.pdf", [f"{words}\nyour PDF viewer may not be able to display this type of document."])
    dynamic = make_pdf(tmp_path / "c/dynamic.pdf", ["Bitte warten..."])
    make_pdf(tmp_path / "c/b.pdf", [PROSE])
    writer = PdfWriter(clone_from=PdfReader(dynamic))
    writer.root_object[NameObject("/NeedsRendering")] = BooleanObject(True)
    form = DictionaryObject({NameObject("/XFA"): TextStringObject("<xdp/>"), NameObject("/Fields"): ArrayObject()})
    writer.root_object[NameObject("/AcroForm")] = form
    writer.write(dynamic)
    made = Ingested(tmp_path / "c")
    assert [*made.pages] == [("b", 1)]
    assert all("Adobe Reader" in made.unreadable[doc]["error"] for doc in ("form", "dynamic"))


def test_a_document_that_only_pypdf_opens_is_read_by_it(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "c/a.pdf", [PROSE])
    path.write_bytes(b"\n" * 2000 + path.read_bytes())  # PDFium looks for the header in the first 1,024 bytes
    make_encrypted_pdf(tmp_path / "c/open.pdf", [PROSE], password="")
    made = Ingested(tmp_path / "c")
    assert made.readers["a"]["reader"] == "pypdf" and "pdfium cannot open it" in made.readers["a"]["why"]
    assert made.pages["a", 1] == made.pages["open", 1] == PROSE.strip() and not made.unreadable


@pytest.mark.parametrize("script", ["arabic", "hebrew"])
def test_words_spelt_backwards_are_told_from_words_in_order(script: str) -> None:
    text = TEXTS[script]
    assert fault(text) is None
    assert "backwards" in (fault(" ".join(word[::-1] for word in text.split())) or "")


@pytest.mark.parametrize(
    "text",
    [
        "Bit 7 6 5 4 3 2 1 0\nDDRB7 DDRB6 DDRB5 R/W R/W R/W R/W R/W 0 0 0 0\n" * 6,
        "0x1F 0x3F 0xA2 LDI r16, 0xFF STS TCCR1B, r16 SBRS r17, 3 RJMP .-4 PUSH r0\n" * 6,
        "a = b * c + d * (e - f) / g ** h, where x, y and z are as above\n" * 6,
        "Das Rindfleischetikettierungsgesetz und die Donaudampfschifffahrt stehen im Wörterbuch der Sprache\n" * 4,
        "Tiếng Việt là ngôn ngữ của người Việt và là ngôn ngữ chính thức tại Việt Nam\n" * 4,
        "\uf8f4\n" * 30 + "the pieces of a large bracket beside three lines",
    ],
)
def test_tables_code_formulas_and_long_words_are_sound(text: str) -> None:
    assert fault(text) is None


@pytest.mark.parametrize("manual", ["avr-libc/avr-libc-user-manual.pdf", "r/R-admin.pdf"])
def test_no_page_of_real_manuals_is_taken_for_garbage(manual: str) -> None:
    path = Path(__file__).parents[3] / "corpora" / manual
    with PdfPool("pdfium", 1) as pool:
        pages = pool.read([(path, range(1, pool.probe([path])[0].pages + 1))])[0]
    assert len(pages) > 80 and not {page.page: found for page in pages if (found := fault(page.text or ""))}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("/G21/G32/G33/G01/G45/G12 /G21/G32/G33/G01/G45/G12", "names of glyphs"),
        ("(cid:21)(cid:32)(cid:9)(cid:77)(cid:21)(cid:32)(cid:9)(cid:77)", "names of glyphs"),
        ("7KLV LV ZKDW WKH VKLIWHG JO\\SKV RI D IRQW ORRN OLNH " * 5, "make no words"),
        ("T h e s e w o r d s f a l l a p a r t i n t o l e t t e r s o f t h e i r o w n", "fall apart"),
        ("\ue001\ue002\ue003\ue004\ue005 " * 20, "stand for no letters"),
    ],
)
def test_garbage_of_each_kind_is_told(text: str, says: str) -> None:
    assert says in (fault(text) or "sound")


@given(st.lists(st.text("山川田人日月火水木金土", min_size=2, max_size=9), min_size=2, max_size=9))
def test_columns_are_read_from_the_right_whatever_order_they_come_in(columns: list[str]) -> None:
    glyphs = [
        [Glyph(character, 500 - 20 * number, 700 - 12 * row) for row, character in enumerate(column)]
        for number, column in enumerate(columns)
    ]
    from_the_left = [glyph for column in reversed(glyphs) for glyph in column]
    assert in_columns(from_the_left) == "\n".join(columns)
