"""Invented tables that look like real ones over a schema: skewed columns that depend on each other.

**Privacy** Everything follows from the public schema, the unit and a public number of rows; no table is looked at.

**The law** A row belongs to one of a few hidden classes and has two hidden numbers (think of age and income). A column
without order has Zipf weights in a random order, and each class its own version of them; a column with an order has a
peak, and a row stands near it, moved by its class and by the hidden numbers; some are flat, as days and numbered places
are, some have a heavy tail, and some hold one value in most rows, as gains and losses do; and the more steps there are,
the likelier it is that most rows crowd in a few of them, as amounts of money do in a range that holds the largest. A
yes or no may be rare. How strongly a column follows what is hidden is drawn for each column. Some columns are derived
from another one, as diagnoses are from measurements.

**The kinds** Errors depend on a table most by how strongly its columns hang together, by whether they are flat, and by
how few combinations occur. So tables of several kinds come in turns (`KINDS`) and show how far an error depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from core.base.arrays import Codes, Floats, IntArray
from core.base.errors import BadParameter
from core.privacy.unit import Unit
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from core.table.stand_in import StandIn

CLASSES = 6
"""Hidden classes of a table."""
SKEW, FLAT_SKEW = (0.3, 1.6), 0.3
"""Exponents of Zipf weights, and the largest one of a flat column."""
RARE = 4.0
"""The largest logarithm of the odds of a yes or no: illnesses, faults and refusals are seldom seen."""
WIDE = 1_000
"""Columns without an order that have more values are drawn group by group."""
SPIKED = 0.15
"""Columns with an order that hold one value in most rows."""
FINE, CROWDED, MOST_CROWDED = 16, 0.25, 0.75
"""Steps up to which no column with an order is crowded, how much likelier it is with each doubling, and at most. On 76
mechanisms and sets of questions of seven tables of `tests/bench/kit/promise/tables.py` at epsilon 1, logarithms of seen
over told errors had .44 in the root of the mean square without it, .43 at .15 and .36 at .25 (`heavy-tailed` alone .43,
.30 and .19)."""
GROWN = (1.0, 2.0)
"""How far logarithms of the values of a crowded column spread: the largest is 20 to 500 times the middle one."""
MISSING = 0.05
"""The largest part of a column's rows that is missing or other."""
DERIVED, ASTRAY = 0.4, (0.05, 0.5)
"""Columns that are derived from another one, as a part of the strength, and the part of the rows that do not follow."""

ColumnSketch = Mapping[str, Sequence[float]]
"""Weights of the cells of some columns, as the curator draws them from public knowledge."""


@dataclass(frozen=True, kw_only=True)
class TableKind:
    """What sets one invented table apart from the next."""

    strength: float
    """How strongly the columns follow what is hidden: 0 is independent."""
    flat: float
    """The part of the columns that are flat rather than peaked or skewed."""
    copied: float
    """The part of the rows that are copies of a few of them, so that few combinations occur."""


