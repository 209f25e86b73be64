"""Epsilon and delta in words: how much a release may change what somebody believes about one person."""

from __future__ import annotations

import math

HARM = {
    "High: health, income, convictions": (0.1, 1e-9),
    "Medium: opinions, habits, school marks": (1.0, 1e-9),
    "Low: what a stranger could see": (3.0, 1e-9),
}
"""Budgets to start from, by the harm that knowing a person's row would do; the curator decides."""

LARGE_DELTA = 1e-5
"""One in a hundred thousand. A mechanism that publishes every row as it is with probability delta keeps (0, delta): a
table of 1/delta people then shows one of them. Most tables of people have fewer rows than this allows for."""
LARGE_EPSILON = 10.0
"""An even bet is won in all but one of 22,000 cases."""
SMALL_EPSILON = 1e-4
"""The noise of one count is then about as large as a town."""


def most_won(epsilon: float, delta: float = 0.0) -> float:
    """The share of even bets on one person that can be won.

    The best test tells the table with the person from the one without with a probability of success of at most
    (e^epsilon + delta) / (1 + e^epsilon) (Kairouz, Oh and Viswanath 2015, theorem 2.1, for equal chances).

    >>> most_won(0.0), round(most_won(1.0), 4)
    (0.5, 0.7311)
    """
    return min(1.0, (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon)))


def most_advantage(epsilon: float, delta: float = 0.0) -> float:
    """How much more often a fact about one person may seem true where it is than where it is not.

    Any event's probability differs by at most (e^epsilon - 1 + 2 delta)/(e^epsilon + 1) between neighbouring tables: of
    an attacker who says who is in the table, that is the largest difference of right and false alarms.

    >>> most_advantage(0.0), round(most_advantage(1.0), 4)
    (0.0, 0.4621)
    """
    return 2 * most_won(epsilon, delta) - 1


def believed(before: float, epsilon: float) -> float:
    """How sure of a fact about one person somebody is whose odds a release has changed by e^epsilon.

    A pure promise allows every change from e^-epsilon to e^epsilon and no more (T section 2.2, by Bayes' rule).

    >>> believed(0.5, 0.0), round(believed(0.5, 1.0), 4), round(believed(0.01, 1.0), 4)
    (0.5, 0.7311, 0.0267)
    """
    return before / (before + (1 - before) * math.exp(-epsilon))


def odds(epsilon: float, delta: float = 0.0, seen: str = "the release") -> str:
    """How often an even bet on one person can be won, as a sentence; never less than the truth.

    >>> odds(1.0)
    'Whoever bets on a person being in the table or not, with even odds before, wins at most 74 % of the bets after seeing the release.'
    """  # noqa: E501
    shown = percent_up(most_won(epsilon, delta))
    most = f"wins at most {shown} % of the bets" if shown <= 99 else "may win nearly every bet"
    return f"Whoever bets on a person being in the table or not, with even odds before, {most} after seeing {seen}."


def percent_up(share: float) -> int:
    """A share in whole per cent, rounded up: what is said to be the most is never less than the truth.

    >>> percent_up(0.7311), percent_up(0.5)
    (74, 50)
    """
    # What is a whole number but for rounding stays that number.
    return math.ceil(round(100 * share, 9))


def factor_up(epsilon: float) -> str:
    """e^epsilon, rounded up for the same reason: to three digits, fewer of what it is above 1, all before the point.

    >>> [factor_up(epsilon) for epsilon in (1.0, 0.2, 1e-9, 12.0, 50.0, 0.0)]
    ['2.72', '1.23', '1.000000001', '162,755', '5.19 × 10^21', '1']
    """
    if epsilon <= 0:
        return "1"
    power = epsilon / math.log(10)
    if power >= 6:
        whole = math.floor(power)
        digits = math.ceil(round(100 * 10 ** (power - whole), 6))
        return f"{digits / 100:g} × 10^{whole}" if digits < 1000 else f"1 × 10^{whole + 1}"
    factor = math.exp(epsilon)
    if factor >= 100:
        return f"{math.ceil(round(factor, 6)):,}"
    # Near 1 the excess is what says anything: a whole step of its first digit.
    places = 1 if factor >= 10 else 2 if factor >= 1.01 else -math.floor(math.log10(math.expm1(epsilon)))
    step = 10.0**-places
    return f"{1 + math.ceil(round(math.expm1(epsilon) / step, 6)) * step:.{places}f}"


def budget_warnings(epsilon: float, delta: float) -> tuple[str, ...]:
    """Why a budget promises little or buys nothing, in sentences.

    >>> budget_warnings(1.0, 1e-9)
    ()
    >>> budget_warnings(1e-9, 0.0)[0][:70]
    'Epsilon is 1e-9: noise of about 1,000,000,000 rows is added to a count'
    """
    return tuple(
        text
        for text in (_large_epsilon_warning(epsilon), _tiny_epsilon_warning(epsilon), large_delta_warning(delta))
        if text
    )


def _large_epsilon_warning(epsilon: float) -> str:
    if epsilon <= LARGE_EPSILON:
        return ""
    return (
        f"Epsilon is {epsilon:g}, above {LARGE_EPSILON:g}: whoever knows much already may learn nearly everything "
        "about one person from the release. 1 is common for statistics about people."
    )


def _tiny_epsilon_warning(epsilon: float) -> str:
    if epsilon >= SMALL_EPSILON:
        return ""
    rows = f"{1 / epsilon:,.0f}" if epsilon > 1e-15 else f"{1 / epsilon:.0e}"
    typed = f"{epsilon:g}".replace("e-0", "e-")
    return (
        f"Epsilon is {typed}: noise of about {rows} rows is added to a count, so the release of a smaller table is "
        "pure noise."
    )


def large_delta_warning(delta: float) -> str:
    """What a delta that is too large to mean much allows, as a sentence; nothing where it is small.

    >>> large_delta_warning(1e-9), large_delta_warning(0.01)[:63]
    ('', 'Delta is 0.01, so large that the promise means little: it would')
    """
    if delta <= LARGE_DELTA:
        return ""
    shown = "all rows" if delta > 0.6 else "every other row" if delta > 0.4 else f"one row in {round(1 / delta):,}"
    return (
        f"Delta is {delta:g}, so large that the promise means little: it would allow to publish about {shown} as it "
        "is. Well below one in the number of people, such as 1e-9, protects everybody."
    )
