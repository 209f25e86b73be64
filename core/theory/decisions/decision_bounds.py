"""What is proven about private decisions: upper bounds by which they are told, lower bounds that nothing private beats.

Paper: T chapter 7 (thesis), its table 7.1 with the constants that its proofs give. n vertices, places or elements, m
sets or projects, epsilon of the whole decision unless a function says that of one choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def selection_loss(span: float, epsilon: float, candidates: int, beta: float) -> float:
    """The exponential mechanism's score is below the best by more than this with probability at most beta (T 39).

    `span` is how far one unit moves the difference of two scores.
    """
    return span / epsilon * math.log(candidates / beta)


def sum_of_noises(scale: float, terms: int, sums: int, beta: float) -> float:
    """None of so many weighted sums of Laplace noises, weights up to 1, exceeds this but with probability beta.

    nu sqrt(8 ln(2 N/beta)) with nu = scale max(sqrt(terms), sqrt(2 ln(2 N/beta))) (Chan, Shi and Song 2011, lemma 2.8).
    """
    many = math.log(sums) + math.log(2 / beta)
    return scale * max(math.sqrt(terms), math.sqrt(2 * many)) * math.sqrt(8 * many)


def k_median_steps(k: int, places: int) -> int:
    """Swaps of algorithm 2: 6 k ln n, rounded up."""
    return math.ceil(6 * k * math.log(max(2, places)))


def k_median_surplus(k: int, places: int, rate: float) -> float:
    """What algorithm 2 adds to 6 OPT: (24 k + 4) ln n/epsilon', epsilon' the rate of one choice (proof of T 46)."""
    return (24 * k + 4) * math.log(max(2, places)) / rate


def k_median_limit(diameter: float, k: int, places: int, epsilon: float) -> float:
    """Additive cost on some input that nothing private avoids: k/2 diameter ln(n/k)/(10 epsilon) (proof of T 47)."""
    return k / 2 * diameter * math.log(places / k) / (10 * epsilon)


def facility_location_limit(places: int) -> float:
    """Naming facilities 1-privately opens n/20 of them where sqrt(n) would do: a ratio of sqrt(n)/20 (T 48)."""
    return math.sqrt(places) / 20


def padded_cut_target(vertices: int, rate: float) -> float:
    """8 ln n/epsilon', what algorithm 1 raises the smallest cut to; epsilon' is the rate of its choices."""
    return 8 * math.log(vertices) / rate


def padding_helps(vertices: int, rate: float) -> bool:
    """Whether all extra edges together can raise the smallest cut that far: n - 1 >= 8 ln n/epsilon'."""
    return vertices - 1 >= padded_cut_target(vertices, rate)


def cut_limit(vertices: int, epsilon: float) -> float:
    """Additive cost of a cut on some graph that nothing private avoids: (1 - 1/sqrt n)(ln n/(3 epsilon) - 1) (T 42)."""
    return max(0.0, (1 - 1 / math.sqrt(vertices)) * (math.log(vertices) / (3 * epsilon) - 1))


def vertex_cover_ratio(mean_padding: float) -> float:
    """2 + 2 mean padding: the expected cost of algorithm 3, in smallest covers (T 50)."""
    return 2 + 2 * mean_padding


def vertex_cover_thesis(epsilon: float) -> float:
    """2 + 16/epsilon, at the padding as printed."""
    return 2 + 16 / epsilon


def hallucinated_ratio(padding: float, first: float) -> float:
    """2 (1 + w)(1 + 1/ln(1/(1 - alpha))): w hallucinated edges each in the first alpha of the steps (T 7.9)."""
    return 2 * (1 + padding) * (1 + 1 / math.log(1 / (1 - first)))


def weighted_vertex_cover_ratio(padding: float) -> float:
    """52 (1 + w): the expected cost of algorithm 4 with w hallucinated edges each, in smallest covers.

    What is drawn costs at most 4 (1 + w) OPT, 2 of it by rounding costs up to powers of 2 (T lemma 17), and what is put
    out in bulk 12 times as much again (T lemma 18).
    """
    return 52 * (1 + padding)


