"""What people's questions look like, of two collections: synth/choosing/defaults.json, and a table of the means.

    python -m benchmarks.questions.people SCIFACT

SCIFACT is BEIR's folder. From it 36 test queries are drawn (seed 7), beside the 36 of the avr-libc manual's FAQ
(corpora/avr-libc/questions.txt), so that both collections weigh the same. Each question's best passage is found by BM25
among SciFact's titles and abstracts, or the manual's passages without its FAQ. Only figures are kept, no text.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.judges.take_replies import WORK
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import json_line, read_qrels, read_records, write_text
from ragassay.records import Passage, Query
from ragassay.synth.choosing.features import DEFAULTS, TOLD, Features, Passages, features_of
from ragassay.synth.ingest import ingest
from ragassay.synth.questions.own import read_expert_questions

ROOT = Path(__file__).parents[2]
N, SEED = 36, 7

Rows = list[Features]


def faq(work: Path = WORK) -> Rows:
    """The questions of the FAQ, among the manual's passages."""
    corpus = ROOT / "corpora" / "avr-libc"
    home = Workspace(corpus, work / "people", load_experiment(corpus / "experiment.toml"))
    ingest(home)
    passages = Passages([passage.text for passage in read_records(home.passages, Passage)], "en")
    return [features_of(expert.text, passages, "en") for expert in read_expert_questions(home.expert_questions)]


def scifact(folder: Path) -> Rows:
    """As many test queries, among the abstracts."""
    found = read_records(folder / "corpus.jsonl", Passage)
    passages = Passages([f"{passage.title}\n{passage.text}" for passage in found], "en")
    texts = {query.id: query.text for query in read_records(folder / "queries.jsonl", Query)}
    judged = sorted(read_qrels(folder / "qrels" / "test.tsv"))
    drawn = random.Random(f"{SEED}:people").sample(judged, N)
    return [features_of(texts[query], passages, "en") for query in drawn]


def defaults_text(collections: Iterable[tuple[str, Rows]]) -> str:
    """The file: a question a line."""
    head = json_line({"made_by": "python -m benchmarks.questions.people SCIFACT", "features": Features._fields})
    parts = []
    for name, rows in collections:
        lines = ",\n".join(json_line({"": [round(value, 3) for value in row]})[5:-2] for row in rows)
        parts.append(f'{{"name": "{name}", "n": {len(rows)}, "rows": [\n{lines}\n]}}')
    return f'{head[:-2]}, "collections": [\n' + ",\n".join(parts) + "\n]}\n"


def main(folder: Path) -> int:
    """Write the file and print the means."""
    collections = [("the FAQ of the avr-libc manual", faq()), ("SciFact's test queries", scifact(folder))]
    write_text(ROOT / "synth" / "choosing" / DEFAULTS, defaults_text(collections))
    print(f"| | {' | '.join(f'{name} ({len(rows)})' for name, rows in collections)} |\n|---|--:|--:|")
    means = [np.array(rows, float).mean(0) for _, rows in collections]
    for number, name in enumerate(Features._fields):
        print(f"| {TOLD[name]} | {' | '.join(f'{mean[number]:.2f}' for mean in means)} |")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
