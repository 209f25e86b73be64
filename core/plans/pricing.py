"""What a plan costs: one computation from the words of the plan, the table it names and the account of that table.

**Privacy** A plan is a request: an object that anybody may change, or a file from anywhere. The desk writes it down as
text and everything follows from that text: the mechanism is built from it, its events are priced in the ways of the
account that owns the table's budget, the same text is kept in the ledger with the price that was paid, and a run builds
the mechanism from the kept text by the very same function. So nothing that a plan says about its own price, account or
id can part what runs from what was charged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from core.base.errors import BadParameter, Refused
from core.decisions.decision import Decision
from core.ledger.ledger import Account, Entry
from core.mechanisms.kit.interactive import Interactive
from core.mechanisms.kit.protocol import Mechanism
from core.mechanisms.measured.measuring import ErrorMeasuring
from core.plans.canonical import identity
from core.plans.decision_terms import DecisionTerms
from core.plans.division import divided
from core.plans.release_terms import ReleaseTerms
from core.plans.session_terms import SessionTerms, chosen_columns, narrowed
from core.plans.statements import DeskTable
from core.privacy.events import Cost
from core.privacy.privacy_filter import Amounts
from core.queries.kit.focus import asked_columns, asked_tables
from core.rules.contradictions import check_rows
from core.rules.lawful_tables import LawfulTables
from core.rules.rule_set import rules_of
from core.schema.domain import Domain

MOST_VALUES = 40_000_000
"""Rows times columns of a release: about 18 bytes each as CSV and Parquet; the ledger keeps less than a gigabyte."""
MOST_EDITIONS = 10**6

Chosen = TypeVar("Chosen", Mechanism, Interactive, Decision)
Read = TypeVar("Read", ReleaseTerms, SessionTerms, DecisionTerms)


@dataclass(frozen=True, kw_only=True)
class Priced(Generic[Read, Chosen]):
    """The words of a plan with everything that follows from them for one table."""

    content: str
    """What the ledger keeps, and what a run is built from."""
    terms: Read
    """The same, read."""
    table: DeskTable
    account: Account
    """The one that owns the table's budget, as it was when the price was made."""
    mechanism: Chosen
    domain: Domain
    """The columns that the mechanism gets to see."""
    running: Cost
    """What the mechanism itself may spend."""
    measuring: ErrorMeasuring | None
    """How the finished release is measured, if it is."""
    cost: Cost
    """Both together."""
    amounts: Amounts
    """What the cost takes in each way of the account."""
    units: int
    """Parts of the account's total that this would take now; more than are left where it does not fit."""

    @property
    def id(self) -> str:
        return identity(self.content)


PricedRelease = Priced[ReleaseTerms, Mechanism]
PricedSession = Priced[SessionTerms, Interactive]
PricedDecision = Priced[DecisionTerms, Decision]


def price_release(content: str, table: DeskTable, account: Account) -> PricedRelease:
    """Refuses what cannot run on this table; a sentence says why."""
    terms = ReleaseTerms.read(content)
    most = most_records(table.domain, terms.copies)
    if terms.records is not None:
        check_count(terms.records, "records", most)
    check_rows(table.domain, terms.records, most)
    if table.domain.rules:
        asked = [columns for query in terms.queries for columns in asked_tables(query, table.domain)]
        LawfulTables.of(rules_of(table.domain)).check_asked(asked)
    check_count(terms.edition, "edition", MOST_EDITIONS)
    spending = replace(terms, budget=account.filters.spendable(terms.budget))
    domain = asked_columns(terms.queries, table.domain)
    mechanism, measuring = divided(spending, domain, table.unit)
    return _priced(content, terms, table, account, mechanism, domain, measuring)


def price_session(content: str, table: DeskTable, account: Account) -> PricedSession:
    """The same for a session; whether an earlier release fits is for whoever holds releases to check."""
    terms = SessionTerms.read(content)
    check_count(terms.edition, "edition", MOST_EDITIONS)
    columns = chosen_columns(terms.columns, table.domain)
    mechanism = replace(terms, budget=account.filters.spendable(terms.budget)).build()
    return _priced(content, terms, table, account, mechanism, narrowed(table.domain, columns))


def price_decision(content: str, table: DeskTable, account: Account) -> PricedDecision:
    """The same for a decision, which sees all columns of the schema."""
    terms = DecisionTerms.read(content)
    check_count(terms.edition, "edition", MOST_EDITIONS)
    decision = replace(terms, budget=account.filters.spendable(terms.budget)).build()
    return _priced(content, terms, table, account, decision, table.domain)


def check_paid(priced: Priced[Any, Any], entry: Entry) -> None:
    """Nothing runs that costs more than was paid for it, whoever wrote the entry and with whatever version."""
    paid = json.loads(entry.amounts)
    if any(_above(amount, paid.get(way, 0)) for way, amount in priced.amounts.items()):
        raise Refused("This plan costs more than was paid for it; plan a fresh edition.")


def most_records(domain: Domain, copies: int = 0) -> int:
    """Records of a release, and of each of its copies and their origins."""
    return MOST_VALUES // (len(domain) * (1 + 2 * copies))


def check_count(value: object, parameter: str, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise BadParameter(parameter, f"must be a whole number from 1 to {most:,}.")


def _priced(
    content: str,
    terms: Read,
    table: DeskTable,
    account: Account,
    mechanism: Chosen,
    domain: Domain,
    measuring: ErrorMeasuring | None = None,
) -> Priced[Read, Chosen]:
    mechanism.check(domain, table.unit)
    running = mechanism.cost(domain, table.unit)
    cost = running if measuring is None else running + measuring.cost(domain, table.unit)
    amounts, units = told(cost, account)
    return Priced(
        content=content,
        terms=terms,
        table=table,
        account=account,
        mechanism=mechanism,
        domain=domain,
        running=running,
        measuring=measuring,
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
