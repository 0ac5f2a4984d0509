"""MLflow: its own store is opened by its client, its traces are read, and ours by it."""

import json
from pathlib import Path
from typing import Any


def write_traces(folder: Path, rows: list[dict[str, Any]]) -> None:
    import mlflow
    from mlflow.entities import Document, SpanType

    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.create_experiment("theirs", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment("theirs")
    for row in rows:
        with mlflow.start_span("answer", span_type=SpanType.CHAIN) as root:
            root.set_inputs({"query": row["query"]})
            with mlflow.start_span("search", span_type=SpanType.RETRIEVER) as search:
                search.set_inputs({"query": row["query"]})
                search.set_outputs([Document(page_content=text) for text in row["contexts"]])
            root.set_outputs({"answer": row["answer"]})
    mlflow.flush_trace_async_logging()
    experiment = mlflow.get_experiment_by_name("theirs").experiment_id
    traces = mlflow.search_traces(locations=[experiment], return_type="list")
    (folder / "theirs.jsonl").write_text("".join(trace.to_json() + "\n" for trace in traces), encoding="utf-8")


def read_traces(folder: Path) -> dict[str, Any]:
    from mlflow.entities import Trace

    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = []
        for line in path.read_text(encoding="utf-8").splitlines():
            root, *rest = Trace.from_json(line).data.spans
            documents = [one for span in rest if span.span_type == "RETRIEVER" for one in span.outputs]
            said = root.outputs and root.outputs["answer"]
            contexts = [one["page_content"] for one in documents]
            rows.append({"query": root.inputs["query"], "answer": said, "contexts": contexts})
        found[path.stem] = sorted(rows, key=lambda row: row["query"])
    return found


def read_run(folder: Path) -> dict[str, Any]:
    """Of each agent's run the points, by the metric, and its answers, by the table."""
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    client = mlflow.MlflowClient()
    (experiment,) = (one for one in client.search_experiments() if one.name != "Default")
    found = {}
    for run in client.search_runs([experiment.experiment_id]):
        if "mlflow.parentRunId" in run.data.tags:
            table = client.load_table(experiment.experiment_id, "answers.json", run_ids=[run.info.run_id])
            rows = sorted([row["query"], row["answer"]] for row in table.to_dict("records"))
            charted = {name: value for name, value in run.data.metrics.items() if not name.startswith("detail/")}
            found[run.info.run_name] = {"points": charted["points"], "answers": rows}
    return found


def run(results: Path) -> dict[str, Any]:
    """What should be read."""
    told = json.loads((results / "results.json").read_text(encoding="utf-8"))
    queries = [json.loads(line) for line in (results / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    texts, found = {row["_id"]: row["text"] for row in queries}, {}
    for path in sorted((results / "answers").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        answers = sorted([texts[row["query_id"]], row["answer"]] for row in rows)
        found[path.stem] = {"points": told["points"][path.stem]["value"], "answers": answers}
    return found


WRITES = {"write_traces": ("mlflow-traces", "query answer contexts")}
READS = {"read_traces": ("mlflow-traces", "query answer contexts"), "read_run": ("mlflow", "run")}
