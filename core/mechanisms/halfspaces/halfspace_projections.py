"""Halfspaces by random projections and a net of canonical halfspaces (B section 6): the paper's mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import BadParameter, Refused
from core.base.options import option
from core.base.wording import plural
from core.kernel.halfspaces import Inside
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.mechanisms.kit.portions import beside_total, count_level, measure_total, share_of, total_events
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import ROWS
from core.mechanisms.kit.settings import accuracy_option, failure_option, settle
from core.models.halfspace_median import Projections, weigh
from core.models.points import Points
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.kit.normals import discretised
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

MOST_COUNTS = 2**13
"""Noisy counts of one run: each gets an equal share of the budget, so more would drown any table in noise."""
FEW = 16
"""Projections of a practical run: more split the budget further than the median gains."""
SUPPORT = 4096
"""Public random records whose weights are fitted; twice as many fit hardly better (measured on 5 columns)."""
NET_BITS = 12
"""Bits of a canonical normal's coordinates; a projected sum of at most 2^11 of them stays exact."""


@dataclass(frozen=True)
class Parameters:
    """The sizes a run has, given or solved from the theorem."""

    dimension: int
    """Dimensions that points are projected to: k."""
    projections: int
    """How many: m."""
    net: int
    """Canonical halfspaces in each: |N|."""

    @property
    def counts(self) -> int:
        return self.projections * self.net


