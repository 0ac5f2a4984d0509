"""Small PDFs made at test time: raw bytes, Helvetica, one line of text below the other."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

LINE_HEIGHT, TOP, LEFT, FONT_SIZE = 12, 780, 40, 9


def make_pdf(path: Path, pages: Sequence[str], *, header: str = "", footer: str = "") -> Path:
    """A PDF with these pages' lines (characters of Windows-1252), at most 60 a page.

    `header` and `footer` stand above and below each page's lines; `{page}` in them is the page's number.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pdf_bytes([_with_furniture(text, n, header, footer) for n, text in enumerate(pages, 1)]))
    return path


def make_encrypted_pdf(path: Path, pages: Sequence[str], password: str = "secret") -> Path:
    """The same behind a password (RC4, which pypdf writes and reads without the cryptography package)."""
    from pypdf import PdfReader, PdfWriter

    make_pdf(path, pages)
    writer = PdfWriter(clone_from=PdfReader(path))
    writer.encrypt(password, algorithm="RC4-128")
    writer.write(path)
    return path


def add_outline(path: Path, entries: Sequence[tuple[int, int, str]]) -> Path:
    """Give a PDF bookmarks: (depth from 1, page from 1, title), in reading order."""
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import IndirectObject

    writer = PdfWriter(clone_from=PdfReader(path))
    above: dict[int, IndirectObject] = {}
    for depth, page, title in entries:
        above[depth] = writer.add_outline_item(title=title, page_number=page - 1, parent=above.get(depth - 1))
    writer.write(path)
    return path


def break_page(path: Path, page: int) -> Path:
    """Make one page (from 1) unreadable: its content stream is noise, packed in a way that no reader knows."""
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import NameObject, StreamObject

    writer = PdfWriter(clone_from=PdfReader(path))
    content = writer.pages[page - 1]["/Contents"].get_object()
    assert isinstance(content, StreamObject)
    content.set_data(bytes(range(64)))
    content[NameObject("/Filter")] = NameObject("/NoSuchFilter")
    writer.write(path)
    return path


def make_bomb(path: Path, megabytes: int, n_pages: int = 1) -> Path:
    """Pages with a line each, behind so many megabytes of blanks; the file takes a thousandth of that."""
    pages = [f"Page {number}." for number in range(1, n_pages + 1)]
    path.write_bytes(pdf_bytes(pages, blanks=megabytes * 1_000_000))
    return path


def pdf_bytes(pages: Sequence[str], blanks: int = 0) -> bytes:
    """The file: catalogue, page tree, font, then a page and its content stream for each text, packed behind blanks."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for n, text in enumerate(pages):
        stream, packed = _stream(text), b""
        if blanks:
            stream, packed = zlib.compress(b" " * blanks + stream, 9), b" /Filter /FlateDecode"
        page = f"/Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * n} 0 R"
        objects.append(f"<< /Type /Page {page} >>".encode())
        objects.append(b"<< /Length %d%b >>\nstream\n%b\nendstream" % (len(stream), packed, stream))
    return _file(objects)


def _with_furniture(text: str, page: int, header: str, footer: str) -> str:
    lines = [header.format(page=page), text, footer.format(page=page)]
    return "\n".join(line for line in lines if line)


def _stream(text: str) -> bytes:
    lines = b"".join(b"(%b) Tj T*\n" % _escaped(line) for line in text.split("\n"))
    return b"BT /F1 %d Tf %d TL %d %d Td\n%bET" % (FONT_SIZE, LINE_HEIGHT, LEFT, TOP, lines)


def _escaped(line: str) -> bytes:
    data = line.encode("cp1252")
    return data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _file(objects: Sequence[bytes]) -> bytes:
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer
