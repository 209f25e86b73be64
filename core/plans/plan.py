"""A plan: everything a release needs, decided before anything is spent.

A plan is a request. What it says about its price is what the desk told when it was made; the desk prices it again from
its words when it pays (`pricing.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.planning.simulation.expected_error import Figure
from core.plans.release_terms import ReleaseTerms
from core.privacy.events import Cost
from core.privacy.privacy_filter import Amounts


@dataclass(frozen=True, kw_only=True)
class Plan(ReleaseTerms):
    """A priced choice of queries, mechanism and budget for one table.

    The id is a digest of the content: the same plan, made again in another process or after a restart, is the same
    plan, so it is paid for once and always gives the same release. `edition` asks for a fresh, separately paid one.
    """

    table: str
    cost: Cost = field(compare=False)
    amounts: Amounts = field(compare=False)
    """The price that was told, in each way of the account; a plan that turns out to have another one is refused."""
    units: int = field(compare=False)
    """Parts of the account's total that it would take, as the account was when the plan was made."""
    expected_error: Figure = field(compare=False)
    """Of the chosen questions, as the desk told it; the desk keeps its own copy for the certificate."""
