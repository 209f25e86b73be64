"""A plan for a session: what it is about and what it costs, decided before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.mechanisms.kit.protocol import Expected
from core.plans.session_terms import SessionTerms
from core.privacy.events import Cost
from core.privacy.privacy_filter import Amounts


@dataclass(frozen=True, kw_only=True)
class SessionPlan(SessionTerms):
    """A priced choice of an interactive mechanism, a budget and columns for one table.

    The id is a digest of the content, as with a release: the same choice made again, in another tab or after a restart,
    is the same session. `edition` asks for a fresh, separately paid one.
    """

    cost: Cost = field(compare=False)
    amounts: Amounts = field(compare=False)
    """The price that was told, in each way of the account; a plan that turns out to have another one is refused."""
    units: int = field(compare=False)
    """Parts of the account's total that it would take, as the account was when the plan was made."""
    expected_error: Expected = field(compare=False)
    hard_answers: int | None = field(compare=False)
    """How many hard answers it can give; None where there is no limit."""
