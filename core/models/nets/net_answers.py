"""What every database of a public net answers to a class of questions or to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Floats, IntArray
from core.kernel.query import Statistic
from core.kernel.tables import Marginal
from core.models.points import Points
from core.queries.kit.grouped import GroupedTable
from core.queries.kit.protocol import PerRecord, QueryClass
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
        each = (_member_tables(columns, domain, net) for columns in query.tables(domain))
        return np.hstack([table.astype(np.float64) for table in each])
    if isinstance(query, Lipschitz) and len(net) * domain.cells(query.columns) <= MOST_HELD:
        tables = _member_tables(query.columns, domain, net)
        return np.asarray(query.values(tables, domain), dtype=np.float64)
    places, inverse = np.unique(net, return_inverse=True)
    if places.size > len(net) or isinstance(query, Lipschitz):
        return np.stack([_totals(query, domain, member) for member in net])
    single = record_answers(query, domain, _codes(domain, places))
    lines = np.zeros((len(net), single.shape[1]))
    for column in inverse.reshape(net.shape).T:
        lines += single[column]
    return lines


def _member_tables(columns: Sequence[str], domain: Domain, net: IntArray) -> IntArray:
    """The table of every member over some columns, one line each."""
    cells, members = domain.cells(columns), len(net)
    lines = np.arange(members)[:, None] * cells + places_of(columns, domain, net)
    return np.bincount(lines.ravel(), minlength=members * cells).reshape(members, cells)


def places_of(columns: Sequence[str], domain: Domain, net: IntArray) -> IntArray:
    """Where each row of each member falls in the table over the columns."""
    if domain.cells() > net.size:
        return _places(columns, domain, net)
    # Fewer different records than rows: each is looked up.
    return _places(columns, domain, np.arange(domain.cells()))[net]


def _places(columns: Sequence[str], domain: Domain, records: IntArray) -> IntArray:
    codes, places = np.unravel_index(records, domain.shape()), np.zeros_like(records)
    for column in columns:
        places = places * domain[column].size + codes[domain.names.index(column)]
    return places


def record_answers(query: QueryClass, domain: Domain, codes: Codes) -> NDArray[Any]:
    """What a class answers of a database that is one single record, one line for each of these records."""
    if isinstance(query, PerRecord):
        return query.record_totals(domain, codes)
    return np.stack([query.totals(Points(domain, record[None], np.ones(1))) for record in codes])


def _totals(query: QueryClass, domain: Domain, places: IntArray) -> Floats:
    codes = _codes(domain, places)
    if isinstance(query, PerRecord):
        return query.record_totals(domain, codes).sum(axis=0).astype(np.float64)
    return np.asarray(query.totals(Points(domain, codes, np.ones(len(codes)))), dtype=np.float64)


def _codes(domain: Domain, places: IntArray) -> Codes:
    return np.stack(np.unravel_index(places, domain.shape()), axis=1).astype(np.int64)
