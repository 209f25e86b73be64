"""What a plan costs: one computation from the words of the plan, the table it names and the account of that table.

**Privacy** A plan is a wish: an object that anybody may change, or a file from anywhere. The desk writes the wish down
as text and everything follows from that text: the mechanism is built from it, its events are priced in the ways of
the account that owns the table's budget, the same text is kept in the ledger with the price that was paid, and a run
builds the mechanism from the kept text by the very same function. So nothing that a plan says about its own price,
account or id can part what runs from what was charged.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.base.errors import BadParameter, Refused
from core.ledger.ledger import Account, Entry
from core.mechanisms.kit.interactive import Interactive
from core.mechanisms.kit.protocol import Mechanism
from core.plans.plan import identity
from core.plans.session_plan import chosen_columns, narrowed
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.filters import Amounts
from core.queries.kit.focus import asked_columns
from core.registry import interactive_from, mechanism_from, query_from_json
from core.schema.domain import Domain

MOST_VALUES = 40_000_000
"""Rows times columns of a release: about 18 bytes each as CSV and Parquet; the ledger keeps less than a gigabyte."""
MOST_EDITIONS = 10**6

Chosen = TypeVar("Chosen", Mechanism, Interactive)


@dataclass(frozen=True, kw_only=True)
class Priced(Generic[Chosen]):
    """The words of a plan with everything that follows from them for one table."""

    content: str
    """What the ledger keeps, and what a run is built from."""
    terms: dict[str, Any]
    """The same, read."""
    held: DeskTable
    account: Account
    """The one that owns the table's budget, as it was when the price was made."""
    mechanism: Chosen
    domain: Domain
    """The columns that the mechanism gets to see."""
    cost: Cost
    amounts: Amounts
    """What the cost takes in each way of the account."""
    units: int
    """Parts of the account's total that this would take now; more than are left where it does not fit."""

    @property
    def id(self) -> str:
        return identity(self.content)


def price_release(content: str, held: DeskTable, account: Account) -> Priced[Mechanism]:
    """Refuses what cannot run on this table; a sentence says why."""
    terms = json.loads(content)
    _check_whole(terms["records"], "records", most_records(held.domain), optional=True)
    _check_whole(terms["edition"], "edition", MOST_EDITIONS)
    queries = [query_from_json(query) for query in terms["queries"]]
    mechanism = _built(lambda options: mechanism_from(terms["mechanism"], queries, _budget(terms), options), terms)
    return _priced(content, terms, held, account, mechanism, asked_columns(mechanism.queries, held.domain))


def price_session(content: str, held: DeskTable, account: Account) -> Priced[Interactive]:
    """The same for a session; whether an earlier release fits is for whoever holds releases to check."""
    terms = json.loads(content)
    _check_whole(terms["edition"], "edition", MOST_EDITIONS)
    mechanism = _built(lambda options: interactive_from(terms["mechanism"], _budget(terms), options), terms)
    columns = chosen_columns(terms["columns"], held.domain)
    return _priced(content, terms, held, account, mechanism, narrowed(held.domain, columns))


def check_paid(priced: Priced[Any], entry: Entry) -> None:
    """Nothing runs that costs more than was paid for it, whoever wrote the entry and with whatever version."""
    paid = json.loads(entry.amounts)
    if any(_above(amount, paid.get(way, 0)) for way, amount in priced.amounts.items()):
        raise Refused("This plan costs more than was paid for it; plan a fresh edition.")


def most_records(domain: Domain) -> int:
    return MOST_VALUES // len(domain)


def _priced(
    content: str, terms: dict[str, Any], held: DeskTable, account: Account, mechanism: Chosen, domain: Domain
) -> Priced[Chosen]:
    mechanism.check(domain, held.unit)
    cost = mechanism.cost(domain, held.unit)
    amounts, units = told(cost, account)
    return Priced(
        content=content,
        terms=terms,
        held=held,
        account=account,
        mechanism=mechanism,
        domain=domain,
        cost=cost,
        amounts=amounts,
        units=units,
    )


def told(cost: Cost, account: Account) -> tuple[Amounts, int]:
    """What a cost takes in each way of an account, and in parts of its total."""
    amounts = account.filters.amounts(cost)
    units = account.price(amounts)
    if units is None:
        raise BadParameter("delta", "Gaussian noise needs a table whose budget has a delta; choose Laplace noise.")
    return amounts, units


def _above(amount: int | None, paid: int | None) -> bool:
    """None is beyond every amount."""
    return paid is not None and (amount is None or amount > paid)


def _built(make: Callable[[dict[str, Any]], Chosen], terms: dict[str, Any]) -> Chosen:
    """An option that is called like a part of the plan would take that part's place."""
    if not isinstance(terms["mechanism"], str):
        raise BadParameter("mechanism", "must be the name of one.")
    for name in ("queries", "budget"):
        if name in terms["options"]:
            raise BadParameter(name, "belongs beside the options of the mechanism, not among them.")
    return make(terms["options"])


def _budget(terms: dict[str, Any]) -> Budget:
    return Budget.from_json(terms["budget"])


def _check_whole(value: object, parameter: str, most: int, *, optional: bool = False) -> None:
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise BadParameter(parameter, f"must be a whole number from 1 to {most:,}.")
