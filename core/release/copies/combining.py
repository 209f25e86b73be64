"""Combining rules: one estimate and its interval from a release and its synthetic copies.

An origin is a table that the private one may be, after all that is released: what was not measured of it is drawn. A
copy is what the same mechanism makes of its origin, with noise as large as before. So the error of a released estimate
is seen from two sides. A copy is off its origin as the release is off the table: by noise, and by what a fit to noisy
numbers bends. And origins are as far from the release as the table may be: by dependences that were not measured, and
by what measured ones say without that bend. Both can show the same error, so the larger one counts; but where both say
on average that the mechanism pulls to one side, it pulled origins after the table, and the two add up.

With q the released estimate, q_1 .. q_m those of the copies, o_1 .. o_m those of their origins, b and c the means of
q_i - o_i and of q - o_i, T = (1/m) sum of max((q_i - o_i)^2, (q - o_i)^2), to which 2 b c + min(b^2, c^2) is added
where b c > 0:

    about the table    q +- t_m sqrt(T)
    about the people   q +- t_f sqrt(T + v),  f = m ((T + v) / T)^2

where v is the usual variance of the estimate, as if the records were a random sample of people, and t_f the quantile
of Student's distribution. It is Rubin's sum of a variance within and one between data sets (1987), with distances from
origins in place of those from the copies' mean, which has the noise twice: the parametric bootstrap for private
estimates of Ferrando, Wang and Sheldon (2022), from plausible tables in place of the fitted one. The variance within is
added, not taken away as for copies from a posterior distribution (Raghunathan, Reiter and Rubin 2003; Räisä and others
2023): a copy is made from as many records as the table has rows, drawn so evenly that sampling moves it little.

How often 95 % intervals from 10 copies of `tree` held the truth about the table, one release each at epsilon .1, 1 and
10, on five generated tables of laws that no setting was chosen on: correlations .97, 1.00 and 1.00, group means 1.00,
.99 and 1.00, coefficients .96, 1.00 and 1.00; on nine that were looked at between rounds (eight at 1, five at 10) .93,
1.00 and 1.00, 1.00, .99 and 1.00, .87, .97 and 1.00. Most that lay outside was of tables whose columns hang together
closely, or so small that noise hid single columns. `LIMIT` says so with every result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

LIMIT = (
    "Outside more often than the level says can lie what three or more columns have in common beyond their pairs, "
    "coefficients of a regression on columns that hang together closely, and, where little budget was spent, a strong "
    "dependence that was not measured and whatever involves a column of which noise left but one value."
)
"""One sentence that goes with every interval."""


@dataclass(frozen=True, eq=False)
class Combined:
    """One number or an array of numbers, with standard errors and intervals of the same shape."""

    estimate: NDArray[np.float64]
    error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    limit: str = LIMIT
    """What the intervals do not hold."""


def combine(
    released: ArrayLike, copies: ArrayLike, origins: ArrayLike, *, variance: ArrayLike = 0.0, level: float = 0.95
) -> Combined:
    """The released estimate with an interval; `copies` and `origins` have one more axis in front, the copies.

    `variance` is 0 for intervals about the table, else the usual variance of the estimate, for intervals about the
    people whom the table is a sample of.

    >>> found = combine(10.0, [9.0, 11.0, 10.0, 12.0], [10.0, 10.0, 10.0, 10.0])
    >>> round(float(found.error), 3), round(float(found.low), 2), round(float(found.high), 2)
    (1.225, 6.6, 13.4)
    """
    estimate, drawn = np.asarray(released, dtype=np.float64), np.asarray(copies, dtype=np.float64)
    sources = np.asarray(origins, dtype=np.float64)
    within = np.broadcast_to(np.asarray(variance, dtype=np.float64), estimate.shape)
    if drawn.ndim != estimate.ndim + 1 or drawn.shape[1:] != estimate.shape or not len(drawn):
        raise ValueError("copies must hold one estimate of the shape of the released one for each copy.")
    if sources.shape != drawn.shape:
        raise ValueError("origins must hold one estimate for each copy, of the same shape.")
    if not 0 < level < 1:
        raise ValueError("level must lie between 0 and 1, for example 0.95.")
    again, open_ = drawn - sources, estimate - sources
    between = np.maximum(again**2, open_**2).mean(axis=0)
    pulled, left = again.mean(axis=0), open_.mean(axis=0)
    between += np.where(pulled * left > 0, 2 * pulled * left + np.minimum(pulled**2, left**2), 0.0)
    whole = between + within
    share = np.divide(between, whole, out=np.ones_like(whole), where=whole > 0)
    with np.errstate(divide="ignore"):
        freedom = len(drawn) / share**2
    error = np.sqrt(whole)
    margin = stdtrit(np.minimum(freedom, 1e9), (1 + level) / 2) * error
    return Combined(estimate, error, estimate - margin, estimate + margin)
