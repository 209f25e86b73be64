"""Table 7.1 of the thesis as functions: what each problem of chapter 7 costs without privacy, with it, and at least.

Where the table hides a constant, its proof gives one. All are costs of a solution where the best one costs `opt`; for
public projects they are worth. Lower bounds hold for some instance, not for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.theory.decisions import decision_bounds as bounds

GREEDY = 1 - 1 / math.e


@dataclass(frozen=True, kw_only=True)
class DecisionSizes:
    """How large an instance is, and what is promised."""

    opt: float
    """What the best solution costs, or is worth."""
    n: int
    """Vertices, elements or places."""
    m: int = 2
    """Sets or projects."""
    k: int = 1
    """Sites or projects to choose."""
    epsilon: float = 1.0
    delta: float = 1e-6
    diameter: float = 1.0
    ratio: float = 1.0
    """The largest cost of a set over the smallest."""


CostOf = Callable[[DecisionSizes], float]


@dataclass(frozen=True, kw_only=True)
class DecisionBounds:
    """One line of the table."""

    without: CostOf
    """The best known in polynomial time without privacy."""
    efficient: CostOf
    """The thesis' algorithm in polynomial time; with a delta where it needs one."""
    possible: CostOf
    """With any amount of time."""
    least: CostOf
    """What nothing private beats on some instance."""
    worth: bool = False
    """Whether more is better."""


def set_cover_orders(size: DecisionSizes) -> float:
    """OPT + 2 (ln C(m, OPT) + 1)/epsilon in expectation: one choice among all orders (T 53)."""
    held = min(size.m, max(1, round(size.opt)))
    return size.opt + 2 * (math.log(math.comb(size.m, held)) + 1) / size.epsilon


def weighted_set_cover_ratio(elements: int, sets: int, ratio: float, rate: float) -> float:
    """4 (1 + log2 n)(1 + 2 T) + 2 for T = 2 (ln m + ln(1 + ln(n W)))/epsilon': algorithm 6 (T lemmas 20 to 22 and 57).

    Both lemmas fail with a chance of about exp(-epsilon' T) in each of some m + ln(n W) choices.
    """
    patience = 2 * (math.log(max(2, sets)) + math.log1p(math.log(max(2.0, elements * ratio)))) / rate
    return 4 * (1 + math.log2(max(2, elements))) * (1 + 2 * patience) + 2


def without_ratio(elements: int, sets: int, rate: float) -> float:
    """Algorithm 6 after the split of 7.7.3: costs within n^2 of one another, at twice the cost for each of two halves.

    Theorem 59, with the factor ln(1/delta) in epsilon' that table 7.1 leaves out.
    """
    return 4 * weighted_set_cover_ratio(elements, sets, float(elements) ** 2, rate)


def projects_rate(epsilon: float, delta: float, k: int) -> float:
    """The rate of one choice of algorithm 7: epsilon/(8 (e - 1) ln(2/delta)) or epsilon/k, whichever is larger."""
    return epsilon / min(float(k), 8 * (math.e - 1) * math.log(2 / delta) if delta else math.inf)


def _k_median_efficient(size: DecisionSizes) -> float:
    steps = bounds.k_median_steps(size.k, size.n)
    rate = size.epsilon / (2 * size.diameter * (steps + 1))
    return 6 * size.opt + bounds.k_median_surplus(size.k, size.n, rate)


def _k_median_possible(size: DecisionSizes) -> float:
    return size.opt + 2 * size.diameter * (math.log(math.comb(size.n, size.k)) + 1) / size.epsilon


def _cut_possible(size: DecisionSizes) -> float:
    """12 ln n/epsilon' of padding and 8 ln n/epsilon' of the choice, at epsilon' = epsilon/3 (T 40, and 41 mended)."""
    return size.opt + 60 * math.log(size.n) / size.epsilon


def _projects_efficient(size: DecisionSizes) -> float:
    rate = projects_rate(size.epsilon, size.delta, size.k)
    return GREEDY * size.opt - 4 * size.k * math.log(size.m) / rate


