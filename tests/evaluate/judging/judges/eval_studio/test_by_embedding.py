"""What holds of all that compare by embeddings: hostile texts, texts embedded once, what they say of themselves."""

from __future__ import annotations

from collections import Counter

import pytest
from support.embedding_bench import EVALUATORS, HOSTILE

from ragassay.evaluate.judging.catalog import BUILT_IN
from ragassay.evaluate.judging.engine.judge import Setup

ALL = ",".join(EVALUATORS)
N_CRITERIA = 9
WORDLESS = {"empty", "spaces", "no words", "emoji", "brackets"}


@pytest.mark.parametrize("part", ["answer", "passages"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_have_a_value_on_the_scale_or_an_error(embedding, kind, part) -> None:
    embedding.asked("no", "north", "east", "steep")
    text = HOSTILE[kind]
    rows = embedding.judge(ALL, **{part: text if part == "answer" else ("north lies here", text)})
    assert len(rows) == N_CRITERIA
    for row in rows:
        assert (row.label is None) != (row.error is None)
        assert row.error is None or row.error.startswith("no value: ")
        assert row.label is None or -1 <= row.label <= 1
    if kind in WORDLESS:
        reads = {
            name for name in EVALUATORS if {"answer": "answer", "passages": "context"}[part] in BUILT_IN[name].reads
        }
        failed = {row.criterion for row in rows if row.error}
        # one passage with words is enough for the answer's sentences to be held against
        owed = reads - ({"groundedness_embeddings"} if part == "passages" else set())
        assert failed == {c.name for name in owed for c in BUILT_IN[name](Setup("openai:none")).criteria}


def test_a_text_is_embedded_once_for_all_evaluators(embedding, monkeypatch) -> None:
    from sentence_transformers import SentenceTransformer

    seen: Counter[str] = Counter()
    encode = SentenceTransformer.encode
    monkeypatch.setattr(SentenceTransformer, "encode", lambda self, t, **kw: seen.update(t) or encode(self, t, **kw))
    embedding.asked("no", "north", "east", "steep")
    rows = embedding.judge(f"{ALL},golden_similarity", answer="North lies here. Steep lies there.")
    assert len(rows) == N_CRITERIA + 1 and not any(row.error for row in rows)
    assert seen["North lies here."] == 1 and set(seen.values()) == {1}


@pytest.mark.parametrize("name", EVALUATORS)
def test_each_says_what_it_reads_asks_and_rests_on(name) -> None:
    kind = BUILT_IN[name]
    assert kind.about and kind.reads and kind.tags and kind.source.startswith("https://docs.h2o.ai/")
    assert kind.asks == ("judge" if name == "answer_relevancy" else "model")
    assert [criterion.threshold for criterion in kind(Setup("openai:none")).criteria][0] == 0.75
