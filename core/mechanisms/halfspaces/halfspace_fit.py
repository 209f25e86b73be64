"""Halfspaces by noisy counts of random planes, and records of a private normal shape that are weighted to fit them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import Refused
from core.base.options import option
from core.kernel.halfspaces import SCALE, Moments, Wedges
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, NoiseLevel
from core.kernel.tables import TOTAL
from core.mechanisms.halfspaces.moments import PointShape, moments, noise_in_rows, shape_of
from core.mechanisms.halfspaces.wedges import features, grouped
from core.mechanisms.kit.portions import TOTAL_SHARE, share_of
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import ROWS
from core.mechanisms.kit.settings import settle
from core.models.fitting.halfspace_weights import fitted
from core.models.points import Points
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.kit.normals import discretised
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

MOST_PLANES = 2**12
SUPPORT = 2**13
"""Records whose weights are fitted; twice as many fit hardly better."""
MISSING_POINTS = 64
"""Records that stand for rows with a missing coordinate."""
SHAPE_SHARE = Fraction(3, 10)
"""Part of the budget that goes to mean and covariance: on 10 and 20 columns 5-15 % better than a fifth."""
MOST_NOISE = 500
"""Rows of noise in a sum of products, per square root of columns, up to which products are asked beside squares; what
they tell is lost beyond that, and the budget serves the mean better (measured on 5, 10 and 20 columns)."""
STRAY = 1 / 8
"""Part of the records with one coordinate drawn from its whole range, so that the fit can reach outliers."""
REACH = 2.5
"""Planes farther than this many standard deviations from the mean are not asked: nearly all rows lie on one side."""
TOGETHER = 3
"""Planes of a group: three have the least noise each (`wedges.py`)."""
TOO_NOISY = 10**9
"""Rows of noise per halfspace that no table outweighs."""


@dataclass(frozen=True, kw_only=True)
class HalfspaceFit:
    """Learn the rough shape of the points, count both sides of many random planes, and weight records to fit them.

    **Privacy** the planes are public coin flips, drawn from what was already released. Three things are asked: (1) 3/10
    of the budget buys the sums of coordinates and of their products (`halfspaces.Moments`: their change there);
    (2) the rest goes in equal shares to groups of planes (`halfspaces.Wedges`: a unit moves what is asked of a group by
    at most unit.l1 in L1 and L2): with delta = 0 all planes are one group in two dimensions, three by three in more,
    with discrete Laplace noise of scale unit.l1 groups/epsilon'; with delta > 0 one by one, with Gaussian noise of
    variance unit.l1^2 K/(2 rho'); (3) where rows are private and coordinates may be missing, 1/50 of the budget buys
    the number of rows. Fitting is post-processing.

    **Accuracy** K counted halfspaces err by 0.47 K unit.l1/epsilon' (standard deviation) with delta = 0, a third less
    than Laplace noise on each and, for added or removed rows, a third of counting the inside alone; by
    sqrt(K/2) unit.l1/epsilon' in two dimensions. Others are as good as the fitted records: measured mean error on
    n = 50,000 rows and epsilon 1 about 0.0005 on 2 columns, 0.005 on 5, 0.008 on 10 and 0.016 on 20, with delta = 1e-6
    0.0007, 0.004, 0.006 and 0.010: less than a quarter of the paper's mechanism.

    **Runtime** O(distinct points x K + K^2 (points fitted + K)): about a second.

    Theorem: Laplace (Dwork et al. 2006) and Gaussian mechanism (Canonne, Kamath and Steinke 2020), composed; the fit is
    maximum entropy with squared slack (Dudík, Phillips and Schapire 2007), its slack by empirical Bayes. No worst-case
    bound on other planes is claimed.
    """

    name: ClassVar[str] = "halfspace-fit"
    title: ClassVar[str] = "Halfspaces by fitted records"
    known_as: ClassVar[tuple[str, ...]] = ("maximum entropy",)
    prefer: ClassVar[str] = "Choose it for halfspaces: many times more accurate than random projections."
    for_study: ClassVar[bool] = False

    queries: tuple[QueryClass, ...]
    budget: Budget
    planes: int = option(
        "whole",
        "Planes",
        default=0,
        low=0,
        high=MOST_PLANES,
        help="How many random planes are counted; 0 takes a number that suits the budget.",
    )

    def __post_init__(self) -> None:
        settle(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
            if not isinstance(query, Halfspaces):
                raise Refused(
                    f"'halfspace-fit' serves halfspaces, not '{query.name}'; use 'tree' for tables, "
                    "and 'interval-tree' for ranges."
                )
        if len({(query.axes(domain), query.translated) for query in self._halfspaces()}) > 1:
            raise Refused("'halfspace-fit' serves one set of columns at a time; release the others separately.")
        if self._noise(domain, unit).sigma > TOO_NOISY:
            raise Refused(
                f"The noise in a halfspace would exceed {TOO_NOISY:,} rows, more than any table outweighs; "
                "use a larger epsilon."
            )

    def count(self, domain: Domain) -> int:
        """How many planes are asked.

        Laplace noise grows with K, so K stays small where epsilon is: near 768 sqrt(epsilon), in two dimensions near
        256 sqrt(epsilon). Gaussian noise grows with sqrt(K), and K planes tell as much together whatever K is: as many
        as are quick to fit. On one column without an offset there are two.
        """
        columns, dimensions = len(self._halfspaces()[0].axes(domain)), self._dimensions(domain)
        if dimensions == 1:
            return 2
        if not self.budget.pure:
            return self.planes or min(1024, 256 * columns)
        suits = round(256 * math.sqrt(self.budget.epsilon))
        if dimensions == 2:
            return self.planes or min(max(suits, 16), 512)
        return TOGETHER * max(1, self.planes // TOGETHER if self.planes else min(max(suits, 24), 320))

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        groups = [self._group_event(domain, unit)] * self._groups(domain)
        return Cost.of([share_of(self.budget, SHAPE_SHARE), *groups, *self._total(domain, unit)])

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        level, wide, planes = self._noise(domain, unit), self._like(domain).width, self.count(domain)
        sigma, rare = level.sigma * math.sqrt(wide), 0.05 / planes
        return Expected(
            mean=sigma / math.sqrt(2 * math.pi),
            worst=max(level.tail(rare / wide), sigma * math.sqrt(2 * math.log(2 / rare))) / 2,
            about="The noise in one counted halfspace, before the fit averages it out",
        )

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Measured on 2 to 20 columns and 64 to 1,024 planes."""
        planes = self.count(domain)
        points = min(domain.cells(self._halfspaces()[0].axes(domain)), ROWS)
        return 0.5 + 2e-9 * planes * points + 1.5e-6 * planes**2

    def run(self, kernel: Kernel, progress: Progress = silent) -> Points:
        self.check(kernel.domain, kernel.unit)
        domain, query, generator = kernel.domain, self._halfspaces()[0], kernel.generator()
        progress("Measuring mean and spread", 0.0)
        whole = not _can_miss(domain, query)
        asked = self._moments(domain, kernel.unit)
        measured = kernel.measure(asked, share_of(self.budget, SHAPE_SHARE))
        shape = shape_of(asked, measured, kernel.public_rows if whole else None)
        total = shape.rows if whole else float(kernel.public_rows or 0)
        for event in self._total(domain, kernel.unit):
            total = float(kernel.measure(TOTAL, event).values)
        progress("Counting halfspaces", 0.2)
        wedges = grouped(query.space(domain), self._planes(domain, shape, generator), self._groups(domain))
        counted = kernel.measure(wedges, self._group_event(domain, kernel.unit))
        progress("Fitting records", 0.6)
        codes = support(domain, query, shape, generator)
        lines = wedges.space.points(codes[:, _places(domain, query)])[0]
        shares = np.clip(counted.values.ravel() / shape.rows, -1, 1)
        weights = fitted(features(wedges, lines), shares, counted.sigma / shape.rows) * shape.rows
        return _with_missing(Points(domain, codes, weights), query, max(total - shape.rows, 0.0), generator)

    def _planes(self, domain: Domain, shape: PointShape, generator: np.random.Generator) -> IntArray:
        """Public coins: evenly spread over the half circle in two dimensions, else at random."""
        query, planes = self._halfspaces()[0], self.count(domain)
        if len(shape.mean) == self._dimensions(domain) == 2:
            angles = math.pi * (np.arange(planes) + generator.random()) / planes
            return discretised(np.column_stack([np.cos(angles), np.sin(angles)]), query.bits)
        return planes_like(query, planes, shape, generator)

    def _dimensions(self, domain: Domain) -> int:
        query = self._halfspaces()[0]
        return len(query.axes(domain)) + query.translated

    def _groups(self, domain: Domain) -> int:
        """All planes together in two dimensions, three by three in more; one by one with Gaussian noise."""
        planes, dimensions = self.count(domain), self._dimensions(domain)
        if not self.budget.pure or dimensions == 1:
            return planes
        return 1 if dimensions == 2 else planes // TOGETHER

    def _halfspaces(self) -> list[Halfspaces]:
        return [query for query in self.queries if isinstance(query, Halfspaces)]

    def _moments(self, domain: Domain, unit: Unit) -> Moments:
        """Products of different columns are asked only where they are not lost in noise."""
        space, event = self._halfspaces()[0].space(domain), share_of(self.budget, SHAPE_SHARE)
        full = moments(space, event, cross=True)
        few = noise_in_rows(NoiseLevel.of(full, event, unit)) > MOST_NOISE * math.sqrt(len(space.columns))
        return moments(space, event, cross=False) if few else full

    def _group_event(self, domain: Domain, unit: Unit) -> Additive:
        """What one group of planes costs."""
        share = 1 - SHAPE_SHARE - TOTAL_SHARE * self._asks_total(domain, unit)
        return share_of(self.budget, share / self._groups(domain))

    def _noise(self, domain: Domain, unit: Unit) -> NoiseLevel:
        """How large the noise of a difference is: it depends on the number of planes and groups, not on the planes."""
        return NoiseLevel.of(self._like(domain), self._group_event(domain, unit), unit)

    def _like(self, domain: Domain) -> Wedges:
        """As many groups of as many planes as a run counts, all planes alike."""
        space, planes = self._halfspaces()[0].space(domain), self.count(domain)
        return grouped(space, np.ones((planes, space.dimensions), dtype=np.int64), self._groups(domain))

    def _total(self, domain: Domain, unit: Unit) -> tuple[Additive, ...]:
        return (share_of(self.budget, TOTAL_SHARE),) if self._asks_total(domain, unit) else ()

    def _asks_total(self, domain: Domain, unit: Unit) -> bool:
        return not unit.public_rows and _can_miss(domain, self._halfspaces()[0])


def planes_like(query: Halfspaces, count: int, shape: PointShape, generator: np.random.Generator) -> IntArray:
    """Random planes like those of the class; offsets only where the released shape leaves rows on both sides."""
    if len(shape.mean) == 1 and not query.translated:
        return np.array([[1], [-1]], dtype=np.int64)
    directions = generator.normal(size=(count, len(shape.mean)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if not query.translated:
        return discretised(directions, query.bits)
    middle, reach = -directions @ shape.mean, REACH * shape.spread(directions)
    low, high = np.clip(middle - reach, -1.0, 0.9), np.clip(middle + reach, -0.9, 1.0)
    offsets = low + (high - low) * generator.random(count)
    return discretised(np.column_stack([directions, offsets]), query.bits)


def support(domain: Domain, query: Halfspaces, shape: PointShape, generator: np.random.Generator) -> IntArray:
    """Records of the released shape on the columns of the class, uniform on all others.

    They come in pairs opposite to each other around the mean, and have exactly the released covariance before they are
    rounded to codes: what random draws would add is larger than the noise.
    """
    half = generator.normal(size=(max(SUPPORT // 2, 1), len(shape.mean)))
    if len(half) > 2 * half.shape[1]:
        half = half @ np.linalg.inv(np.linalg.cholesky(half.T @ half / len(half))).T
    heights = shape.mean + np.concatenate([half, -half]) @ shape.factor.T
    codes = np.stack([generator.integers(0, size, len(heights)) for size in domain.sizes], axis=1).astype(np.int64)
    space = query.space(domain)
    for axis, place in enumerate(_places(domain, query)):
        scale = space.scales[axis]
        near = np.searchsorted((scale[1:] + scale[:-1]) / (2 * SCALE), heights[:, axis])
        stray = generator.random(len(codes)) < STRAY / len(shape.mean)
        codes[:, place] = np.where(stray, generator.integers(0, len(scale), len(codes)), near)
    return codes


def _with_missing(points: Points, query: Halfspaces, rows: float, generator: np.random.Generator) -> Points:
    """The points and, where coordinates may be missing, records for the rows that lack one."""
    domain = points.domain
    if not _can_miss(domain, query):
        return points
    codes = np.stack([generator.integers(0, size, MISSING_POINTS) for size in domain.sizes], axis=1).astype(np.int64)
    for place in _places(domain, query):
        if domain[domain.names[place]].missing:
            codes[:, place] = domain.sizes[place] - 1
    weights = np.full(MISSING_POINTS, rows / MISSING_POINTS)
    return Points(domain, np.concatenate([points.codes, codes]), np.concatenate([points.weights, weights]))


def _places(domain: Domain, query: Halfspaces) -> list[int]:
    return [domain.names.index(column) for column in query.axes(domain)]


def _can_miss(domain: Domain, query: Halfspaces) -> bool:
    return any(domain[column].size > domain[column].regular for column in query.axes(domain))