def _projects_possible(size: DecisionSizes) -> float:
    return size.opt - 2 * (math.log(math.comb(size.m, size.k)) + 1) / size.epsilon


TABLE: Mapping[str, DecisionBounds] = MappingProxyType(
    {
        "vertex-cover": DecisionBounds(
            without=lambda size: 2 * size.opt,
            efficient=lambda size: bounds.vertex_cover_thesis(size.epsilon) * size.opt,
            possible=lambda size: bounds.vertex_cover_thesis(size.epsilon) * size.opt,
            least=lambda size: bounds.vertex_cover_limit(size.epsilon) * size.opt,
        ),
        "weighted-vertex-cover": DecisionBounds(
            without=lambda size: 2 * size.opt,
            efficient=lambda size: bounds.weighted_vertex_cover_thesis(size.epsilon) * size.opt,
            possible=lambda size: bounds.weighted_vertex_cover_thesis(size.epsilon) * size.opt,
            least=lambda size: bounds.vertex_cover_limit(size.epsilon) * size.opt,
        ),
        "set-cover": DecisionBounds(
            without=lambda size: (math.log(size.n) + 1) * size.opt,
            efficient=lambda size: (
                bounds.set_cover_ratio(size.n, size.m, bounds.set_cover_rate(size.epsilon, size.delta)) * size.opt
            ),
            possible=set_cover_orders,
            least=lambda size: bounds.set_cover_limit(size.m, size.epsilon) * size.opt,
        ),
        "weighted-set-cover": DecisionBounds(
            without=lambda size: (math.log(size.n) + 1) * size.opt,
            efficient=lambda size: (
                without_ratio(size.n, size.m, bounds.set_cover_rate(size.epsilon, size.delta)) * size.opt
            ),
            possible=lambda size: (1 + 96 * math.log(size.m) / size.epsilon) * size.opt,
            least=lambda size: bounds.set_cover_limit(size.m, size.epsilon) * size.opt,
        ),
        "min-cut": DecisionBounds(
            without=lambda size: size.opt,
            efficient=_cut_possible,
            possible=_cut_possible,
            least=lambda size: size.opt + bounds.cut_limit(size.n, size.epsilon),
        ),
        "public-projects": DecisionBounds(
            without=lambda size: GREEDY * size.opt,
            efficient=_projects_efficient,
            possible=_projects_possible,
            least=lambda size: size.opt - bounds.projects_limit(size.k, size.m, size.epsilon),
            worth=True,
        ),
        "k-median": DecisionBounds(
            without=lambda size: 3 * size.opt,
            efficient=_k_median_efficient,
            possible=_k_median_possible,
            least=lambda size: size.opt + bounds.k_median_limit(size.diameter, size.k, size.n, size.epsilon),
        ),
    }
)
"""Every line of table 7.1."""


def hidden_share(k: int, n: int, people: int, epsilon: float) -> float:
    """What share of k hidden places out of n is found at most, where each has so many people (proofs of T 47 and 66).

    Moving one hidden place changes 2 `people` rows, so its chance to be chosen by at most exp(2 epsilon people); and k
    chosen places hit a random one with a chance of k/n.
    """
    return min(1.0, k / n * math.exp(2 * epsilon * people))


def hidden_vertex_cost(n: int, degree: int, epsilon: float) -> float:
    """The least mean cost of a cut where a random vertex of a regular graph lost all its edges (proof of T 42).

    Its graph must have no other cut below degree - 1 without them. Some cut must be as unlikely as 1/n on the whole
    graph, and `degree` edges make it at most exp(epsilon degree) times as likely.
    """
    return max(0.0, 1 - math.exp(epsilon * degree) / n) * (degree - 1)


def hidden_star_cost(n: int, epsilon: float) -> float:
    """The least mean number of vertices in use on a star around a random one of n (proof of T 51).

    On no edge at all a pair covers itself by either end with chance 1/2; n - 1 edges change that by a factor of at most
    exp(epsilon (n - 1)).
    """
    return max(1.0, (n - 1) / 2 * math.exp(-epsilon * (n - 1)))
