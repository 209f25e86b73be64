"""The groups of a SELECT and what asking about all of them takes, known before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.wording import amount
from core.formulas.cells import Among
from core.formulas.question import NOTHING, laid_out
from core.formulas.spans import Span
from core.formulas.sql.estimates import Known, estimate, most_questions
from core.formulas.sql.statement import Aggregate, Select
from core.formulas.syntax import Node, joined, leaves
from core.formulas.tokens import wrong
from core.kernel.query import Query
from core.schema.domain import Domain

MOST_QUESTIONS = 200
"""Questions of one statement: twenty seconds to a minute in a session that pads its answers."""
MOST_WEIGHTS = 2**25
"""Weights of all its questions together: some two seconds of laying out and packing on a small server."""
MOST_TOGETHER = 2**22
"""Weights of all groups of a table that is asked at once: 32 MB; larger ones are asked group by group."""


@dataclass(frozen=True)
class Group:
    """One line of the answer."""

    labels: tuple[str, ...]
    """The cell of each column to group by, in plain words."""
    condition: Node | None


def most_asked(select: Select, domain: Domain) -> int:
    """Questions that one group takes at most."""
    return sum(most_questions(aggregate, domain) for aggregate in select.aggregates)


def groups_of(select: Select, domain: Domain) -> list[Group]:
    """Every group that a possible record can be in: the schema is public, which groups are empty is not.

    Too much to ask is refused here.
    """
    columns, fulfilled = laid_out(select.condition, domain, select.groups)
    if not fulfilled.any():
        raise wrong(NOTHING)
    others = tuple(axis for axis, name in enumerate(columns) if name not in select.groups)
    # Axes in the order of the schema, then in the order in which the columns were written.
    kept = [name for name in columns if name in select.groups]
    found = np.asarray(fulfilled.any(axis=others)).transpose([kept.index(name) for name in select.groups])
    _check_work(select, domain, int(np.count_nonzero(found)))
    return [_group(select, domain, tuple(int(code) for code in codes)) for codes in np.argwhere(found)]


@dataclass(frozen=True)
class StatementTurns:
    """What a statement takes of a session that asks the groups of a table at once."""

    tables: list[list[Query]]
    single: int
    """Questions that are asked one by one, at most."""

    @property
    def most(self) -> int:
        return len(self.tables) + self.single


def turns_of(select: Select, groups: Sequence[Group], domain: Domain, *, tables: bool) -> StatementTurns:
    """Counts, sums and averages can be asked of all groups at once, because a row is in one of them.

    A quantile is found by questions that follow from earlier answers, so its questions are asked one by one; so is
    everything where the session does not ask `tables`.
    """
    if not tables:
        return StatementTurns([], len(groups) * most_asked(select, domain))
    single = sum(most_questions(each, domain) for each in select.aggregates if each.measure == "quantile")
    found: dict[tuple[object, ...], list[Query]] = {}
    for place, aggregate in enumerate(select.aggregates):
        if aggregate.measure == "quantile":
            continue
        for group in groups:
            for turn, query in enumerate(_questions(aggregate, group, domain)):
                found.setdefault((place, turn, query.columns, query.denominator), []).append(query)
    named = {tuple(query.words for query in table): table for table in found.values()}
    together = [table for table in named.values() if 1 < len(table) <= MOST_TOGETHER // table[0].weights.size]
    alone = sum(map(len, named.values())) - sum(map(len, together))
    return StatementTurns(together, len(groups) * single + alone)


def _questions(aggregate: Aggregate, group: Group, domain: Domain) -> list[Query]:
    """What a number that is not a quantile asks, whatever the answers are as long as there are rows."""
    asked: list[Query] = []

    def note(query: Query) -> Known:
        asked.append(query)
        return Known(1.0)

    estimate(aggregate, group.condition, domain, note)
    return asked


def _group(select: Select, domain: Domain, codes: tuple[int, ...]) -> Group:
    conditions = [_cell(domain, name, code) for name, code in zip(select.groups, codes, strict=True)]
    parts = conditions if select.condition is None else [select.condition, *conditions]
    labels = tuple(domain[name].label(code) for name, code in zip(select.groups, codes, strict=True))
    return Group(labels, joined("and", parts) if parts else None)


def _cell(domain: Domain, name: str, code: int) -> Node:
    attribute = domain[name]
    if attribute.ordered and code < attribute.regular:
        return Span(name, code, code + 1)
    return Among(name, (code,))


def _check_work(select: Select, domain: Domain, groups: int) -> None:
    questions = groups * most_asked(select, domain)
    if questions > MOST_QUESTIONS:
        each = f"{amount(groups)} groups" if groups > 1 else "one group"
        raise wrong(
            f"{each} would take up to {amount(questions)} questions, and at most {MOST_QUESTIONS} are asked at once; "
            "use fewer or coarser columns, or a narrower WHERE."
        )
    conditions = list(leaves(select.condition)) if select.condition else []
    named = {column for leaf in conditions for column in leaf.columns}
    valued = {aggregate.column for aggregate in select.aggregates if aggregate.column is not None}
    cells = domain.cells([name for name in domain.names if name in named | valued | {*select.groups}])
    # Joining a condition is a pass over bytes, an eighth of laying out weights.
    work = questions * cells * (8 + len(conditions)) // 8
    if work > MOST_WEIGHTS:
        raise wrong(
            f"its {amount(questions)} questions lay out {amount(work)} combinations, and at most "
            f"{amount(MOST_WEIGHTS)} are laid out at once; use fewer columns or ask in parts."
        )
