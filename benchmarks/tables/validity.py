"""What `ragassay check validity` says of a corpus that was screened, the judge's labels of another run beside it.

    python -m benchmarks.tables.validity CORPUS RESULTS [QRELS] [-- CORPUS RESULTS [QRELS]] …

RESULTS is the folder of the screening; QRELS is the `qrels.trec` of a run over the same passages and queries, such as
`make demo` leaves it, and is copied there. Prints what benchmarks/results/tables/validity.md holds: of the demo's
corpus, which `benchmarks.tables.screening` has screened, and of people's questions of Debian, which is made so:

    cp -r benchmarks/replies/debian-reference CORPUS && cp DATA/pdfs/debian-reference.en.pdf CORPUS
    ragassay ingest CORPUS --results RESULTS && ragassay questions CORPUS --results RESULTS
    ragassay screen CORPUS --results RESULTS
    python -m benchmarks.question_worth.judged_pool CORPUS RESULTS && ragassay screen CORPUS --results RESULTS
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

from ragassay.cli import main as ragassay
from ragassay.evaluate.validity.records import Validity
from ragassay.evaluate.validity.validity import TITLES
from ragassay.text import one_line


def lines(found: Validity) -> list[str]:
    """Every sentence, a part after the other."""
    has = f"{found.n_written} written and {found.n_real} real queries, {found.n_variants} variants by {found.quality}"
    told = [f"{one_line(found.corpus)}: {has}; 95% intervals in parentheses.", ""]
    for name in TITLES:
        part = getattr(found, name)
        told += [f"- {name}, **warning**: {one_line(warning)}" for warning in part.warnings]
        told += [f"- {name}: {one_line(sentence)}" for sentence in part.said]
        told += [f"- {name}, not said: {one_line(part.abstained)}"] if part.abstained else []
    return told


def main(corpus: str, results: str, qrels: str | None = None) -> None:
    """Look, and print."""
    if qrels:
        shutil.copyfile(qrels, Path(results, "qrels.trec"))
    with redirect_stdout(sys.stderr):
        status = ragassay(["check", "validity", corpus, "--results", results])
    if status:
        raise SystemExit(status)
    record = json.loads(Path(results, "validity.json").read_text(encoding="utf-8"))
    print("\n".join(lines(Validity.model_validate(record))))


if __name__ == "__main__":
    left = sys.argv[1:]
    while left:
        end = left.index("--") if "--" in left else len(left)
        main(*left[:end])
        left = left[end + 1 :]
        print("\n" if left else "", end="")
