"""A plan for a decision: what is decided, what it costs and what is promised, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.plans.decision_terms import DecisionTerms
from core.privacy.events import Cost
from core.privacy.privacy_filter import Amounts


@dataclass(frozen=True, kw_only=True)
class DecisionPlan(DecisionTerms):
    """A priced choice of a problem, its public part and a budget for one table.

    The id is a digest of the content, as with a release: the same choice is the same decision, paid for once.
    """

    cost: Cost = field(compare=False)
    amounts: Amounts = field(compare=False)
    """The price that was told, in each way of the account; a plan that turns out to have another one is refused."""
    units: int = field(compare=False)
    """Parts of the account's total that it would take, as the account was when the plan was made."""
    guarantee: str = field(compare=False)
    """What is proven of the decision, with its numbers filled in."""
