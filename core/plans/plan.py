"""A plan: everything a release needs, decided before anything is spent.

A plan is a request. What it says about its price is what the desk told when it was made; the desk prices it again from
its words when it pays (`pricing.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from core.ledger.ledger import Account
from core.mechanisms.kit.protocol import Expected
from core.plans.release_terms import ReleaseTerms
from core.privacy.events import Cost


@dataclass(frozen=True, kw_only=True)
class Plan(ReleaseTerms):
    """A priced choice of queries, mechanism and budget for one table.

    The id is a digest of the content: the same plan, made again in another process or after a restart, is the same
    plan, so it is paid for once and always gives the same release. `edition` asks for a fresh, separately paid one.
    """

    table: str
    cost: Cost = field(compare=False)
    units: int = field(compare=False)
    """The price that was told; a plan that turns out to have another one is refused."""
    expected_error: Expected = field(compare=False)


def order_of(account: Account) -> Fraction | None:
    """The order at which an account counts its units; None for pure epsilon."""
    return None if account.order is None else Fraction(account.order)
