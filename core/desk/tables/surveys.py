"""Discoveries on the books: a survey of raw columns is paid for like a release and kept like one.

The raw file is not kept, so a discovery that was interrupted cannot be resumed in the background; asked again with the
same file it is finished without paying. Its result is public.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.base.errors import BadParameter, Refused
from core.desk.tables.accounts import Accounts
from core.kernel.kernel import Kernel
from core.ledger.attempts import Attempt
from core.ledger.ledger import DISCOVERED, Account, Dataset, Ledger
from core.mechanisms.discovery.discovery import Discovery, Suggestion, SurveyKind
from core.planning.better_noise import budgets_within
from core.plans.canonical import canonical
from core.plans.discovery_terms import DISCOVERY, DiscoveryTerms
from core.plans.noise_choice import choose
from core.plans.pricing import told
from core.plans.run_once import run_once
from core.privacy.budget import Budget
from core.privacy.noise import Noise, NoiseSource
from core.privacy.privacy_filter import Filters
from core.privacy.unit import Unit
from core.schema.others import other_than
from core.table.spark.spark_source import SparkSource
from core.table.table import survey

NO_SCHEMA = "{}"
BINS = 100
FINE = 1_000
"""Ranges of more whole numbers start with BINS bins."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """Bought suggestions, and the share of the whole budget that they took."""

    suggestions: Mapping[str, Suggestion]
    share: float

    def lines(self, kinds: Mapping[str, str]) -> list[dict[str, Any]]:
        """What was found as settings of schema columns of these kinds; a column without a finding has no line."""
        found = ((name, suggestion) for name, suggestion in self.suggestions.items() if not suggestion.empty)
        return [{"name": name, **_settings(kinds[name], suggestion)} for name, suggestion in found]


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a discovery would cost and could find; known before anything is spent, and public."""

    share: float
    """Of the whole budget."""
    rows: Mapping[str, float]
    """Rows that a category, or a stretch of numbers, needs to stand out of the noise, per column."""


def price(columns: Mapping[str, SurveyKind], *, unit: Unit, total: Budget, part: Budget) -> Price:
    """The price as the first spend from the total budget."""
    if total.pure and not part.pure:
        raise BadParameter("delta", "must be 0, because the total budget has none.")
    filters = Filters.of(total)
    if filters.total == 0:
        raise BadParameter("epsilon", "is too small to pay for anything; try 1.")
    discovery = choose(
        _choices(columns, part),
        paid=lambda each: False,
        fits=lambda each: filters.used(filters.amounts(each.cost())) is not None,
        error=lambda each: _rows_needed(each, unit),
    )
    filled = filters.filled(filters.amounts(discovery.cost()))
    assert filled is not None, "a total without a delta has parts without one"
    return Price(share=float(filled), rows={name: discovery.threshold(name, unit) for name in columns})


def _choices(columns: Mapping[str, SurveyKind], part: Budget) -> list[Discovery]:
    """A survey with this budget, and with pure noise where it has a delta."""
    return [Discovery(columns=dict(columns), budget=budget) for budget in budgets_within(part)]


def _rows_needed(discovery: Discovery, unit: Unit) -> float:
    return sum(discovery.threshold(name, unit) for name in discovery.columns)


class Surveys:
    """Buys suggestions for the schema of data that is not at the desk yet, from the budget that data will have."""

    def __init__(self, ledger: Ledger, noise: Noise, accounts: Accounts) -> None:
        self._accounts = accounts
        self._ledger = ledger
        self._noise = noise

    def discover(
        self,
        source: Any,
        columns: Mapping[str, SurveyKind],
        *,
        unit: Unit,
        total: Budget,
        part: Budget,
        apart: str | None = None,
    ) -> Found:
        """Reserve, run, store, return; the same survey of the same data gives the same suggestions at no cost."""
        # Read once, as it will be kept: what is priced and what runs follow from this one choice.
        if isinstance(source, SparkSource):
            raise Refused("Bounds and categories cannot be bought for a table on Spark; declare them in the schema.")
        asked, budget = dict(columns), Budget.from_json(part.to_json())
        price(asked, unit=unit, total=total, part=budget)
        private, fingerprint = survey(source, list(asked), unit, self._noise, key=self._accounts.key)
        with self._accounts.intake():
            account = self._accounts.open(
                fingerprint=fingerprint, sketch=private.sketch, unit=unit, budget=total, apart=apart
            )
            dataset = self._dataset(account, fingerprint, unit)

        def terms_of(each: Discovery) -> DiscoveryTerms:
            return DiscoveryTerms(table=dataset.id, columns=each.columns, budget=each.budget)

        chosen = choose(
            _choices(asked, account.filters.spendable(budget)),
            paid=lambda each: self._ledger.entry(terms_of(each).id) is not None,
            fits=lambda each: told(each.cost(), account)[1] <= account.left,
            error=lambda each: _rows_needed(each, unit),
        )
        terms, (amounts, _) = terms_of(chosen), told(chosen.cost(), account)
        entry = self._ledger.reserve(
            plan_id=terms.id, dataset_id=dataset.id, plan_json=terms.content, amounts=amounts, account=account
        )

        def run(noise: NoiseSource, attempt: Attempt) -> bytes:
            found = chosen.run(Kernel(private, noise, chosen.cost()))
            return canonical({name: asdict(found[name]) for name in found}).encode()

        stored = run_once(self._ledger, terms.id, self._noise, run)
        return Found(
            suggestions={name: _suggestion(line) for name, line in json.loads(stored).items()},
            share=entry.units / account.total,
        )

    def _dataset(self, account: Account, fingerprint: str, unit: Unit) -> Dataset:
        """The place in the ledger where the discoveries of some data are written; it holds no table."""
        own = {} if fingerprint == account.fingerprint else {"source": fingerprint}
        details = canonical({"kind": DISCOVERY, "unit": unit.to_json(), **own})
        for dataset in self._ledger.datasets():
            if dataset.fingerprint == account.fingerprint and dataset.details_json == details:
                return dataset
        return self._ledger.add_dataset(
            id=f"{int(self._noise.keys(1)[0]):016x}",
            fingerprint=account.fingerprint,
            name=DISCOVERED,
            schema_json=NO_SCHEMA,
            details_json=details,
        )


def _settings(kind: str, found: Suggestion) -> dict[str, Any]:
    settings: dict[str, Any] = {"kind": kind, **({"missing": True} if found.missing else {})}
    if kind == "categories":
        return {**settings, "values": list(found.values), "other": other_than(found.values)}
    if kind == "dates":
        years = int(str(found.high)[:4]) - int(str(found.low)[:4]) + 1
        return {**settings, "low": found.low, "high": found.high, "bins": 12 * years if years <= 20 else years}
    low, high = float(found.low or 0), float(found.high or 0)
    if kind == "reals":
        return {**settings, "low": low, "high": high, "bins": BINS}
    low, high = math.floor(low), math.ceil(high)
    return {**settings, "low": low, "high": high, **({} if high - low <= FINE else {"bins": BINS})}


def _suggestion(line: Mapping[str, Any]) -> Suggestion:
    return Suggestion(**{**line, "values": tuple(line["values"])})
