"""Every mechanism with its usual options on every schema: it runs, or refuses and names one that does."""

from __future__ import annotations

import re

import numpy as np
import pytest

from core.base.errors import DeskError
from core.planning.rehearsal import rehearse
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.privacy_filter import Filters
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.kit.focus import asked_columns
from core.queries.marginals import Marginals
from core.registry import mechanism_from, offline
from core.schema.domain import Domain, Integers
from core.table.stand_in import StandIn
from tests.core.schemas import SCHEMAS, starting

CLINIC = Unit.id("patient_id", 3)
BUDGETS = (Budget(1, "1e-9"), Budget(1))
TOO_LARGE = re.compile("^(The schema has|The questions look at|These classes hold|A rectangle over)")
LONG, MOST_RUN = 1.0, 2**13
"""Seconds and combinations; what is expected to take longer is priced here and not run."""


def served(query, domain):
    try:
        query.check(domain)
    except DeskError:
        return False
    return True


@pytest.mark.crossing(keep=8)
@pytest.mark.parametrize(("budget", "rows"), list(zip(BUDGETS, (50, 1_000), strict=True)), ids=str)
@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("name", offline)
def test_every_class_is_rehearsed_or_refused_in_a_sentence(name, schema, budget, rows):
    domain = SCHEMAS[schema]
    for query in (query for query in starting(domain) if served(query, domain)):
        asked = asked_columns((query,), domain)
        made = mechanism_from(name, (query,), budget, {})
        try:
            made.check(asked, CLINIC)
        except DeskError as refused:
            check_advice(str(refused), query, asked, budget)
            continue
        filters = Filters.of(budget)
        assert filters.used(filters.amounts(made.cost(asked, CLINIC))) is not None
        assert made.expected(asked, CLINIC).mean >= 0
        if made.seconds(asked, CLINIC) < LONG and asked.cells() <= MOST_RUN:
            found = rehearse(made, StandIn.uniform(domain, CLINIC, rows, np.random.default_rng(0)), Noise())
            assert all(np.isfinite(score.largest) for score in found.scores)


def check_advice(sentence, query, asked, budget):
    """What is too large for one mechanism is not sent to another that is no better, nor to one that refuses too."""
    if TOO_LARGE.match(sentence):
        assert "'gaussian'" not in sentence and "'laplace'" not in sentence
        named = set(re.findall(r"use '([a-z-]+)'", sentence)) & offline.keys()
        assert named, sentence
        for other in named:
            mechanism_from(other, (query,), budget, {}).check(asked, CLINIC)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("columns", [20, 30, 40])
def test_something_is_offered_for_the_pairs_of_a_large_schema(columns, budget):
    domain, query = SCHEMAS[f"{columns} columns"], Marginals(order=2)
    mechanism_from("tree", (query,), budget, {}).check(domain, CLINIC)
    refused = 0
    for name in offline:
        try:
            mechanism_from(name, (query,), budget, {}).check(domain, CLINIC)
        except DeskError as problem:
            assert "'tree'" in str(problem) or not TOO_LARGE.match(str(problem))
            refused += 1
    assert refused > 5


@pytest.mark.parametrize("name", offline)
@pytest.mark.parametrize("high", [999, 9_999])
def test_halfspaces_over_a_fine_grid_are_rehearsed_or_refused_before_anything_is_paid(high, name):
    domain = Domain(tuple(Integers(name=name, low=0, high=high) for name in "xy"))
    query = Halfspaces(columns=("x", "y"), directions=16)
    made = mechanism_from(name, (query,), BUDGETS[0], {})
    try:
        made.check(domain, CLINIC)
    except DeskError as refused:
        if high == 999:
            check_advice(str(refused), query, domain, BUDGETS[0])
        return
    if name == "iterative-median" or high == 9_999:
        found = rehearse(made, StandIn.uniform(domain, CLINIC, 500, np.random.default_rng(0)), Noise())
        assert 0 <= found.scores[0].largest <= 1
