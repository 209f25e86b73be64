"""How the budget of an online session is laid out: before anything is asked, from public facts only.

Parts of the budget go to the number of rows (where private), to an opening of one-column tables, to comparisons (sparse
vector) and to the numbers of hard answers. With delta = 0 the parts are epsilons, which add up. With delta > 0 they are
parts of rho: tables and numbers are Gaussian, and comparisons are pure events as large as their part of the divergence
at the account's order allows.

**Choosing how many answers may be hard.** More hard answers mean more noise in each comparison and each number. For a
wanted error alpha the plan takes the most hard answers with which an easy answer is still within alpha, 95 % of the
time: threshold + margin <= alpha rows, where the margin is the 95 % tail of both noises of a comparison, and the
threshold is so high that false alarms among all planned questions use up at most the share `FALSE_ALARMS` of the hard
answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from core.base.arrays import Columns
from core.base.bisection import largest_that_fits, narrowed
from core.kernel.asked import one_number
from core.kernel.compared import GRID, Gap
from core.kernel.noise_level import Additive, NoiseLevel
from core.kernel.sparse_vector import AboveThreshold, NumericSparse
from core.mechanisms.kit.comparing import margin
from core.mechanisms.kit.portions import Portion
from core.privacy.accounting import UNITS, units
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Pure
from core.privacy.spendable import mixed_order, mixed_rho_for
from core.privacy.unit import Unit
from core.schema.domain import Domain

ROWS_SHARE = Fraction(1, 50)
"""Part of the budget for the number of rows, where that is private."""
NUMBERS_SHARE, PURE_NUMBERS_SHARE = Fraction(1, 5), Fraction(1, 2)
"""Part of what is left for the numbers of hard answers, with delta above 0 and with delta 0; the rest pays for
comparisons. Measured on twelve yes/no columns of census data at epsilon 1 (1,500 conjunctions): of 0.1, 0.2, 0.4 and
0.6 the best is 0.1 to 0.2 with a delta, and 0.4 to 0.6 without, where the noise of numbers grows as fast as that of
comparisons. A part of 0 or 0.2 for the opening made no difference there, 0.4 was worse."""
FALSE_ALARMS = 0.25
"""Part of the hard answers that questions without any error may use up, on average over a whole session. On the same
data 0.25, 0.5 and 1 were equally good and 0.05 worse."""
CONFIDENCE = 0.95
MOST_HARD = 20_000
"""Hard answers of one session: each may be an event of its own in the account."""
GRAIN = 2**20


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Parts of the budget for everything but comparisons; comparisons get what is left."""

    opening: tuple[tuple[Columns, float], ...] = ()
    """Tables that are measured when a session opens, each with its part of the whole budget."""
    numbers: Fraction
    """Part for the numbers of hard answers, of what the opening and the number of rows leave."""
    synopsis: Fraction | None = None
    """Part of the whole budget for a release that a session answers from; it also tells the number of rows."""
    themes: tuple[int, Fraction] = (0, Fraction(0))
    """Tables that may be measured because they are asked about again and again, and the part of the budget of each."""


@dataclass(frozen=True, kw_only=True)
class OnlinePlan:
    """Events of one session, in the order of their first use."""

    rows: Additive | None
    opening: tuple[Portion, ...]
    sparse: NumericSparse
    synopsis: Gaussian | Pure | None = None
    """What a release at the opening may take, in parts of its own choice."""
    themes: tuple[Additive, ...] = ()
    """What tables that are asked about again and again are measured with."""

    @property
    def cost(self) -> Cost:
        first = Cost.of(event for event in (self.synopsis, self.rows) if event is not None)
        opened = Cost.of(portion.event for portion in self.opening)
        return first + opened + self.sparse.cost + Cost(self.themes)

    def with_hard(self, hard: int) -> OnlinePlan:
        """The same price for another number of hard answers, where it is that of one run and of Gaussian numbers.

        A run is one event whatever its cutoff is, and Gaussian noise is paid from a sum.
        """
        run, number = self.sparse.run, self.sparse.number
        assert self.sparse.runs == 1 and isinstance(number, Gaussian)
        again = AboveThreshold.of(run.epsilon, sensitivity=run.sensitivity, cutoff=hard)
        number = Gaussian(number.rho * self.sparse.most / hard)
        return replace(self, sparse=NumericSparse(run=again, runs=1, number=number))

    def threshold(self, questions: int) -> float:
        """In rows: the lowest threshold at which false alarms stay rare among so many planned questions."""
        return margin(self.sparse.run, min(0.5, FALSE_ALARMS * self.sparse.most / questions)) / GRID

    def margin(self) -> float:
        """In rows: the 95 % tail of both noises of a comparison."""
        return margin(self.sparse.run, 1 - CONFIDENCE) / GRID


def rows_event(budget: Budget, unit: Unit) -> Additive | None:
    """What the number of rows gets; nothing where it is public."""
    if unit.public_rows:
        return None
    return Laplace(budget.epsilon * ROWS_SHARE) if budget.pure else Gaussian(mixed_rho_for(budget) * ROWS_SHARE)