KINDS = (
    TableKind(strength=0.35, flat=0.1, copied=0.0),
    TableKind(strength=0.25, flat=0.3, copied=0.6),
    TableKind(strength=0.9, flat=0.0, copied=0.0),
    TableKind(strength=0.7, flat=0.3, copied=0.0),
    TableKind(strength=0.5, flat=0.2, copied=0.95),
    TableKind(strength=0.15, flat=0.6, copied=0.0),
)
"""Of the first, second, ... table, and then again. The first alone, and the first two, came nearest to errors on the
tables of `tests/bench/kit/promise/tables.py`: where trials are few, they are on these."""
TEMPLATES, TAIL = 300, 1.2
"""The most rows that are copied, and the power of the tail of how often each is."""
CHANGED = 0.02
"""The part of the copied values that are not copied after all."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """What is hidden in the rows of one table."""

    classes: IntArray
    factors: Floats
    """Two numbers per row, of mean 0 and variance 1."""
    kind: TableKind

    @classmethod
    def draw(cls, rows: int, kind: TableKind, generator: np.random.Generator) -> Hidden:
        weights = generator.dirichlet(np.full(CLASSES, 2.0))
        return cls(generator.choice(CLASSES, rows, p=weights), generator.normal(size=(rows, 2)), kind)


def look_alike(
    domain: Domain,
    unit: Unit,
    rows: int,
    generator: np.random.Generator,
    *,
    place: int = 0,
    sketch: ColumnSketch | None = None,
) -> StandIn:
    """One invented table; `place` numbers several of them, of different kinds."""
    given = dict(sketch or {})
    for name in given:
        _check(domain[name], given[name])
    hidden = Hidden.draw(rows, KINDS[place % len(KINDS)], generator)
    columns: list[IntArray] = []
    for attribute in domain:
        codes = _column(attribute, hidden, given.get(attribute.name), generator)
        if columns and attribute.name not in given and generator.random() < DERIVED * hidden.kind.strength:
            source = int(generator.integers(len(columns)))
            codes = _derived(columns[source], domain.sizes[source], attribute, codes, generator)
        columns.append(codes)
    table = np.stack(columns, axis=1)
    # A sketch says how often each value occurs, which copies would change.
    return StandIn(domain, table if given else _copied(table, hidden.kind.copied, generator), unit)


def _check(attribute: Attribute, weights: Sequence[float]) -> None:
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.shape != (attribute.size,) or not np.isfinite(numbers).all() or (numbers < 0).any() or not numbers.any():
        raise BadParameter("sketch", f"'{attribute.name}' needs {attribute.size:,} weights of at least 0.")


def _column(
    attribute: Attribute, hidden: Hidden, weights: Sequence[float] | None, generator: np.random.Generator
) -> IntArray:
    score = _score(hidden, generator)
    if weights is not None:
        codes = _by_rank(score, np.asarray(weights, dtype=np.float64))
    elif attribute.ordered:
        codes = _ordered(score, attribute.regular, hidden.kind.flat, generator)
    else:
        codes = _unordered(hidden, attribute.regular, generator)
    if weights is None and attribute.size > attribute.regular:
        # Missing and other have cells of their own behind the regular ones.
        lost = generator.random(codes.size) < generator.random() * MISSING
        codes = np.where(lost, generator.integers(attribute.regular, attribute.size, codes.size), codes)
    return codes


def _derived(
    source: IntArray, size: int, attribute: Attribute, codes: IntArray, generator: np.random.Generator
) -> IntArray:
    """A coarse, fine or renamed version of another column, which some rows do not follow."""
    copied = source * attribute.regular // size
    if not attribute.ordered:
        copied = generator.permutation(attribute.regular)[copied]
    return np.where(generator.random(codes.size) < generator.uniform(*ASTRAY), codes, copied)


def _copied(table: Codes, part: float, generator: np.random.Generator) -> Codes:
    """Some rows as copies of a few, the first of which occur far more often than the last."""
    if not part:
        return table
    weights = generator.pareto(TAIL, min(TEMPLATES, len(table))) + 0.01
    template = generator.choice(weights.size, len(table), p=weights / weights.sum())
    taken = (generator.random(len(table)) < part)[:, None] & (generator.random(table.shape) >= CHANGED)
    return np.where(taken, table[template], table)


def _score(hidden: Hidden, generator: np.random.Generator) -> Floats:
    """A number per row, of mean 0 and variance about 1, that follows what is hidden as strongly as this column does."""
    follow = min(1.0, hidden.kind.strength * generator.uniform(0.5, 1.3))
    by_class = generator.normal(size=CLASSES)[hidden.classes]
    direction = generator.normal(size=3)
    direction /= np.linalg.norm(direction)
    told = direction[0] * by_class + hidden.factors @ direction[1:]
    return follow * told + math.sqrt(1 - follow**2) * generator.normal(size=told.size)


def _ordered(score: Floats, size: int, flat: float, generator: np.random.Generator) -> IntArray:
    """Flat; or a peak somewhere, with light or heavy tails; or crowded; or mostly one value beside a heavy tail."""
    kind = generator.random()
    crowded = generator.random() < min(CROWDED * math.log2(max(size / FINE, 1.0)), MOST_CROWDED)
    if generator.random() < flat:
        shape = ndtr(score)
    elif crowded:
        shape = _crowded(score, generator)
    elif kind < SPIKED and size > 2:
        threshold = generator.uniform(0.3, 1.7)
        tail = np.expm1(np.maximum(score - threshold, 0.0) * generator.uniform(0.5, 1.5))
        shape = tail / max(float(np.quantile(tail, 0.999)), 1e-9)
    elif kind < 0.4:
        grown = np.exp(score * generator.uniform(0.4, 1.0))
        shape = grown / (np.quantile(grown, 0.995) * generator.uniform(0.8, 1.5))
    else:
        shape = generator.uniform(0.3, 0.7) + score * generator.uniform(0.1, 0.35)
    return np.clip(np.floor(shape * size), 0, size - 1).astype(np.int64)


def _crowded(score: Floats, generator: np.random.Generator) -> Floats:
    """Most rows in the first few of many steps, as amounts of money are."""
    grown = np.exp(score * generator.uniform(*GROWN))
    return np.asarray(grown / np.quantile(grown, 0.999))


def _unordered(hidden: Hidden, size: int, generator: np.random.Generator) -> IntArray:
    """Zipf weights in a random order, and in each class a version of them."""
    follow = min(1.0, hidden.kind.strength * generator.uniform(0.5, 1.3))
    flat = generator.random() < hidden.kind.flat
    skew = generator.uniform(0.0, FLAT_SKEW) if flat else generator.uniform(*SKEW)
    base = np.log(np.arange(1, size + 1)) * -skew
    if size == 2 and not flat:
        base[1] = -generator.uniform(0.0, RARE)
    weights = base[generator.permutation(size)] + 2.0 * follow * generator.normal(size=(CLASSES, size))
    slopes = follow * generator.normal(size=(2, size))
    if size > WIDE:
        return _by_group(hidden, weights, slopes, generator)
    values = weights[hidden.classes] + hidden.factors @ slopes
    return np.asarray(np.argmax(values + generator.gumbel(size=values.shape), axis=1))


def _by_group(hidden: Hidden, weights: Floats, slopes: Floats, generator: np.random.Generator) -> IntArray:
    """The same with both factors rounded to -1, 0 or 1: rows of one group share their shares of all values.

    A number for every row and value, of which there may be 100,000, would take minutes and gigabytes.
    """
    rounded = np.column_stack([hidden.classes, np.clip(np.rint(hidden.factors), -1, 1)])
    groups, group_of = np.unique(rounded, axis=0, return_inverse=True)
    codes = np.empty(hidden.classes.size, dtype=np.int64)
    for group, (of_class, *factors) in enumerate(groups):
        values = weights[int(of_class)] + factors @ slopes
        ends = np.cumsum(np.exp(values - values.max()))
        members = group_of.ravel() == group
        drawn = np.searchsorted(ends, generator.random(int(members.sum())) * ends[-1], side="right")
        codes[members] = np.minimum(drawn, values.size - 1)
    return codes


def _by_rank(score: Floats, weights: Floats) -> IntArray:
    """The sketched weights, met as nearly as whole rows allow, with the rows in the order of their scores."""
    ends = np.cumsum(weights) / weights.sum()
    ranks = (np.argsort(np.argsort(score, kind="stable"), kind="stable") + 0.5) / score.size
    return np.minimum(np.searchsorted(ends, ranks), weights.size - 1).astype(np.int64)
