"""What holds of all that compare by embeddings: hostile texts, texts embedded once, what they say of themselves."""

from __future__ import annotations

from collections import Counter

import pytest
from support.embedding_bench import EVALUATORS, HOSTILE

from ragassay.evaluate.judging.catalog import built_in
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.evaluate.judging.engine.evaluator import Criterion

pytestmark = pytest.mark.xdist_group("models")

ALL = ",".join(EVALUATORS)
UNANSWERED = {"empty", "spaces"}
WORDLESS = {*UNANSWERED, "no words", "emoji", "brackets"}
ERRORS = ("no value: ", "no answer to judge: ")


def criteria(*names: str) -> list[Criterion]:
    return [one for name in names for one in built_in()[name](Setup("openai:none")).criteria]


@pytest.mark.parametrize("part", ["answer", "passages"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_have_a_value_on_the_scale_or_an_error(embedding, kind, part) -> None:
    embedding.asked("no", "north", "east", "steep")
    text = HOSTILE[kind]
    rows = embedding.judge(ALL, **{part: text if part == "answer" else ("north lies here", text)})
    assert sorted(row.criterion for row in rows) == sorted(one.name for one in criteria(*EVALUATORS))
    for row in rows:
        assert (row.label is None) != (row.error is None)
        assert row.error is None or row.error.startswith(ERRORS)
        assert row.label is None or -1 <= row.label <= 1
    failed = {row.criterion for row in rows if row.error}
    if kind in WORDLESS and part == "passages":  # the other one has words, which is enough to hold an answer against
        assert failed == {"soft_recall", "soft_precision", "context_mrr"}
    elif kind in WORDLESS:
        read = EVALUATORS if kind in UNANSWERED else [name for name in EVALUATORS if "answer" in built_in()[name].reads]
        assert failed == {one.name for one in criteria(*read)}


def test_a_text_is_embedded_once_for_all_evaluators(embedding, monkeypatch) -> None:
    from sentence_transformers import SentenceTransformer

    seen: Counter[str] = Counter()
    encode = SentenceTransformer.encode
    monkeypatch.setattr(SentenceTransformer, "encode", lambda self, t, **kw: seen.update(t) or encode(self, t, **kw))
    embedding.asked("no", "north", "east", "steep")
    rows = embedding.judge(f"{ALL},golden_similarity", answer="North lies here. Steep lies there.")
    assert len(rows) == len(criteria(*EVALUATORS)) + 1 and not any(row.error for row in rows)
    assert seen["North lies here."] == 1 and set(seen.values()) == {1}


@pytest.mark.parametrize("name", EVALUATORS)
def test_each_says_what_it_reads_asks_and_rests_on(name) -> None:
    kind = built_in()[name]
    assert kind.about and kind.reads and kind.tags and kind.source.startswith("https://docs.h2o.ai/")
    assert kind.asks == ("judge" if name == "answer_relevancy" else "model")
    assert {one.threshold for one in criteria(name)} == {0.75}
