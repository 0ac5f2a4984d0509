"""The cost limit: never passed by calls under way, and not reached early by what an earlier run has paid."""

from __future__ import annotations

import pytest

from ragassay.calls.direct import Budget
from ragassay.errors import BudgetSpent


def claims_until_spent(budget: Budget, cost_usd: float, at_once: int) -> int:
    """How many calls go through when `at_once` are under way together."""
    made = 0
    while True:
        claimed = 0
        try:
            for _ in range(at_once):
                budget.claim(lambda: cost_usd)
                claimed += 1
        except BudgetSpent:
            return made + claimed
        finally:
            for _ in range(claimed):
                budget.end(cost_usd)
        made += claimed


@pytest.mark.parametrize("at_once", [1, 3, 32])
def test_calls_under_way_count(at_once: int):
    budget = Budget(5.0, 0.0, "judge")
    assert claims_until_spent(budget, 0.25, at_once) == 20
    assert budget.spent_usd == 5.0


def test_what_was_paid_before_does_not_make_a_call_dear():
    budget = Budget(20.0, 0.0, "judge")
    budget.spend(9.0)
    assert claims_until_spent(budget, 0.5, 8) == 22


def test_what_batches_have_set_aside_is_not_spent_twice():
    budget = Budget(5.0, 0.0, "judge")
    budget.reserve(4.0, 100)
    assert claims_until_spent(budget, 0.25, 1) == 4
    budget.settle(4.0, 3.0)
    assert claims_until_spent(budget, 0.25, 1) == 4, "the batches cost a dollar less"
    assert budget.spent_usd == 5.0


def test_a_first_call_that_alone_would_pass_the_limit_is_not_made():
    with pytest.raises(BudgetSpent, match=r"limit of \$1.00"):
        Budget(1.0, 0.0, "judge").claim(lambda: 1.5)


def test_without_a_limit_or_a_price_calls_go_on():
    Budget(None, 1e9, "judge").claim(lambda: 1e9)
    budget = Budget(1.0, 0.0, "judge")
    for _ in range(100):
        budget.claim(lambda: None)
        budget.end(None)
    assert budget.spent_usd == 0.0


def test_a_limit_that_is_spent_lets_no_call_through():
    with pytest.raises(BudgetSpent):
        Budget(1.0, 1.0, "judge").claim(lambda: None)


def test_calls_without_a_price_make_no_other_seem_cheaper():
    budget = Budget(1.5, 0.0, "judge")
    for cost_usd in (0.6, *[None] * 9):
        budget.claim(lambda: None)
        budget.end(cost_usd)
    budget.claim(lambda: None)
    with pytest.raises(BudgetSpent):
        budget.claim(lambda: None)
