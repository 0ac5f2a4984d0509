"""What of a ranking is held against the evidence: what is handed over, and what fits into a context of one length."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.results_folder import results_folder

from ragassay.evaluate.screening.screen import AT_TOKENS, screened_by
from ragassay.evidence import Span
from ragassay.experiment.workspace import VariantRun
from ragassay.files import write_text
from ragassay.prompts import passage_tokens
from ragassay.records import Passage, Query

HEAD = '[questions]\nsource = "own"\n[answer]\nmodel = "openai:m"\nagents = []\n[judge]\nmodel = "openai:m"\n'
TEXT = "The watchdog is stopped by writing the register twice within four cycles. " * 2


def passage(number: int) -> Passage:
    return Passage(_id=f"p{number}", text=TEXT, metadata={"doc": "a", "start": 100 * number, "end": 100 * number + 100})


@pytest.mark.parametrize(
    ("k", "tokens", "n_fitting", "at_k", "at_tokens"),
    [
        (1, None, 3, 0.0, 1.0),
        (3, None, 2, 1.0, 0.0),
        (None, 1, 3, 0.0, 1.0),
        (None, 3, 2, 1.0, 0.0),
    ],
)
def test_at_tokens_a_variant_s_own_limit_does_not_count(
    tmp_path: Path, k: int | None, tokens: int | None, n_fitting: int, at_k: float, at_tokens: float
) -> None:
    """The evidence stands in the third passage; `tokens` and `n_fitting` are in passages."""
    length = passage_tokens(passage(1))
    query = Query(_id="q", text="How?")
    settings = f"{HEAD}[[retriever]]\nname = 'v'\nkind = 'bm25'\n[search]\ntokens = {max(50, n_fitting * length)}\n"
    workspace = results_folder(tmp_path, settings, passages=[passage(n) for n in (1, 2, 3)], queries=[query])
    assert length > 25
    write_text(workspace.screening / "v.trec", "".join(f"q Q0 p{n} {n} {9 - n} v\n" for n in (1, 2, 3)))
    own = None if tokens is None else tokens * length
    run = VariantRun(variant="v", table="v", settings={}, k=k, tokens=own, n=1, n_failed=0, n_passages=3)
    found = screened_by(workspace, [run], [query], {"q": (Span("a", 300, 400),)})
    assert found.measures["evidence_recall"].tolist() == [[at_k]]
    assert found.measures[f"evidence_recall{AT_TOKENS}"].tolist() == [[at_tokens]]
    assert found.tokens.tolist() == [[length * (k or tokens or 0)]]
