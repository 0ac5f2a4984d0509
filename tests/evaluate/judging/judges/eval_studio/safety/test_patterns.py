"""What no match can be without lets texts be passed over: what is found must be the same as where none is."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.often import CI

from ragassay.evaluate.judging.judges.eval_studio.safety.leaks import SECRETS
from ragassay.evaluate.judging.judges.eval_studio.safety.patterns import PERSONAL, Kind, findings

KINDS = [(f"{kind.name}-{number}", kind) for number, kind in enumerate((*PERSONAL, *SECRETS))]


def _core(kind: Kind) -> str:
    """The pattern without what stands around it, and conditional groups by their first branch, for hypothesis."""
    source = re.sub(r"\(\?[<!=]+[^()\[\]]*(?:\[[^\]]*\][^()\[\]]*)*\)", "", kind.pattern.pattern)
    return source.replace("(?(gap)(?P=gap)|[ .-])", "(?P=gap)").replace("}+", "}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Take release 203.0.113.77 of it.", False),
        ("This is release two. Write to 203.0.113.77 then.", True),
        ("Write to 203.0.113.77 then. This is release two.", True),
        ("Of the release. Then release 203.0.113.77 came.", False),
        ("Write to 203.0.113.300 then.", False),
    ],
)
def test_a_word_that_rules_a_finding_out_does_so_in_its_own_sentence(text: str, found: bool) -> None:
    """203.0.113.0/24 is RFC 5737's for documentation; behind "release" it reads as a version."""
    kinds = [kind for kind in PERSONAL if kind.name == "ip_v4" and kind.unless is not None]
    assert bool(findings(text, kinds)) == found


@pytest.mark.parametrize("kind", [kind for _, kind in KINDS], ids=[name for name, _ in KINDS])
def test_a_text_that_is_passed_over_holds_no_match(kind: Kind) -> None:
    check = kind.check if kind.name == "password" else bool  # its digit is wanted by the check, not by the pattern
    plain = replace(kind, check=check, context=None, unless=None)
    fits = st.from_regex(re.compile(_core(kind), kind.pattern.flags & (re.ASCII | re.IGNORECASE)), fullmatch=True)

    @settings(max_examples=10 if CI else 4, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(fits)
    def each(text: str) -> None:
        everywhere = replace(plain, digits=0, holds=())
        assert findings(f" {text} ", [plain]) == findings(f" {text} ", [everywhere])

    each()
