"""ir_measures: our labels and rankings, of which it gives our figures."""

from pathlib import Path


def read_figures(folder: Path) -> dict[str, dict[str, float]]:
    import ir_measures

    measures = {name: ir_measures.parse_measure(name) for name in FIGURES.split()}
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.trec")))
    found = {}
    for path in (folder / "runs").glob("*.trec"):
        run = ir_measures.read_trec_run(str(path))
        values = ir_measures.calc_aggregate(measures.values(), qrels, run)
        found[path.stem] = {name: values[measure] for name, measure in measures.items()}
    return found


FIGURES = "nDCG@5 RR(rel=1)@5 RR(rel=2)@5"
READS = {"read_figures": ("trec", FIGURES)}