def weighted_vertex_cover_thesis(epsilon: float) -> float:
    """52 (1 + 1/epsilon): what the lemmas of T 7.5.3 give; table 7.1 prints 16 (1 + 1/epsilon)."""
    return 52 * (1 + 1 / epsilon)


def vertex_cover_limit(epsilon: float) -> float:
    """Ratio on some graph that no private orientation beats: 1/(2 e) (1/(2 epsilon) - 1) (T 51, with its constant)."""
    return max(1.0, (1 / (2 * epsilon) - 1) / (2 * math.e))


def set_cover_rate(epsilon: float, delta: float) -> float:
    """epsilon' = epsilon/(2 ln(e/delta)) of algorithms 5 and 6."""
    return epsilon / (2 * (1 + math.log(1 / delta)))


def greedy_delta(epsilon: float, rate: float) -> float:
    """(1 - exp(-epsilon')) exp(-(epsilon + epsilon')/(exp(epsilon') - 1)): the delta of algorithms 5 and 6, any rounds.

    Until an element is covered, a round that would cover it with chance p where it is not there does so with chance
    q = p exp(epsilon')/(1 + (exp(epsilon') - 1) p) where it is, and all else is alike. Let h = -ln(1 - p) pass in each
    round, and an event come at an exponential time, of rate 1 or exp(epsilon'): it comes within the round with chance p
    or p' = 1 - (1 - p)^exp(epsilon'), and q <= p', so that the round tells no more than whether it came. Hence all
    rounds tell no more than that time, and its two densities give this delta (T 55 and 58, with their constants).
    """
    return -math.expm1(-rate) * math.exp(-(epsilon + rate) / math.expm1(rate))


def set_cover_ratio(elements: int, sets: int, rate: float) -> float:
    """2 ln n + 1 + 6 ln m/epsilon': sets of algorithm 5, in smallest covers, with high probability (proof of T 54)."""
    return 2 * math.log(max(2, elements)) + 1 + 6 * math.log(max(2, sets)) / rate


def bucket_cover_ratio(sets: int, rate: float) -> float:
    """2 (1 + 3 ln m/epsilon'), epsilon' the rate of one choice: classes of powers of 2, one choice each (T 7.7.5).

    Under the base measure the n_j sets of class j that the best cover uses come first, and alone in the bucket, with
    probability m^(-3 n_j) at least; the exponential mechanism loses 2^-j ln(m^(3 n_j))/epsilon' to that. Rounding costs
    up doubles them at most.
    """
    return 2 * (1 + 3 * math.log(sets) / rate)


def bucket_cover_surplus(largest: int, classes: int, rate: float, beta: float) -> float:
    """What is added for the whole to hold with probability 1 - beta: W 2^-j ln(classes/beta)/epsilon' for all j, and
    again the rounding."""
    return 4 * largest * math.log(classes / beta) / rate


def set_cover_limit(sets: int, epsilon: float) -> float:
    """log2(m)/(4 epsilon): the expected ratio on some input that nothing private beats (proof of T 60)."""
    return max(1.0, math.log2(sets) / (4 * epsilon))


def projects_loss(rates: Sequence[float], projects: int, beta: float) -> float:
    """What private greedy loses beyond (1 - 1/e) OPT: k choices, each within ln(m k/beta)/its epsilon' (T 63)."""
    return sum(1 / rate for rate in rates) * math.log(projects * len(rates) / beta)


def truthful_gain(epsilon: float, delta: float) -> float:
    """2 epsilon + delta: what a lie gains at most where values are at most 1 and epsilon at most 1 (T 7.8.3)."""
    return 2 * epsilon + delta


def projects_limit(k: int, projects: int, epsilon: float) -> float:
    """k ln(m/k)/(20 epsilon): what nothing private avoids to lose on some input (T 66)."""
    return k * math.log(projects / k) / (20 * epsilon)


def learner_loss(span: int, epsilon: float, log_rules: float, beta: float) -> float:
    """(span/epsilon)(ln |C| + ln(1/beta)): mistakes beyond those of the best rule, but with probability beta."""
    return span / epsilon * (log_rules + math.log(1 / beta))
