"""Whether an answer answers, 1 or 0, and how near it is to the golden one, as sentence-transformers itself says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support import judge_bench, tiny_models
from support.item_replies import between, script
from support.judge_bench import Bench

pytestmark = pytest.mark.xdist_group("models")


def test_an_answer_is_1_and_an_admission_0(bench, capsys):
    def label(text):
        found = "could not" not in between("answer", text)
        return {"reason": "So it is.", "label": "yes" if found else "no"}

    bench.server.script = script({"reason,label": label})
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": "In delay.h, wrongly or not.", "passages": ["p1"]},
        {"query_id": "q2", "agent": "ours", "answer": "I could not find it.", "passages": []},
    ]
    rows = bench.judge("no_answer", answers=answers)
    assert [(row.query_id, row.criterion, row.label, row.score) for row in rows] == [
        (query, criterion, label, label)
        for query, label in (("q1", 1), ("q2", 0))
        for criterion in ("query_answered", "query_answered_strict")
    ]
    assert "0.500" in capsys.readouterr().out


def test_an_agent_that_failed_has_strictly_not_answered_and_is_else_counted_as_failed(bench, capsys):
    bench.server.script = script({"reason,label": lambda text: {"reason": "So it is.", "label": "yes"}})
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": "In delay.h.", "passages": ["p1"]},
        {"query_id": "q2", "agent": "ours", "answer": None, "error": "timed out"},
    ]
    rows = {(row.query_id, row.criterion): row for row in bench.judge("no_answer", answers=answers)}
    raw, strict = rows["q2", "query_answered"], rows["q2", "query_answered_strict"]
    assert (raw.label, raw.error) == (None, "no answer to judge: timed out")
    assert (strict.label, strict.reason, strict.error) == (0, "the agent gave no answer: timed out", None)
    assert len(bench.server.requests) == 1
    means = capsys.readouterr().out.partition("threshold")[0].splitlines()
    printed = [re.split(r"\s{2,}", line.strip()) for line in means if line.startswith("query_answered")]
    shown = {cells[0]: [cells[2], *cells[-2:]] for cells in printed}
    assert shown == {"query_answered": ["1.000", "1", "1"], "query_answered_strict": ["0.500", "2", "0"]}


def settings(bench: Bench, embedding: str) -> tuple[str, str]:
    return bench.config("[retrieval]", f"embedding = {json.dumps(embedding)}")


@pytest.mark.parametrize(("name", "prompt"), [("tiny", ""), ("tiny-e5", "query: ")])
def test_the_cosine_of_answer_and_expected_response(bench, tmp_path, name: str, prompt: str) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import cos_sim

    folder = Path(tiny_models.sentence_model(tmp_path / "made")).rename(tmp_path / name)
    rows = bench.judge("golden_similarity", *settings(bench, str(folder)))
    model = SentenceTransformer(str(folder), device="cpu")
    texts = ["It is in util/delay.h [1].", "util/delay.h", "By sei() [1]. It is a macro.", "By calling sei()."]
    one, two, three, four = model.encode(texts, prompt=prompt)
    expected = [float(cos_sim(one, two)), float(cos_sim(three, four))]
    assert [row.label for row in rows] == pytest.approx(expected, abs=1e-5)
    assert [row.score for row in rows] == pytest.approx([(1 + value) / 2 for value in expected], abs=1e-5)
    assert {row.judge for row in rows} == {str(folder)} and not bench.server.requests


def test_a_golden_answer_has_cosine_1_however_long_it_is(bench, tmp_path, monkeypatch) -> None:
    folder = tiny_models.sentence_model(tmp_path)
    text = "the header waits busily " * 100
    answer = {"query_id": "mine", "query": "?", "expected_response": text, "agent": "ours", "answer": text}
    queries = [{"_id": "mine", "text": "?", "metadata": {"expected_response": text}}]
    monkeypatch.setattr(judge_bench, "QUERIES", queries)
    rows = bench.judge("golden_similarity", *settings(bench, folder), answers=[answer])
    assert [row.label for row in rows] == pytest.approx([1.0])


def test_the_end_of_a_long_answer_counts(bench, tmp_path) -> None:
    folder = tiny_models.sentence_model(tmp_path)
    long = " ".join(["busy"] * 70)
    answers = [
        {"query_id": "q1", "agent": "one", "answer": f"{long} sei"},
        {"query_id": "q1", "agent": "two", "answer": f"{long} processor"},
    ]
    one, two = bench.judge("golden_similarity", *settings(bench, folder), answers=answers)[:2]
    assert one.label != two.label


def test_an_embedding_that_cannot_be_loaded_is_one_sentence(bench, tmp_path, capsys) -> None:
    bench.judge("golden_similarity", *settings(bench, str(tmp_path)))
    assert bench.status == 2 and "cannot be loaded" in capsys.readouterr().err
