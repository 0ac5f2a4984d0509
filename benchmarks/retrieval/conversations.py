"""BM25 on conversations of MTRAG-UN (Govt): what to search with, the last turn or the whole history.

    python -m benchmarks.retrieval.conversations PATH

PATH is a folder with conversations.jsonl.gz, corpus.jsonl.gz and qrels.tsv, as SOURCE.md there says, whose figures
stand beside ours. Exit status 1 where one is another. The second table is what people's turns are, from which the
default shares of `questions.moves` come: by their labels of the last turns, and, of all later turns, how many have a
pronoun or begin as an ellipsis does (patterns, so about).
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from ragassay.evaluate.from_files.collections.format import read_named
from ragassay.evaluate.from_files.rate import score_files
from ragassay.files import write_records
from ragassay.records import Query, whole_text
from ragassay.retrieval.search import search_files

MEASURES = ("R@5", "nDCG@5")
PRONOUN = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those|ones?|such)\b", re.IGNORECASE)
ELLIPSIS = re.compile(r"(?:and|or|but|what about|how about)\b|(?:why|which|who|when|where)\W*$", re.IGNORECASE)
PUBLISHED = {"last turn": ("0.710", "0.672"), "whole history": ("0.625", "0.570")}


def main(folder: Path) -> int:
    """Print the table; 1 where a figure differs from SOURCE.md's."""
    found: dict[str, tuple[str, ...]] = {}
    with tempfile.TemporaryDirectory() as made:
        scratch = Path(made)
        for name in ("conversations.jsonl", "corpus.jsonl"):
            with gzip.open(folder / f"{name}.gz") as packed, (scratch / name).open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked)
        shutil.copyfile(folder / "qrels.tsv", scratch / "qrels.tsv")
        read = read_named("mtrag", [scratch])
        talks = [read.queries[id] for id in read.qrels]
        print(f"| query | n | {' | '.join(MEASURES)} | SOURCE.md |\n|---|--:|--:|--:|--:|")
        for name in PUBLISHED:
            asked = {one.id: whole_text(one) if name == "whole history" else str(one.text) for one in talks}
            write_records(scratch / "queries.jsonl", [Query(id=id, text=text) for id, text in asked.items()])
            files = (scratch / "corpus.jsonl", scratch / "queries.jsonl")
            search_files(*files, "bm25", embedding="none", k=100, out=scratch / "run.trec")
            figures = score_files(scratch / "qrels.tsv", scratch / "run.trec", MEASURES)
            found[name] = tuple(f"{figures[measure].value:.3f}" for measure in MEASURES)
            print(f"| {name} | {len(talks)} | {' | '.join(found[name])} | {' / '.join(PUBLISHED[name])} |")
        moves((scratch / "conversations.jsonl").read_text("utf-8").splitlines())
    print(f"\n{machine()}")
    return 0 if found == PUBLISHED else 1


def moves(lines: list[str]) -> None:
    """Print what people's turns are."""
    tasks: list[dict[str, Any]] = [json.loads(line) for line in lines]
    told = {
        "clarification": [one["multi_turn"] == ["Clarification"] for one in tasks],
        "unanswerable": [one["answerability"] == ["UNANSWERABLE"] for one in tasks],
        "underspecified": [one["answerability"] == ["UNDERSPECIFIED"] for one in tasks],
    }
    said = [[turn["content"] for turn in one["messages"] if turn["role"] == "user"] for one in tasks]
    later = [text.strip() for texts in said for text in texts[1:]]
    told["has a pronoun"] = [bool(PRONOUN.search(text)) for text in later]
    told["begins as an ellipsis"] = [bool(ELLIPSIS.match(text)) for text in later]
    print("\n| people's turns | n | share |\n|---|--:|--:|")
    for name, found in told.items():
        print(f"| {name} | {len(found)} | {sum(found) / len(found):.3f} |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
