"""Claims written from the need, on a made-up collection in BEIR's layout: both ways for every need, read back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from support.json_lines import write_lines
from support.need_replies import sober
from support.scripted_judge import Scripted

from benchmarks.questions.write import N_ABSTRACTS, N_EXPERTS, experts, questions, workspace, write
from ragassay.files import write_qrels


def collection(folder: Path) -> Path:
    words = ("alpha", "beta", "gamma", "delta")
    passages = [
        {"_id": str(n), "title": f"Trial {n}", "text": f"We gave {words[n % 4]}{n} to {n} mice and saw it work."}
        for n in range(N_ABSTRACTS + 10)
    ]
    folder.mkdir()
    (folder / "qrels").mkdir()
    write_lines(folder / "corpus.jsonl", passages)
    write_lines(folder / "queries.jsonl", [{"_id": f"q{n}", "text": f"Drug {n} works in mice."} for n in range(20)])
    for name, numbers in (("train", range(12)), ("test", range(10, 20))):
        rows = {f"q{n}": {str(n): 1} for n in numbers}
        write_qrels(folder / "qrels" / f"{name}.tsv", rows)
    return folder


def test_both_ways_are_written_for_every_need_and_experts_are_of_the_training_set(tmp_path: Path):
    scifact = collection(tmp_path / "scifact")
    told = {int(expert.text.split()[1]) for expert in experts(scifact)}
    assert len(told) == N_EXPERTS and told <= set(range(10))
    caller = Scripted(sober)
    kept, rejected = questions(write(scifact, workspace(tmp_path), caller))  # type: ignore[arg-type]
    assert rejected == [] and len({query.id for query in kept}) == len(kept)
    assert Counter(query.metadata["kind"] for query in kept) == {"need": N_ABSTRACTS, "blind": N_ABSTRACTS}
    assert all(query.metadata["passage"] == query.metadata["doc"] == query.id.split("-")[0] for query in kept)
    assert all(("blind unit" in query.text) == (query.metadata["kind"] == "blind") for query in kept)
    assert all(query.metadata["need"] and query.metadata["evidence"] for query in kept)
    assert not any("mice and" in request.messages[1].content for request in caller.asked("blind-file-claude-a"))
    assert len(caller.asked("evidence-file-claude-a")) == N_ABSTRACTS, "both claims of an abstract in one request"
