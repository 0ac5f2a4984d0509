"""`ragassay judge` by an embedding whose vectors are known, and texts that are hard to embed."""

from __future__ import annotations

import json

import pytest
from support import judge_bench, tiny_models
from support.loopback.behaviours import reply

from ragassay.records import Assessment

_LOWER = {
    "north": (1.0, 0.0),
    "east": (0.0, 1.0),
    "south": (-1.0, 0.0),
    "steep": (3.0, 4.0),  # cosine 0.6 to north, 0.8 to east
}
VECTORS = _LOWER | {word.title(): vector for word, vector in _LOWER.items()}
"""Words; all others count as zeros, so that a sentence with one of these has its direction."""

EVALUATORS = (
    "semantic_similarity",
    "sentence_similarity",
    "answer_relevancy",
    "answer_relevancy_sentences",
    "groundedness_embeddings",
    "context_relevancy_soft",
    "context_mrr",
)

HOSTILE = {
    "empty": "",
    "spaces": " \n\t ",
    "no words": "?!... -- ()",
    "emoji": "🙂🙃 👩‍👩‍👧 🇩🇪",
    "right to left": "north شمال \u202e\u202e \u200f. שלום east עולם.",
    "nul": "north\x00 east\ud7ff \ufffe",
    "long": "north east " * 1800,
    "one word": "n" * 20_000,
    "many sentences": " ".join(f"North number {i} is here." for i in range(400)),
    "brackets": "[" * 10_000 + "(" * 10_000,
    "deep JSON": '{"north":' * 2_000 + "1" + "}" * 2_000,
    "huge number": "north " + "9" * 20_000,
    "lines": "a\n" * 8_000,
}


class EmbeddingBench:
    """`judge(NAME, answer=…)` gives the records of one case; each part of it may be set."""

    def __init__(self, bench: judge_bench.Bench, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bench, self.model, self._patch = bench, folder, monkeypatch

    def judge(
        self,
        name: str,
        *,
        answer: str = "north is there",
        question: str = "north",
        expected: str | None = "north",
        passages: tuple[str, ...] = ("north is there",),
        **settings: object,
    ) -> list[Assessment]:
        metadata = {} if expected is None else {"expected_response": expected}
        self._patch.setattr(judge_bench, "QUERIES", [{"_id": "q", "text": question, "metadata": metadata}])
        rows = [{"_id": f"p{number}", "text": text} for number, text in enumerate(passages, 1)]
        self._patch.setattr(judge_bench, "PASSAGES", rows or [{"_id": "none", "text": "none"}])
        given = [{"query_id": "q", "agent": "ours", "answer": answer, "passages": [row["_id"] for row in rows]}]
        table = [f"[evaluate.settings.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
        lines = ["[retrieval]", f"embedding = {json.dumps(self.model)}", *(table if settings else [])]
        return self.bench.judge(name, *self.bench.config(*lines), answers=given)

    def asked(self, noncommittal: str, *questions: str) -> None:
        """What the judge replies when it is to write questions."""
        said = {"reason": "So it is.", "noncommittal": noncommittal}
        said |= {f"question_{number}": text for number, text in enumerate(questions, 1)}
        self.bench.server.script = lambda number, body: reply(json.dumps(said))


@pytest.fixture(scope="session")
def known_vectors(tmp_path_factory) -> str:
    return tiny_models.static_model(tmp_path_factory.mktemp("known"), VECTORS)


@pytest.fixture
def embedding(bench, known_vectors, monkeypatch) -> EmbeddingBench:
    """A bench whose embedding is `VECTORS`."""
    return EmbeddingBench(bench, known_vectors, monkeypatch)
