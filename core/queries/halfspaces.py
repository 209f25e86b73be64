"""Halfspaces: rows on one side of a hyperplane through a few numeric columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Columns, Floats, IntArray
from core.base.errors import BadParameter, printable
from core.base.options import check_options, option
from core.base.wording import plural
from core.kernel.halfspaces import SCALE, Space
from core.kernel.query import Query
from core.queries.kit import checks
from core.queries.kit.dimensions import fat_of_predicates
from core.queries.kit.normals import MOST_BITS, discretised, net
from core.queries.kit.protocol import Dimension, Source, answers_of, worst_of
from core.queries.kit.sources import distinct
from core.schema.domain import Domain

MOST_COLUMNS = 255
MOST_DIRECTIONS = 2**16
MISSING = -(2**54)
"""Height of a missing coordinate: outweighs all others together, which stay below 2^53."""
BLOCK = 2**22
"""Products held at a time: 32 MB."""


@dataclass(frozen=True, kw_only=True)
class Halfspaces:
    """For a public net of normals y, the share of rows x with x . y >= 0 (B definition 6.1).

    Each column is scaled by its public bounds to -1..1, and points to the unit ball. A translated halfspace passes
    through the origin of a space with one more coordinate, which is 1 for every row (B section 6). Rows with a missing
    coordinate lie in no halfspace. Normals are b-discretised (B definition 6.2): integers of `bits` bits. The members
    are the net, which depends on nothing but these options; any other normal is asked through `at`.

    **Runtime** O(distinct points x directions) in blocked matrix products; the number of cells does not matter.
    """

    name: ClassVar[str] = "halfspaces"
    title: ClassVar[str] = "Halfspaces: rows on one side of a plane"

    columns: tuple[str, ...] = option(
        "columns",
        "Columns",
        default=(),
        only="numeric",
        low=1,
        high=MOST_COLUMNS,
        start=2,
        every=True,
        help="Columns of numbers, each scaled to -1..1 by its public bounds.",
    )
    """Empty means all columns of numbers."""
    directions: int = option(
        "whole",
        "Directions",
        default=256,
        low=1,
        high=MOST_DIRECTIONS,
        help="How many planes are asked about; they are public and depend on nothing but these settings.",
    )
    translated: bool = option(
        "flag", "Planes may miss the middle", default=True, help="Off: all pass through the middle of the ranges."
    )
    bits: int = option(
        "whole", "Bits", default=12, low=2, high=MOST_BITS, help="Bits of each coordinate of a plane's normal."
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def check(self, domain: Domain) -> None:
        columns = self.axes(domain)
        if not columns:
            raise BadParameter("columns", "the schema has no column of numbers.")
        if len(columns) > MOST_COLUMNS:
            raise BadParameter("columns", f"choose at most {MOST_COLUMNS} columns.")
        checks.numeric(domain, columns, "columns")
        found = len(net(len(columns), self.translated, self.directions, self.bits))
        if found < self.directions:
            raise BadParameter("directions", f"these columns and bits give {found:,} different ones; use that many.")

    def axes(self, domain: Domain) -> Columns:
        return self.columns or tuple(attribute.name for attribute in domain if attribute.numeric)

    def normals(self, domain: Domain) -> IntArray:
        """The net: one normal per line, its last coordinate the offset where translated."""
        self.check(domain)
        return net(len(self.axes(domain)), self.translated, self.directions, self.bits)

    def space(self, domain: Domain) -> Space:
        """Where rows lie: coordinates are whole multiples of 1/SCALE, so that the side of a point never depends on the
        order of a sum; divided by sqrt(dimensions) points lie in the unit ball."""
        columns = self.axes(domain)
        return Space(columns, tuple(_scaled(domain, column) for column in columns), self.translated)

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return (self.axes(domain),)

    def denominator(self, domain: Domain) -> int:
        return 1

    def log_size(self, domain: Domain) -> float:
        return math.log(self.directions)

    def vc(self, domain: Domain) -> Dimension:
        """All halfspaces through the origin of a D-dimensional space have dimension D; the net may reach less."""
        normals = self.normals(domain)
        most = min(normals.shape[1], int(math.log2(len(normals))))
        marks = self._witnesses(domain) @ normals.T >= 0
        low = next((size for size in range(most, 0, -1) if _patterns(marks[:size]) == 2**size), 0)
        why = f"halfspaces in {normals.shape[1]} dimensions shatter as many points and never more (B section 6)"
        return Dimension(low=low, high=most, why=f"{why}; a net of K at most log2 K; {low} were found shattered")

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        return fat_of_predicates(self.vc(domain), gamma)

    def totals(self, source: Source) -> NDArray[Any]:
        return self.totals_at(source, self.normals(source.domain))

    def totals_at(self, source: Source, normals: IntArray) -> NDArray[Any]:
        """Totals of any discretised normals, one per line; exact integers on integer counts."""
        found = np.zeros(len(normals))
        kind = "f"
        for lines, counts in self._blocks(source, len(normals)):
            found += counts.astype(np.float64) @ (lines @ normals.T.astype(np.float64) >= 0)
            kind = counts.dtype.kind
        return found.astype(np.int64) if kind in "iu" else found

    def member(self, domain: Domain, index: int) -> Query:
        normals = self.normals(domain)
        return self._query(domain, normals[checks.placed(index, len(normals))])

    def words(self, domain: Domain, index: int) -> str:
        """The sentence of a member, also where its table of weights would be too large to be made."""
        normals = self.normals(domain)
        return self._words(domain, normals[checks.placed(index, len(normals))])

    def at(self, domain: Domain, normal: Sequence[float]) -> Query:
        """The question for any normal, rounded to `bits` bits; the offset comes last where translated."""
        self.check(domain)
        wanted = np.asarray(normal, dtype=np.float64)
        if wanted.shape != (len(self.axes(domain)) + self.translated,) or not np.isfinite(wanted).all():
            raise BadParameter("normal", f"needs {len(self.axes(domain)) + self.translated} finite numbers.")
        if not wanted.any():
            raise BadParameter("normal", "must not be all zeros.")
        return self._query(domain, discretised(wanted, self.bits))

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        """Members of the net, each equally likely."""
        return tuple(self.member(domain, int(place)) for place in generator.integers(0, self.directions, count))

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        return worst_of(self, truth, estimate)

    def margin_error(self, truth: Source, estimate: Source, gamma: float) -> float:
        """Largest error over the net if true points near a plane may be counted either way (B definition 5.3).

        A point is near if |x^ . y| <= gamma for x^ = x/|x| and |y| = 1. The estimate's answer is compared with the
        nearest share that counts all far points of the halfspace and any number of the near ones.
        """
        if not (isinstance(gamma, int | float) and 0 <= gamma <= 1):
            raise BadParameter("gamma", "must be a margin from 0 to 1.")
        normals = self.normals(truth.domain).astype(np.float64)
        lengths = np.linalg.norm(normals, axis=1)
        sure, near, rows = np.zeros(len(normals)), np.zeros(len(normals)), float(truth.marginal(()).sum())
        for lines, counts in self._blocks(truth, len(normals)):
            products = lines @ normals.T
            close = np.abs(products) <= gamma * lengths * np.linalg.norm(lines, axis=1)[:, None]
            sure += counts.astype(np.float64) @ ((products >= 0) & ~close)
            near += counts.astype(np.float64) @ close
        low, high = (sure / rows, (sure + near) / rows) if rows > 0 else (sure, near)
        answers = self.answers(estimate)
        return float(np.maximum(np.maximum(low - answers, answers - high), 0).max(initial=0.0))

    def sentence(self, domain: Domain) -> str:
        where = "" if self.translated else " through the middle of the ranges"
        columns = " x ".join(printable(column) for column in self.axes(domain))
        return f"shares of rows on one side of {plural(self.directions, 'plane')}{where} in {columns}"

    def _blocks(self, source: Source, directions: int) -> Iterator[tuple[Floats, NDArray[Any]]]:
        """Points without missing values and their counts, a few at a time."""
        space = self.space(source.domain)
        codes, counts = distinct(source, space.columns)
        step = max(1, BLOCK // max(1, directions))
        # At least one block, be it empty: the type of its counts says whether answers are whole numbers.
        for start in range(0, max(len(codes), 1), step):
            lines, present = space.points(codes[start : start + step])
            yield lines[present].astype(np.float64), counts[start : start + step][present]

    def _query(self, domain: Domain, normal: IntArray) -> Query:
        space, columns = self.space(domain), self.axes(domain)
        checks.holdable(domain, columns, self.name)
        heights = np.zeros((1,) * len(columns), dtype=np.int64)
        for place, (column, scale) in enumerate(zip(columns, space.scales, strict=True)):
            along = np.full(domain[column].size, MISSING, dtype=np.int64)
            along[: len(scale)] = scale * normal[place]
            heights = heights + along.reshape([-1 if axis == place else 1 for axis in range(len(columns))])
        offset = int(normal[-1]) * SCALE if self.translated else 0
        weights = (heights + offset >= 0).astype(np.int64)
        return Query(columns=columns, weights=weights, words=self._words(domain, normal))

    def _words(self, domain: Domain, normal: IntArray) -> str:
        """The plane in the columns' own units, where the first column that matters counts once.

        A scaled coordinate is (x - middle) / half, so n . scaled + offset >= 0 reads sum (n / half) x >= sum (n / half)
        middle - offset.
        """
        terms, least = dict[str, float](), -float(normal[-1]) if self.translated else 0.0
        for name, along in zip(self.axes(domain), normal, strict=False):
            centers = domain[name].centers()[: domain[name].regular]
            half = (centers[-1] - centers[0]) / 2
            if along and half > 0:
                terms[name] = float(along / half)
                least += float(along / half) * float(centers[0] + half)
        if not terms:
            return f"share of rows with 0 at least {0.0 if least <= 0 else 1.0:g}"
        first = abs(next(iter(terms.values())))
        shown = [f"{_sign(value)} {_times(abs(value) / first)}{printable(name)}" for name, value in terms.items()]
        left = " ".join(shown).removeprefix("+ ")
        return f"share of rows with {left} at least {least / first:.4g}"

    def _witnesses(self, domain: Domain) -> IntArray:
        """As many independent points as there are dimensions: one far out on each axis, and one opposite the first."""
        columns = self.axes(domain)
        codes = np.array([[domain[column].regular // 2 for column in columns]] * (len(columns) + self.translated))
        for place, column in enumerate(columns):
            codes[place, place] = domain[column].regular - 1
        if self.translated:
            codes[-1, 0] = 0
        return self.space(domain).points(codes)[0]


def _scaled(domain: Domain, column: str) -> IntArray:
    """The middle of each ordinary cell between -SCALE and SCALE, from the public bounds."""
    middles = domain[column].centers()[: domain[column].regular]
    half = (middles[-1] - middles[0]) / 2
    if half <= 0:
        return np.zeros(len(middles), dtype=np.int64)
    return np.rint((middles - middles[0] - half) / half * SCALE).astype(np.int64)


def _sign(value: float) -> str:
    return "-" if value < 0 else "+"


def _times(factor: float) -> str:
    return "" if abs(factor - 1) < 5e-4 else f"{factor:.3g} × "


def _patterns(marks: NDArray[np.bool_]) -> int:
    return len(np.unique(marks.T, axis=0))
