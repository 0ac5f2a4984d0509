"""BEIR: a data set that its helpers write; ours and our rankings, of which it gives our figures, to its five digits."""

import json
from pathlib import Path
from typing import Any


def write_data_set(folder: Path, rows: list[dict[str, Any]]) -> None:
    from beir.util import write_to_json, write_to_tsv

    texts = [text for row in rows for text in row["contexts"]]
    corpus = {f"d{n}": {"title": f"'{n}'", "text": text} for n, text in enumerate(texts, 1)}
    write_to_json(str(folder / "corpus.jsonl"), corpus)
    write_to_json(str(folder / "queries.jsonl"), {f"q{n}": row["query"] for n, row in enumerate(rows, 1)})
    (folder / "qrels").mkdir()
    write_to_tsv(str(folder / "qrels" / "test.tsv"), {"q1": {"d1": 2, "d2": 0}, "q2": {"d4": 1}})


def write_data_set_again(folder: Path) -> list[Any]:
    from beir.datasets.data_loader import GenericDataLoader

    return list(GenericDataLoader(str(folder)).load("test"))


def imported(folder: Path) -> list[Any]:
    from ragassay.evaluate.from_files.collections.collection import read_folder

    made = read_folder(folder)
    passages = {id: {"text": one.text, "title": one.title} for id, one in made.passages.items()}
    return [passages, {id: one.text for id, one in made.queries.items()}, made.qrels]


def write_run(folder: Path, rows: list[dict[str, Any]]) -> None:
    from beir.util import save_runfile

    ids = [f"q{n}" for n, _ in enumerate(rows, 1)]
    save_runfile(str(folder / "theirs.trec"), {id: {"d2": 0.25, "d1": 7.5, "d3": -1.0} for id in ids})


def write_run_again(folder: Path) -> dict[str, Any]:
    from beir.util import load_runfile

    return {id: list(row.items()) for id, row in load_runfile(str(folder / "theirs.trec")).items()}


def ranked(folder: Path) -> Any:
    from ragassay.evaluate.from_files.collections.collection import read_folder

    (found,) = read_folder(folder).rankings.values()
    return found


def read_data_set(folder: Path) -> list[Any]:
    return write_data_set_again(folder)


def read_figures(folder: Path) -> dict[str, dict[str, float]]:
    from beir.retrieval.evaluation import EvaluateRetrieval
    from beir.util import load_runfile

    _, _, qrels = write_data_set_again(folder / "beir")
    found = {}
    for path in (folder / "trec" / "runs").glob("*.trec"):
        run = load_runfile(str(path))
        ndcg, *_ = EvaluateRetrieval.evaluate(qrels, run, [5])
        reciprocal = EvaluateRetrieval.evaluate_custom(qrels, run, [5], "mrr")
        found[path.stem] = {"nDCG@5": ndcg["NDCG@5"], "RR(rel=1)@5": reciprocal["MRR@5"]}
    return found


def figures(results: Path) -> dict[str, dict[str, float]]:
    """What should be read."""
    told = json.loads((results / "results.json").read_text(encoding="utf-8"))["retrieval"]
    names = ("nDCG@5", "RR(rel=1)@5")
    return {agent: {name: round(row[name]["value"], 5) for name in names} for agent, row in told.items()}


WRITES = {"write_data_set": ("beir", "imported"), "write_run": ("trec", "ranked")}
READS = {"read_data_set": ("beir", "imported"), "read_figures": ("beir trec", "figures")}
