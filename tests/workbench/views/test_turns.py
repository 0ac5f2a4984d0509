"""A query that is a turn, and an answer of several searches, on the page of a query."""

from __future__ import annotations

from pathlib import Path

from support.results_folder import answer, experiment, results_folder
from support.workbench import browsing

from ragassay.evaluate.compare import compare
from ragassay.records import Hop, Passage, Query


def test_what_was_said_before_and_each_step_stand_on_the_page(tmp_path: Path):
    said = [{"role": "user", "text": "US <b>tax</b> credit?"}, {"role": "assistant", "text": "Up to $2,000."}]
    told = {"conversation": "c1", "turn": 2}
    queries = [
        Query.model_validate({"_id": "t", "text": "And in Canada?", "history": said, "metadata": told}),
        Query(id="q", text="How?"),
    ]
    hops = (Hop(query="canada tax", passages=("p1",)), Hop(query="canada child", error="timed out"))
    agents = ("bm25-rag", "bm25-rag-fusion")
    rows = [answer(query.id, agent, "So.", "p1") for query in queries for agent in agents]
    workspace = results_folder(
        tmp_path,
        experiment(retrieval={"retrievers": ["bm25"]}),
        queries=queries,
        passages=[Passage(_id="p1", text="…")],
        answers=[rows[0].model_copy(update={"hops": hops}), *rows[1:]],
        relevance=[],
        pointwise=[],
        games=[],
    )
    compare(workspace)
    shown = workspace.results.name
    with browsing(workspace) as client:
        page = client.get(f"/{shown}/queries/t").text
        assert "US &lt;b&gt;tax&lt;/b&gt; credit?" in page and "Up to $2,000." in page
        assert "step 1: canada tax → p1" in page and "step 2: canada child → timed out" in page
        assert "Said before" not in client.get(f"/{shown}/queries/q").text
        asked = client.get(f"/{shown}/calls/t", params={"of": "answer"}).text
        assert "&lt;turn role=&#34;user&#34;&gt;" in asked, "the prompt is made again with what was said before"
