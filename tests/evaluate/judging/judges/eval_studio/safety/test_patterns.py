"""What no match can be without lets texts be passed over: what is found must be the same as where none is."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragassay.evaluate.judging.judges.eval_studio.safety.credentials import SECRETS
from ragassay.evaluate.judging.judges.eval_studio.safety.patterns import Kind, findings
from ragassay.evaluate.judging.judges.eval_studio.safety.personal import PERSONAL

KINDS = [(f"{kind.name}-{number}", kind) for number, kind in enumerate((*PERSONAL, *SECRETS))]


def _core(kind: Kind) -> str:
    """The pattern without what stands around it, and conditional groups by their first branch, for hypothesis."""
    source = re.sub(r"\(\?[<!=]+[^()\[\]]*(?:\[[^\]]*\][^()\[\]]*)*\)", "", kind.pattern.pattern)
    return source.replace("(?(gap)(?P=gap)|[ .-])", "(?P=gap)").replace("}+", "}")


@pytest.mark.parametrize("kind", [kind for _, kind in KINDS], ids=[name for name, _ in KINDS])
def test_a_text_that_is_passed_over_holds_no_match(kind: Kind) -> None:
    check = kind.check if kind.name == "password" else bool  # its digit is wanted by the check, not by the pattern
    plain = replace(kind, check=check, context=None, unless=None)
    fits = st.from_regex(re.compile(_core(kind), kind.pattern.flags & (re.ASCII | re.IGNORECASE)), fullmatch=True)

    @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(fits)
    def each(text: str) -> None:
        everywhere = replace(plain, digits=0, holds=())
        assert findings(f" {text} ", [plain]) == findings(f" {text} ", [everywhere])

    each()
