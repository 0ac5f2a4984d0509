"""A collection of two FAQs: what people asked Debian and R, their answers, and 90 questions written for the answers.

    python -m benchmarks.question_worth.faqs PDFS FOLDER

PDFS holds debian-faq.en.pdf and R-FAQ.pdf with questions/NAME.tsv (their outlines), debian-reference.en.pdf,
R-intro.pdf and R-admin.pdf. FOLDER becomes a collection in BEIR's layout, and questions.jsonl. A query is a heading of
a FAQ that is found on its page, its relevant passage the first 200 words under it, without the heading; answers below
25 words are left out. Beside them are the other three books in passages of 200 words. The written ones, from the
beginnings of 90 answers drawn at random (seed 7), are Claude's, which had not seen the headings of these answers but
may know the FAQs (`faq_questions.tsv`); `copied` are the first 18 words of the same answers.
"""

from __future__ import annotations

import csv
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragassay.files import json_line, write_text

FAQS = {"debian": "debian-faq.en", "r": "R-FAQ"}
BOOKS = ("debian-reference.en", "R-intro", "R-admin")
WORDS, FEWEST_WORDS, COPIED, CONTENTS_PAGES = 200, 25, 18, 10
QUOTES = str.maketrans("’“”", '\'""')
WRITTEN = Path(__file__).with_name("faq_questions.tsv")


def pages(path: Path) -> list[str]:
    """The text of each page."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_range().replace("\ufffe", "") for page in document]


def answers(pdfs: Path, faq: str) -> Iterator[tuple[str, str]]:
    """(question, answer), in the order of the FAQ."""
    found = pages(pdfs / f"{faq}.pdf")
    text = "\n".join(found)
    solid = [at for at, character in enumerate(text) if not character.isspace()]
    flat = "".join(text[at] for at in solid).lower().translate(QUOTES)
    with (pdfs / "questions" / f"{faq}.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    places = []
    for row in rows:
        key = re.sub(r"\s+", "", row["question"]).lower().translate(QUOTES)
        start = flat.find(key, sum(len("".join(page.split())) for page in found[: int(row["pdf_page"]) - 1]))
        if start >= 0:
            places.append((start, start + len(key), row["question"]))
    places.sort()
    ends = [start for start, _, _ in places[1:]] + [len(solid) - 1]
    for (_, start, question), end in zip(places, ends, strict=True):
        yield question, _bare(text[solid[start - 1] + 1 : solid[min(end, start + 2500) - 1] + 1])


def _bare(text: str) -> str:
    """Without headings of chapters and the number of the next question."""
    kept = re.sub(r"\n(Chapter|CHAPTER)[^\n]*", "\n", text)
    return re.sub(r"\s*\d+(\.\d+)+\s*$", "", " ".join(kept.split()))


def make(pdfs: Path, folder: Path) -> None:
    """Write the collection and the questions."""
    rows = [(f"{name}{n:03d}", *row) for name, faq in FAQS.items() for n, row in enumerate(answers(pdfs, faq))]
    rows = [row for row in rows if len(row[2].split()) >= FEWEST_WORDS]
    passages = {name: answer.split()[:WORDS] for name, _, answer in rows}
    for book in BOOKS:
        words = " ".join(pages(pdfs / f"{book}.pdf")[CONTENTS_PAGES:]).split()
        passages |= {f"{book}-{at}": words[at : at + WORDS] for at in range(0, len(words), WORDS)}
    _write(folder / "corpus.jsonl", [{"_id": name, "title": "", "text": " ".join(p)} for name, p in passages.items()])
    _write(folder / "queries.jsonl", [{"_id": f"q-{name}", "text": question} for name, question, _ in rows])
    labels = "".join(f"q-{name}\t{name}\t1\n" for name, _, _ in rows)
    write_text(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\n" + labels)
    written = dict(line.split("\t") for line in WRITTEN.read_text(encoding="utf-8").splitlines())
    copied = {name: " ".join(passages[name][:COPIED]) for name in written}
    kinds = {"written": written, "copied": copied}
    _write(folder / "questions.jsonl", [_question(k, n, t) for k, texts in kinds.items() for n, t in texts.items()])


def _question(kind: str, name: str, text: str) -> dict[str, Any]:
    return {"_id": f"{name}-{kind}", "text": text, "metadata": {"kind": kind, "passage": name}}


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, "".join(json_line(row) for row in rows))


def sample(pdfs: Path, n: int = 90) -> list[tuple[str, str]]:
    """The answers that the written questions are about: (id, answer)."""
    rows = [(f"{name}{at:03d}", row[1]) for name, faq in FAQS.items() for at, row in enumerate(answers(pdfs, faq))]
    return random.Random(7).sample([row for row in rows if len(row[1].split()) >= FEWEST_WORDS], n)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    make(Path(sys.argv[1]), Path(sys.argv[2]))
