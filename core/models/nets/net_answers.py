"""What every database of a public net answers to a class of questions or to one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.base.arrays import Floats, IntArray
from core.kernel.query import Statistic
from core.kernel.tables import Marginal
from core.models.points import Points
from core.queries.kit.grouped import GroupedTable
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import Learnt
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Domain

MOST_HELD = 2**24
"""Cells of all members' tables that are held at a time: 128 MB."""


def question_answers(question: Learnt, domain: Domain, net: IntArray) -> Floats:
    """The total of one question on every member."""
    if isinstance(question, Statistic):
        assert isinstance(question.query, Lipschitz)
        return class_answers(question.query, domain, net)[:, question.index]
    if isinstance(question, Marginal | GroupedTable):
        raise TypeError("a set of databases answers single questions only")
    return np.asarray(question.weights.ravel()[places_of(question.columns, domain, net)].sum(axis=1), dtype=np.float64)


def class_answers(query: QueryClass, domain: Domain, net: IntArray) -> Floats:
    """The totals of every member of a net, one line each: of tables all at once, else through single records where a
    class is linear and those are fewer than members."""
    if isinstance(query, Marginals):
        codes = np.unravel_index(net, domain.shape())
        each = (_member_tables(columns, domain, codes) for columns in query.tables(domain))
        return np.hstack([table.astype(np.float64) for table in each])
    if isinstance(query, Lipschitz) and len(net) * domain.cells(query.columns) <= MOST_HELD:
        tables = _member_tables(query.columns, domain, np.unravel_index(net, domain.shape()))
        return np.asarray(query.values(tables, domain), dtype=np.float64)
    places, inverse = np.unique(net, return_inverse=True)
    if places.size > len(net) or isinstance(query, Lipschitz):
        return np.stack([_totals(query, domain, member) for member in net])
    single = np.stack([_totals(query, domain, place[None]) for place in places])
    lines = np.zeros((len(net), single.shape[1]))
    for column in inverse.reshape(net.shape).T:
        lines += single[column]
    return lines


def _member_tables(columns: Sequence[str], domain: Domain, codes: Sequence[IntArray]) -> IntArray:
    """The table of every member over some columns, one line each; `codes` are those of all columns."""
    cells, members = domain.cells(columns), len(codes[0])
    lines = np.arange(members)[:, None] * cells + _places(columns, domain, codes)
    return np.bincount(lines.ravel(), minlength=members * cells).reshape(members, cells)


def places_of(columns: Sequence[str], domain: Domain, net: IntArray) -> IntArray:
    """Where each row of each member falls in the table over the columns."""
    return _places(columns, domain, np.unravel_index(net, domain.shape()))


def _places(columns: Sequence[str], domain: Domain, codes: Sequence[IntArray]) -> IntArray:
    places = np.zeros_like(codes[0])
    for column in columns:
        places = places * domain[column].size + codes[domain.names.index(column)]
    return places


def _totals(query: QueryClass, domain: Domain, places: IntArray) -> Floats:
    codes = np.stack(np.unravel_index(places, domain.shape()), axis=1).astype(np.int64)
    return np.asarray(query.totals(Points(domain, codes, np.ones(len(codes)))), dtype=np.float64)