@dataclass(frozen=True, kw_only=True)
class HalfspaceProjections:
    """Project the points many times, count a net of canonical halfspaces in each projection, and answer by the median.

    The paper's letters: accuracy is epsilon with epsilon_1 = epsilon_2 = accuracy/2, and delta_1 = delta_2 = beta/2.

    **Privacy** the projections are public coin flips. m|N| counts of one halfspace each are asked, fixed in advance;
    each changes by at most unit.limit between neighbours and gets an equal share of the budget: discrete Laplace noise
    of scale unit.limit m|N|/epsilon, or Gaussian noise of an equal share of rho with delta > 0. The side of a point is
    decided in exact integers. A private number of rows costs 1/50 of the budget.

    **Accuracy** useful by definition 2: with probability 1 - beta every answer is within accuracy of the share of some
    halfspace that is gamma-close, if k >= 4 ln(8/epsilon_1)/((gamma/16)^2 - (gamma/16)^3), m >= 12 (ln(1/delta_1) +
    b d ln 2), the net is a (3/4) gamma-net, and the table has `required_rows`. Where k reaches the dimension of the
    points themselves nothing is projected, one net serves, and the margin error is at most accuracy/2. Otherwise the
    theorem's k, in the thousands, asks for more counts than any table can bear: smaller values work, but unproven.
    Records that fit all counts together, which the release also holds, measured 3 times more accurate than the median.

    **Runtime** O(distinct points x m|N|).

    Theorem: B theorem 6.5 (Blum, Ligett and Roth 2008), with Johnson and Lindenstrauss by random signs.
    """

    name: ClassVar[str] = "halfspace-projections"
    title: ClassVar[str] = "Halfspaces by random projections (the paper's)"
    known_as: ClassVar[tuple[str, ...]] = ("Johnson-Lindenstrauss projections",)
    prefer: ClassVar[str] = "Choose it to see the paper's theorem at work; fitted halfspace counts are more accurate."
    for_study: ClassVar[bool] = True

    queries: tuple[QueryClass, ...]
    budget: Budget
    accuracy: float = accuracy_option("Largest error of a halfspace, as a share of all rows, beyond its margin.")
    beta: float = failure_option()
    gamma: float = option(
        "real",
        "Margin",
        default=0.25,
        above=0.0,
        below=1.0,
        help="Points this near to the plane (as a sine) may be counted either way.",
    )
    dimension: int = option(
        "whole", "Dimensions", default=2, low=0, help="Dimensions to project to; 0 takes the theorem's."
    )
    projections: int = option("whole", "Projections", default=FEW, low=0, help="How many; 0 takes the theorem's.")
    net: int = option(
        "whole",
        "Net",
        default=0,
        low=0,
        help="Canonical halfspaces in each projection, roughly; 0 takes as many as the margin needs.",
    )

    def __post_init__(self) -> None:
        settle(self)
        if self.dimension == 1:
            raise BadParameter("dimension", "must be at least 2, or 0 for the theorem's value.")

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
            if not isinstance(query, Halfspaces):
                raise Refused(
                    f"'halfspace-projections' serves halfspaces, not '{query.name}'; use 'tree' for "
                    "tables, and 'interval-tree' for ranges."
                )
        if len({(query.axes(domain), query.translated) for query in self._halfspaces()}) > 1:
            raise Refused("'halfspace-projections' serves one set of columns at a time; release the others separately.")
        self.parameters(domain)

    def parameters(self, domain: Domain) -> Parameters:
        """k, m and |N| of a run; refuses sizes that cannot be counted, naming the nearest that can."""
        query = self._halfspaces()[0]
        own = len(query.axes(domain)) + query.translated
        dimension = min(self.dimension or self.theorem_dimension(), own)
        projections = 1 if dimension == own else self.projections or self.theorem_projections(domain)
        if projections > MOST_COUNTS // 2:
            raise BadParameter("projections", f"must be at most {MOST_COUNTS // 2:,}.")
        per_axis = self._per_axis(dimension)
        # In logarithms: the theorem's nets have more members than there are atoms.
        if math.log(2 * dimension * projections) + (dimension - 1) * math.log(per_axis) > math.log(MOST_COUNTS):
            raise Refused(self._too_many(dimension, projections, per_axis))
        return Parameters(dimension, projections, 2 * dimension * per_axis ** (dimension - 1))

    def theorem_dimension(self) -> int:
        scaled = self.gamma / 16
        return math.ceil(4 * math.log(16 / self.accuracy) / (scaled**2 - scaled**3))

    def theorem_projections(self, domain: Domain) -> int:
        query = self._halfspaces()[0]
        discrete = query.bits * (len(query.axes(domain)) + query.translated)
        return math.ceil(12 * (math.log(2 / self.beta) + math.log(2) * discrete))

    def required_rows(self, domain: Domain, unit: Unit) -> int:
        """Rows from which on no noisy count errs by more than accuracy/2, with probability 1 - beta/2."""
        asked = self.parameters(domain).counts
        level = count_level(self._event(domain, unit), unit)
        return math.ceil(2 * level.tail(self.beta / (2 * asked)) / self.accuracy)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        asked = [self._event(domain, unit)] * self.parameters(domain).counts
        return Cost.of([*asked, *total_events(self.budget, unit)])

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        level = count_level(self._event(domain, unit), unit)
        return Expected(
            mean=level.mean_error,
            worst=level.tail(0.05 / self.parameters(domain).counts),
            about=f"The noise in a halfspace, beside points within {self.gamma:g} of it and what projecting mixes up",
        )

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Measured on 2 to 5 columns and 384 to 1,536 counts."""
        asked = self.parameters(domain).counts
        points = min(domain.cells(self._halfspaces()[0].axes(domain)), ROWS)
        return 0.2 + 5e-4 * asked + 8e-10 * asked * points

    def run(self, kernel: Kernel, progress: Progress = silent) -> Projections:
        self.check(kernel.domain, kernel.unit)
        sizes, generator = self.parameters(kernel.domain), kernel.generator()
        space = self._halfspaces()[0].space(kernel.domain)
        own = space.dimensions
        matrices = signs(sizes, own, generator)
        canonical = cube_net(sizes.dimension, self._per_axis(sizes.dimension))
        normals = (matrices @ canonical.T).transpose(0, 2, 1).reshape(-1, own)
        rows = measure_total(kernel, self.budget)
        progress("Counting halfspaces", 0.1)
        counted = kernel.measure(Inside(space, normals), self._event(kernel.domain, kernel.unit))
        noisy = counted.values.astype(np.float64)
        progress("Fitting records", 0.6)
        points = self._fitted(kernel.domain, normals, noisy, rows, generator)
        return Projections(kernel.domain, matrices, canonical, noisy.reshape(sizes.projections, -1), points)

    def _fitted(
        self, domain: Domain, normals: IntArray, noisy: NDArray[np.float64], rows: float, generator: np.random.Generator
    ) -> Points:
        """Random records, uniform over the schema, weighted to fit the noisy counts."""
        query = self._halfspaces()[0]
        codes = np.stack([generator.integers(0, size, SUPPORT) for size in domain.sizes], axis=1)
        places = [domain.names.index(column) for column in query.axes(domain)]
        lines, present = query.space(domain).points(codes[:, places])
        # Products stay below 2^53, so floats are exact here and a hundred times faster than integers.
        within = (normals.astype(np.float64) @ lines.T.astype(np.float64) >= 0) & present
        shares = np.clip(noisy / rows, 0.0, 1.0) if rows > 0 else np.full(len(noisy), 0.5)
        return Points(domain, codes, weigh(within, shares) * rows)

    def _per_axis(self, dimension: int) -> int:
        """Points along each axis of a face of the net's cube."""
        if self.net:
            return max(1, int((self.net / (2 * dimension)) ** (1 / (dimension - 1)) + 1e-9))
        return math.ceil(math.sqrt(dimension - 1) / (0.75 * self.gamma))

    def _too_many(self, dimension: int, projections: int, per_axis: int) -> str:
        digits = math.log10(2 * dimension * projections) + (dimension - 1) * math.log10(per_axis)
        size = f"about 10^{digits:,.0f}" if digits > 9 else f"{10**digits:,.0f}"
        room = MOST_COUNTS // FEW
        fits = 1
        while fits < dimension and 2 * (fits + 1) * self._per_axis(fits + 1) ** fits <= room:
            fits += 1
        advice = f"dimension to {fits} and projections to {FEW}" if fits > 1 else f"net to {room} and dimension to 2"
        return (
            f"{plural(projections, 'projection')} to {dimension:,} dimensions at this margin need {size} noisy counts, "
            f"and '{self.name}' asks at most {MOST_COUNTS:,}; set {advice}."
        )

    def _halfspaces(self) -> list[Halfspaces]:
        return [query for query in self.queries if isinstance(query, Halfspaces)]

    def _event(self, domain: Domain, unit: Unit) -> Additive:
        """What one count costs."""
        share = beside_total(unit) / self.parameters(domain).counts
        return share_of(self.budget, share)


def signs(sizes: Parameters, own: int, generator: np.random.Generator) -> IntArray:
    """Random sign matrices (B definition 6.3; a side does not depend on 1/sqrt(k)), or the identity if k is enough."""
    if sizes.dimension == own:
        return np.eye(own, dtype=np.int64)[None]
    return 2 * generator.integers(0, 2, (sizes.projections, own, sizes.dimension)) - 1


def cube_net(dimension: int, per_axis: int) -> IntArray:
    """Normals on the faces of a cube, `per_axis` along each axis of a face.

    A point of a face is within sqrt(dimension - 1)/per_axis of one of them, and carrying both to the unit sphere inside
    the cube brings them nearer: the sine of the angle is at most that, and sqrt(dimension - 1)/(0.75 gamma) along
    each axis make a (3/4) gamma-net.
    """
    steps = (2 * np.arange(per_axis) + 1) / per_axis - 1
    normals = [
        np.insert(np.array(inner, dtype=np.float64), axis, side)
        for axis in range(dimension)
        for side in (-1.0, 1.0)
        for inner in product(steps, repeat=dimension - 1)
    ]
    return discretised(np.array(normals), NET_BITS)
