"""The public hypothesis that a session starts from: an earlier release, or nothing but the number of rows.

Everything here is public. A universe of up to `DENSE_CELLS` combinations is held cell by cell. A larger one is held as
weighted records, drawn from what is known (an earlier release, or the one-column tables of the opening) and mixed with
uniform ones, so that every combination of a few columns that may turn out to matter has records to carry it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.base.arrays import Codes, Floats
from core.mechanisms.kit.answers import NoisyAnswer
from core.models.dense import Dense
from core.models.points import Points
from core.models.signed import Signed
from core.queries.kit.protocol import Drawable, Source
from core.schema.domain import Domain

DENSE_CELLS = 2**22
"""32 MB of counts: a pass takes about 10 ms, and a session keeps one copy on disk."""
SUPPORT = 2**16
"""Records of a hypothesis over a larger universe."""
UNIFORM_RECORDS = 0.25
"""Part of those records that are drawn uniformly."""
UNIFORM_MASS = 0.001
"""Part of the rows spread evenly, so that no combination starts at 0, from which no factor could raise it."""


def weighted(
    domain: Domain, rows: float, earlier: Source | None, opening: Sequence[NoisyAnswer], generator: np.random.Generator
) -> Dense | Points:
    """A hypothesis that can be multiplied."""
    if domain.cells() > DENSE_CELLS:
        return _points(domain, rows, earlier, opening, generator)
    if earlier is None:
        return Dense.uniform(domain, rows)
    known = _table(earlier, domain)
    return Dense(domain, rows * ((1 - UNIFORM_MASS) * known + UNIFORM_MASS / domain.cells()))


def signed(domain: Domain, rows: float, earlier: Source) -> Signed:
    """A hypothesis that can be shifted."""
    return Signed(domain, rows * _table(earlier, domain), rows)


def database_rows(domain: Domain, earlier: Source, members: int, rows: int, generator: np.random.Generator) -> Codes:
    """Small databases drawn from an earlier release: the places of their rows, one database per line."""
    codes = _records(earlier, domain, members * rows, generator)
    places = np.ravel_multi_index(tuple(codes.T), domain.shape())
    return generator.permutation(places).reshape(members, rows).astype(np.int64)


def _points(
    domain: Domain, rows: float, earlier: Source | None, opening: Sequence[NoisyAnswer], generator: np.random.Generator
) -> Points:
    even = round(SUPPORT * UNIFORM_RECORDS)
    spread = np.stack([generator.integers(0, size, even) for size in domain.sizes], axis=1)
    known = (
        _drawn({answer.question.columns[0]: answer.value for answer in opening}, domain, SUPPORT - even, generator)
        if earlier is None
        else _records(earlier, domain, SUPPORT - even, generator)
    )
    mass = UNIFORM_MASS if opening or earlier is not None else UNIFORM_RECORDS
    weights = np.concatenate([np.full(len(known), rows * (1 - mass) / len(known)), np.full(even, rows * mass / even)])
    return Points(domain, np.concatenate([known, spread]).astype(np.int64), weights)


def _table(source: Source, domain: Domain) -> Floats:
    """The whole table of a public source, as shares without negative ones."""
    table = np.maximum(np.asarray(source.marginal(domain.names), dtype=np.float64), 0.0)
    total = table.sum()
    return table / total if total > 0 else np.full(domain.shape(), 1 / domain.cells())


def _records(source: Source, domain: Domain, rows: int, generator: np.random.Generator) -> Codes:
    """Records of a public source; one that cannot draw any is taken as independent columns."""
    if isinstance(source, Drawable):
        return np.asarray(source.sample(rows, generator), dtype=np.int64)
    return _drawn({name: source.marginal((name,)) for name in domain.names}, domain, rows, generator)


def _drawn(tables: dict[str, Any], domain: Domain, rows: int, generator: np.random.Generator) -> Codes:
    """Records with independent columns, each from its table of counts or, without one, uniform."""
    columns = []
    for name in domain.names:
        counts = np.maximum(np.asarray(tables.get(name, np.ones(domain[name].size)), dtype=np.float64), 0.0)
        counts = counts if counts.sum() > 0 else np.ones_like(counts)
        columns.append(generator.choice(counts.size, rows, p=counts / counts.sum()))
    return np.stack(columns, axis=1).astype(np.int64)
