"""ranx: its labels and ranking, and ours, of which it gives our figures."""

from pathlib import Path
from typing import Any

FIGURES = {"nDCG@5": "ndcg@5", "RR(rel=1)@5": "mrr@5", "RR(rel=2)@5": "mrr@5-l2"}


def write_run(folder: Path, rows: list[dict[str, Any]]) -> None:
    from ranx import Qrels, Run

    places = range(1, 4)
    ids = [f"q{number}" for number, _ in enumerate(rows, 1)]
    Run({id: {f"{id}-d{n}": 4.5 - n for n in places} for id in ids}, name="theirs").save(str(folder / "theirs.trec"))
    Qrels({id: {f"{id}-d{n}": 3 - n for n in places} for id in ids}).save(str(folder / "qrels.trec"), kind="trec")


def write_run_again(folder: Path) -> list[Any]:
    from ranx import Qrels, Run

    run, qrels = Run.from_file(str(folder / "theirs.trec")), Qrels.from_file(str(folder / "qrels.trec"), kind="trec")
    ranked = {id: [[passage, score] for passage, score in row.items()] for id, row in run.to_dict().items()}
    return [{run.name: ranked}, qrels.to_dict()]


def imported(folder: Path) -> list[Any]:
    from ragassay.evaluate.from_files.collections.collection import read_folder

    made = read_folder(folder)
    return [made.rankings, made.qrels]


def read_figures(folder: Path) -> dict[str, dict[str, float]]:
    from ranx import Qrels, Run, evaluate

    qrels = Qrels.from_file(str(folder / "qrels.trec"), kind="trec")
    found = {}
    for path in (folder / "runs").glob("*.trec"):
        values = evaluate(qrels, Run.from_file(str(path), kind="trec"), list(FIGURES.values()))
        found[path.stem] = {name: float(values[theirs]) for name, theirs in FIGURES.items()}
    return found


WRITES = {"write_run": ("trec", "imported")}
READS = {"read_figures": ("trec", " ".join(FIGURES))}