def number_tail(event: Additive, unit: Unit, probability: float) -> float:
    """In rows: a measured question of any denominator is further off with at most this probability.

    In steps of the grid, as plans compare prices: noise on whole rows would round every one of them up.
    """
    return NoiseLevel(event, one_number(unit, GRID)).tail(probability) / GRID


def opening_for(domain: Domain, share: float, budget: Budget) -> tuple[tuple[Columns, float], ...]:
    """Every one-column table, with parts of `share` by the rule that minimises the sum of their absolute errors."""
    if share == 0:
        return ()
    power = 1 / 2 if budget.pure else 2 / 3
    sizes = {(name,): domain[name].size ** power for name in domain.names}
    whole = sum(sizes.values())
    return tuple((columns, share * size / whole) for columns, size in sizes.items())


@lru_cache(maxsize=256)
def lay_out(budget: Budget, unit: Unit, shares: Shares, *, runs: int, cutoff: int) -> OnlinePlan:
    """The plan with so many runs of comparisons, each of which ends after so many hard answers."""
    opened = {columns: Fraction(max(1, round(GRAIN * share)), GRAIN) for columns, share in shares.opening}
    rows = Fraction(0) if unit.public_rows or shares.synopsis else ROWS_SHARE
    left = 1 - rows - (shares.synopsis or 0) - shares.themes[0] * shares.themes[1]
    left -= sum(opened.values(), Fraction(0))
    hard, numbers = runs * cutoff, left * shares.numbers
    whole = budget.epsilon if budget.pure else mixed_rho_for(budget)
    kind = Laplace if budget.pure else Gaussian
    each = whole * (left - numbers) / runs if budget.pure else pure_part(budget, left - numbers, runs)
    spread = Pure if budget.pure else Gaussian
    return OnlinePlan(
        synopsis=spread(whole * shares.synopsis) if shares.synopsis else None,
        rows=rows_event(budget, unit) if rows else None,
        opening=tuple(Portion(columns, kind(whole * share)) for columns, share in opened.items()),
        sparse=NumericSparse(
            run=AboveThreshold.of(each, sensitivity=Gap.sensitivity(unit), cutoff=cutoff),
            runs=runs,
            number=kind(whole * numbers / hard),
        ),
        themes=(kind(whole * shares.themes[1]),) * shares.themes[0],
    )


@lru_cache(maxsize=4096)
def pure_part(budget: Budget, part: Fraction, events: int) -> Fraction:
    """The largest epsilon of equal pure events that together cost this part of a budget with delta above 0."""
    order = mixed_order(budget)
    held = mixed_rho_for(budget) * part * order * UNITS
    low, high = Fraction(0), Fraction(1, 1024)

    def fits(epsilon: Fraction) -> bool:
        return events * units(Cost((Pure(epsilon),)), order) <= held

    while fits(high):
        low, high = high, 2 * high
    if low == 0:
        while not fits(high):
            high /= 2
        low, high = high, 2 * high
    return narrowed(fits, high, low, halvings=14)[1]


def largest(budget: Budget, unit: Unit, shares: Shares, *, allowed: float, questions: int) -> OnlinePlan | None:
    """The plan with the most hard answers whose easy answers stay within `allowed` rows; None if even one is too many.

    With delta = 0 there is one run. Otherwise cutoffs that are powers of two are tried: a run with a larger cutoff is
    better where single events would be so large that composition gains nothing.
    """
    best: OnlinePlan | None = None
    cutoff = 1
    while cutoff <= MOST_HARD:
        found = _most(budget, unit, shares, allowed, questions, cutoff)
        if found is None and cutoff > 1:
            break
        if found is not None and (best is None or found.sparse.most > best.sparse.most):
            best = found
        if budget.pure:
            break
        cutoff *= 2
    return best


def _most(budget: Budget, unit: Unit, shares: Shares, allowed: float, questions: int, cutoff: int) -> OnlinePlan | None:
    """The largest number of runs at this cutoff (with delta = 0: the largest cutoff of one run) within `allowed`."""

    def plan(size: int) -> OnlinePlan:
        runs, each = (1, size) if budget.pure else (size, cutoff)
        return lay_out(budget, unit, shares, runs=runs, cutoff=each)

    def fits(size: int) -> bool:
        tried = plan(size)
        return tried.threshold(questions) + tried.margin() <= allowed

    most = max(1, min(MOST_HARD, questions) // (1 if budget.pure else cutoff))
    size = largest_that_fits(fits, most=most)
    return plan(size) if size else None


def needed(budget: Budget, unit: Unit, shares: Shares, questions: int) -> float:
    """The smallest error in rows that a session with a single hard answer can promise."""
    plan = lay_out(budget, unit, shares, runs=1, cutoff=1)
    return plan.threshold(questions) + plan.margin()


def fixed(budget: Budget, unit: Unit, shares: Shares, hard: int) -> OnlinePlan:
    """The plan with a given number of hard answers: one run with delta = 0, as many runs as answers otherwise."""
    runs, cutoff = (1, hard) if budget.pure else (hard, 1)
    return lay_out(budget, unit, shares, runs=runs, cutoff=cutoff)
