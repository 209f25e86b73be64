"""Intervals of numbers that follow from answers: sums, averages and quantiles of a SELECT, and figures of decisions.

A number of a SELECT rests on several answers of one session and claims less for each of them, so every interval is
counted under the confidence that it states. The truth is the same statement answered with exact counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle

import numpy as np

from core.formulas.cells import Among
from core.formulas.sql.estimates import CountAnswer, Known, estimate
from core.formulas.sql.statement import Aggregate, AggregateKind
from core.kernel.query import Query
from core.kernel.remembered import Remembered
from core.mechanisms.kit.interactive import Interactive
from core.planning.decision_rehearsal import rehearse_decision
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import decisions, interactive_from
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.bench.kit.line import Line
from tests.kernels import kernel_for
from tests.privacy.kit.decisions import built

Tally = Counter[tuple[float, bool]]
"""How many intervals hold the truth and how many do not, by what they claim."""
QUESTIONS = 8
"""Of one session, which gives one number: those of one session would share some of their noise."""
SLACK = 1e-6
SESSIONS = ("online-laplace", "online-histogram")
BUDGETS = (Budget(1), Budget("0.1"), Budget(10))
ROWS = (30, 300, 3_000)


def lines(tables: Sequence[Cells], numbers: int, decided: int) -> Iterator[Line]:
    """What `python -m tests.bench coverage` prints of them."""
    for session in SESSIONS:
        yield from _lines(f"SELECT by {session}", selected(session, tables, numbers))
    yield from _lines("figures of decisions", figures(decided))


def _lines(name: str, tally: Tally) -> Iterator[Line]:
    for claimed in sorted({claimed for claimed, _ in tally}):
        inside, every = tally[claimed, True], tally[claimed, True] + tally[claimed, False]
        yield Line("coverage", f"{name} ({every:,})", "share_covered", inside / every, "claimed", claimed)


def selected(name: str, tables: Sequence[Cells], numbers: int) -> Tally:
    """Numbers of statements to short sessions on tables whose values are read as whole numbers."""
    tally, generator = Tally(), np.random.default_rng(3)
    options = {} if name == "online-histogram" else {"questions": QUESTIONS}
    settings = cycle([(numeric(table), budget) for table in tables for budget in BUDGETS])
    for place, (cells, budget) in zip(range(numbers), settings, strict=False):
        session = interactive_from(name, budget, options)
        tally += held(session, cells, *statement(cells.domain, place, generator))
    return tally


def numeric(cells: Cells) -> Cells:
    """The same table with columns of whole numbers, some of them below 0."""
    columns = [
        Integers(name=each.name, low=-1 if place % 2 else 0, high=each.size - 1 - place % 2)
        for place, each in enumerate(cells.domain)
    ]
    return Cells(Domain(tuple(columns)), cells.cells)


def statement(domain: Domain, place: int, generator: np.random.Generator) -> tuple[Aggregate, Among]:
    """A measure of a column among rows with some value of another one; every measure by turns."""
    one, other = generator.choice(len(domain), 2, replace=False)
    among = Among(domain.names[other], (int(generator.integers(domain.sizes[other])),))
    kinds: tuple[AggregateKind, ...] = ("sum", "average", "quantile", "count")
    measure, share = kinds[place % 4], float(generator.uniform(0.1, 0.9))
    return Aggregate(measure=measure, column=domain.names[one], share=share, title=measure), among


def held(session: Interactive, cells: Cells, aggregate: Aggregate, among: Among) -> Tally:
    """Whether the interval of one number holds what exact counts give."""
    kernel = kernel_for(session, Remembered(cells))
    state = session.open(kernel)

    def ask(question: Query) -> CountAnswer:
        nonlocal state
        state, reply = session.answer(state, question, kernel)
        return Known(reply.count, reply.margin)

    def exact(question: Query) -> CountAnswer:
        return Known(float(question.total(cells)) / question.denominator)

    truth = estimate(aggregate, among, cells.domain, exact).value
    found = estimate(aggregate, among, cells.domain, ask)
    if truth is None or found.low is None or found.high is None or found.confidence is None:
        return Tally()
    return Tally([(round(found.confidence, 6), found.low - SLACK <= truth <= found.high + SLACK)])


def figures(runs: int) -> Tally:
    """Costs that decisions measure, beside what the decisions really cost on invented tables."""
    tally = Tally()
    each = max(1, runs // (len(decisions) * len(BUDGETS) * len(ROWS)))
    for name in decisions:
        for budget in BUDGETS:
            for decision, domain in built(name, budget):
                for rows in ROWS:
                    for trial in rehearse_decision(decision, domain, Unit.row(), rows, each):
                        told = trial.decided.estimate
                        if told is not None:
                            tally[0.95, abs(told.value - trial.value) <= told.within + SLACK] += 1
    return tally
