"""Faithfulness: the share of the answer's claims that can be inferred from the retrieved passages.

    faithfulness = claims that the passages support / claims of the answer

Ragas' metric of this name (Es et al. 2024, arXiv:2309.15217, section 3), which is H2O Eval Studio's. The claims are
asked for as factual_correctness does, so that both cost one. An answer that claims nothing, an empty answer and an
empty context have no value. groundedness (TruLens') grades claims instead, and an admission of not knowing gets the
highest grade there.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import ClassVar

from ragassay.models.requests import Request
from ragassay.prompts import Prompt

from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Steps
from ....engine.parts import own_prompt
from ....engine.reply import JudgeFailed, read_value
from ... import PROMPTS
from ...factual_correctness import Claims, FactualOptions
from .. import H2O_PAGE, TAGS
from ..by_verdicts import YesShare, checked_context, verdicts_on
from ..words import check_words


class Faithfulness(YesShare):
    """One request for the claims, then one for the verdicts on each ten of them."""

    name = "faithfulness"
    family = "eval-studio-context"
    about = "the share of the answer's claims that the passages support"
    reads = ("question", "context", "answer")
    source = f"{H2O_PAGE} (Faithfulness); arXiv:2309.15217"
    tags = (*TAGS, "valid and reliable", "accountable and transparent", "ongoing monitoring")
    what = "claims"
    calls = 2.0
    options: FactualOptions
    options_type = FactualOptions
    default_prompt: ClassVar = Path(__file__).with_name("prompts") / "faithfulness.md"

    @cached_property
    def claims_prompt(self) -> Prompt:
        """What takes the answer apart. Raises InputError where it cannot be read."""
        return own_prompt(self, self.options.claims_prompt, PROMPTS / "factual_claims.md")

    def steps(self, case: AnswerCase) -> Steps:
        """The claims, then whether the passages support them."""
        check_words(case.text, "answer")
        passages = checked_context(case)
        asked = self.claims_prompt.render({"query": case.query, "answer": case.text})
        (reply,) = yield [Request(asked, schema=Claims)]
        claims = list(dict.fromkeys(read_value(reply, Claims).claims))
        if not claims:
            raise JudgeFailed(f"{NO_VALUE}the answer makes no claim")
        verdicts = yield from verdicts_on(self.question, [({"query": case.query, "passages": passages}, claims)])
        return self.share(case, claims, verdicts)
