"""Makes the PDFs of this folder: sentences of the Universal Declaration of Human Rights, from several programs.

    pip install fpdf2 uharfbuzz reportlab fonttools; apt-get install chromium fonts-noto-core fonts-noto-cjk
    python tests/data/pdfs/make.py [FONTS, such as /usr/share/fonts]

The tests read what is committed and need none of this. NAME-PROGRAM.pdf holds the text NAME of texts.json; fonts are
parts of Noto (SIL Open Font License 1.1), cut down to the letters used.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TEXTS: dict[str, str] = json.loads((HERE / "texts.json").read_text("utf-8"))
FONTS = {
    "latin": "NotoSerif-Regular.ttf",
    "cyrillic": "NotoSans-Regular.ttf",
    "greek": "NotoSans-Regular.ttf",
    "arabic": "NotoNaskhArabic-Regular.ttf",
    "hebrew": "NotoSansHebrew-Regular.ttf",
    "devanagari": "NotoSansDevanagari-Regular.ttf",
    "thai": "NotoSansThai-Regular.ttf",
    "japanese": "NotoSansCJK-Regular.ttc",
    "chinese": "NotoSansCJK-Regular.ttc",
    "korean": "NotoSansCJK-Regular.ttc",
}
COLUMNS = "column-count:2;"
DOWNWARDS = "writing-mode:vertical-rl;height:180px;"
LINE = 24
FORMS = (*range(0x20, 0x7F), *range(0x5D0, 0x5F5), *range(0x2E80, 0x2FD6), *range(0xFE10, 0xFEFD))


def main(fonts: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in TEXTS.items():
            font = small_font(fonts, name, Path(folder) / f"{name}.otf")
            by_chromium(name, text, font, COLUMNS if name in ("latin", "cyrillic") else "", f"{name}-chromium.pdf")
            if name in ("japanese", "chinese"):
                by_chromium(name, text, font, DOWNWARDS, f"{name}-downwards.pdf")
            if name == "hebrew":  # whose font has no full stop, so that another's is taken
                by_chromium(name, text.replace(" כולם", ". כולם") + ".", font, "", "hebrew-two-fonts.pdf")
            if name in ("thai", "arabic"):
                by_fpdf(name, font)
            if name in ("devanagari", "hebrew", "cyrillic"):
                by_reportlab(name, font)
    not_embedded("japanese", "HeiseiMin-W3", downwards=False)
    not_embedded("japanese", "HeiseiMin-W3", downwards=True)
    not_embedded("chinese", "STSong-Light", downwards=True)
    without_unicode(HERE / "greek-chromium.pdf", HERE / "greek-unmapped.pdf")


def small_font(fonts: Path, name: str, path: Path) -> Path:
    """The letters of a text, with what shapes them; all forms of Arabic and Hebrew ones, which Chromium names then."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    font = TTFont(next(fonts.rglob(FONTS[name])), fontNumber=0)
    subsetter = Subsetter(Options(hinting=False, desubroutinize=True, layout_features=["*"]))
    forms = "".join(map(chr, FORMS)) if name in ("arabic", "hebrew", "chinese", "japanese") else ""
    subsetter.populate(text=TEXTS[name] + " " + forms)
    subsetter.subset(font)
    font.save(path)
    return path


def by_chromium(name: str, text: str, font: Path, style: str, file: str) -> None:
    """Printed by a browser: glyphs with ToUnicode, and ActualText where several letters make one shape."""
    page = font.with_suffix(".html")
    direction = "rtl" if name in ("arabic", "hebrew") else "ltr"
    face = f"@font-face{{font-family:F;src:url({font.name})}} p{{font:14px F;{style}}}"
    page.write_text(f"<meta charset=utf-8><style>{face}</style><body dir={direction}><p>{text}", "utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--disable-pdf-tagging"]
    subprocess.run(["chromium", *options, f"--print-to-pdf={HERE / file}", str(page)], check=True, capture_output=True)


def by_fpdf(name: str, font: Path) -> None:
    """Shaped by HarfBuzz, each mark placed by itself."""
    from fpdf import FPDF

    pdf = FPDF()
    pdf.add_page()
    pdf.add_font("F", "", str(font))
    pdf.set_font("F", size=12)
    pdf.set_text_shaping(True)
    pdf.multi_cell(0, 8, TEXTS[name], align="R" if name == "arabic" else "L")
    pdf.output(str(HERE / f"{name}-fpdf2.pdf"))


def by_reportlab(name: str, font: Path) -> None:
    """Letters as they are stored, from the left: what is written from the right then stands backwards on the page."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(TTFont(name, str(font)))
    canvas = Canvas(str(HERE / f"{name}-reportlab.pdf"), invariant=1)
    canvas.setFont(name, 12)
    words = TEXTS[name].split()
    for number in range(0, len(words), 7):
        canvas.drawString(50, 780 - LINE * number // 7, " ".join(words[number : number + 7]))
    canvas.save()


def not_embedded(name: str, font: str, *, downwards: bool) -> None:
    """With one of the fonts for Chinese and Japanese that a viewer is to have."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(UnicodeCIDFont(font, isVertical=downwards))
    canvas = Canvas(str(HERE / f"{name}-unembedded{'-downwards' * downwards}.pdf"), invariant=1)
    canvas.setFont(font, 12)
    for number, start in enumerate(range(0, len(TEXTS[name]), 24)):
        x, y = (500 - LINE * number, 780) if downwards else (50, 780 - LINE * number)
        canvas.drawString(x, y, TEXTS[name][start : start + 24])
    canvas.save()


def without_unicode(source: Path, path: Path) -> None:
    """The same page, its fonts without what says which letters their glyphs are."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(source))
    for font in writer.pages[0]["/Resources"]["/Font"].values():
        font.get_object().pop("/ToUnicode", None)
    writer.write(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/fonts"))
