"""What rules buy: total variation of `tree` with and without them, on tables that obey them, with paired draws.

Concerned are the pairs of columns that one rule names; elsewhere are all others. The table of the demo is the one that
the work was done with; the other two are generated and were looked at afterwards only. `theirs` is the same release
without rules. Both arms draw from the same streams of random words, in as far as they ask for the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from core.mechanisms.tree.tree import Tree
from core.privacy import samplers
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.rules.contradictions import check_rules
from core.rules.records import obeying
from core.rules.rule_set import RuleSet
from core.schema.domain import Categories, Domain, Integers
from core.table.stand_in import StandIn
from tests.bench.kit.line import Line
from tests.draws import NamedDraws
from tests.kernels import run as release_of

RUNS, DELTA = 6, 1e-9
EPSILONS = (0.1, 1, 10)
DEMO = Path(__file__).resolve().parents[2] / "data"
PEER = "without rules"


def run() -> Iterator[Line]:
    for name, table in {"demo": demo(), "hospital": hospital(), "register": register()}.items():
        for epsilon in EPSILONS:
            yield from _compared(f"{name} eps={epsilon:g}", table, Budget(epsilon, DELTA))


def demo() -> StandIn:
    domain = Domain.from_json((DEMO / "clinic_visits.schema.json").read_text(encoding="utf-8"))
    return StandIn.of(pd.read_csv(DEMO / "clinic_visits.csv", dtype=str), domain, Unit.row())


def hospital() -> StandIn:
    """25,000 stays: an order, an implication, two impossible combinations and a key."""
    generator, rows = np.random.default_rng(77), 25_000
    age = np.clip(generator.normal(52, 22, rows), 0, 99).astype(np.int64)
    ward = np.where(age < 16, 0, np.where(generator.random(rows) < 0.2, 1, generator.integers(2, 6, rows)))
    admitted = generator.integers(0, 40, rows)
    left = np.minimum(admitted + generator.geometric(0.25, rows) - 1, 39)
    surgery = (generator.random(rows) < np.where(ward % 2 == 1, 0.6, 0.15)).astype(np.int64)
    blood = np.where(surgery == 1, np.minimum(generator.geometric(0.5, rows) - 1, 5), 0)
    clinic = generator.choice(12, rows, p=np.arange(12, 0, -1) / 78)
    pregnant = ((ward == 1) & (age >= 16) & (age < 50) & (generator.random(rows) < 0.7)).astype(np.int64)
    columns = {"age": age // 5, "ward": ward, "admitted": admitted // 2, "left": left // 2, "surgery": surgery}
    columns |= {"blood": blood, "clinic": clinic, "city": np.array([0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3])[clinic]}
    columns |= {"pregnant": pregnant}
    sizes = {"age": 20, "ward": 6, "admitted": 20, "left": 20, "surgery": 2, "blood": 6, "clinic": 12, "city": 4}
    rules = (
        "never: pregnant = 1 and age >= 10",
        "never: pregnant = 1 and age < 3",
        "if surgery = 0 then blood = 0",
        "left >= admitted",
        "never: ward = 0 and age >= 4",
        "clinic -> city",
    )
    return _table(columns, sizes | {"pregnant": 2}, ("age", "admitted", "left", "blood"), rules)


def register() -> StandIn:
    """40,000 people: region x sex is publicly counted, a sum of two columns, and children do not work."""
    generator, rows = np.random.default_rng(78), 40_000
    region, sex = generator.choice(8, rows, p=np.arange(8, 0, -1) / 36), generator.integers(0, 2, rows)
    age = np.clip(generator.gamma(4, 10, rows) + 2 * (region % 3), 0, 95).astype(np.int64) // 6
    work = np.where(age < 3, 0, (generator.random(rows) < 0.3 + 0.3 * sex) + 1)
    wages = np.where(work == 2, np.minimum(generator.poisson(3 + region / 2, rows), 9), 0)
    benefits = np.where(work == 1, np.minimum(generator.poisson(2, rows), 4), 0)
    children = np.where(age < 3, 0, np.minimum(generator.poisson(1.2, rows), 5))
    columns = {"region": region, "sex": sex, "age": age, "work": work, "wages": wages, "benefits": benefits}
    columns |= {"total": wages + benefits, "children": children}
    sizes = {"region": 8, "sex": 2, "age": 16, "work": 3, "wages": 10, "benefits": 5, "total": 14, "children": 6}
    counts = np.zeros((8, 2), dtype=np.int64)
    np.add.at(counts, (region, sex), 1)
    rules = (
        *(f"count(region = {place} and sex = {other}) = {counts[place, other]}" for place, other in np.ndindex(8, 2)),
        "if age < 3 then work = 0 and children = 0",
        "if work = 1 then wages = 0",
        "if work = 2 then benefits = 0",
        "total = wages + benefits",
    )
    return _table(columns, sizes, ("age", "wages", "benefits", "total", "children"), rules)


def _table(
    columns: dict[str, np.ndarray], sizes: dict[str, int], ordered: tuple[str, ...], rules: tuple[str, ...]
) -> StandIn:
    attributes = (
        Integers(name=name, low=0, high=size - 1)
        if name in ordered
        else Categories(name=name, values=tuple(range(size)))
        for name, size in sizes.items()
    )
    domain = Domain(tuple(attributes), rules)
    return StandIn(domain, np.stack([columns[name] for name in sizes], axis=1).astype(np.int64), Unit.row())


def _compared(case: str, table: StandIn, budget: Budget) -> Iterator[Line]:
    rules = check_rules(table.domain)
    concerned = {pair for rule in rules.rules for pair in combinations(_in_order(rule.columns, table.domain), 2)}
    elsewhere = set(combinations(table.domain.names, 2)) - concerned
    plain = StandIn(table.domain.obeying(()), table.codes, table.unit)
    found: dict[str, list[tuple[float, float]]] = {}
    for place in range(RUNS):
        ours, theirs = _released(table, rules, budget, place), _released(plain, None, budget, place)
        for words, pairs in (("concerned", concerned), ("elsewhere", elsewhere)):
            for metric, each in (("tv2", 0), ("answers_tv2", 1)):
                errors = _error(table, ours[each], pairs), _error(table, theirs[each], pairs)
                found.setdefault(f"{metric} {words}", []).append(errors)
        found.setdefault("violations", []).append((float(sum(rules.broken(ours[0].codes).values())), np.nan))
        found.setdefault("cpu_s", []).append((ours[2], theirs[2]))
    for metric, figures in found.items():
        ours_mean, theirs_mean = np.array(figures).mean(axis=0).tolist()
        if metric == "violations":
            yield Line("rules", case, metric, ours_mean)
        else:
            yield Line("rules", case, metric, ours_mean, PEER, theirs_mean)


def _in_order(columns: tuple[str, ...], domain: Domain) -> tuple[str, ...]:
    return tuple(name for name in domain.names if name in columns)


def _released(table: StandIn, rules: RuleSet | None, budget: Budget, place: int) -> tuple[StandIn, object, float]:
    draws = NamedDraws()
    draws.begin(f"rules {place}")
    start = time.process_time()
    with mock.patch.object(samplers, "words", draws.words):
        model = release_of(Tree(queries=(Marginals(order=2),), budget=budget), table)
    generator = np.random.default_rng(place)
    codes = model.sample(len(table.codes), generator)
    codes = codes if rules is None else obeying(rules, codes, generator)
    return StandIn(table.domain, codes, table.unit), model, time.process_time() - start


def _error(table: StandIn, model: object, pairs: set[tuple[str, ...]]) -> float:
    """Mean total variation over these pairs, as a share of all rows."""
    rows = len(table.codes)
    return float(np.mean([np.abs(model.marginal(pair) - table.marginal(pair)).sum() / 2 / rows for pair in pairs]))  # type: ignore[attr-defined]
