"""Combining rules: one estimate and its interval from a release and its synthetic copies.

A copy is what the same mechanism makes of its origin, a table that the private one may be, with noise as large as
before. So copies are off their origins as the release is off the table, and the mean squared distance of an estimate
from a copy to that from its origin says how large the error of the released estimate is: noise, what a fit to noisy
numbers bends, and dependences that were not measured.

With q the released estimate, q_1 .. q_m those of the copies, o_1 .. o_m those of their origins and
T = (1/m) sum of (q_i - o_i)^2:

    about the table    q +- t_m sqrt(T)
    about the people   q +- t_f sqrt(T + v),  f = m ((T + v) / T)^2

where v is the usual variance of the estimate, as if the records were a random sample of people, and t_f the quantile
of Student's distribution. It is Rubin's sum of a variance within and one between data sets (1987), with distances from
origins in place of those from the copies' mean, which has the noise twice: the parametric bootstrap for private
estimates of Ferrando, Wang and Sheldon (2022). The variance within is added, not taken away as for copies from a
posterior distribution (Raghunathan, Reiter and Rubin 2003; Räisä and others 2023): a copy is made from as many records
as the table has rows, drawn so evenly that sampling moves it little.

What the mechanism did not measure enters with a size that was found privately and a direction that is drawn; where a
single strong dependence was missed, an interval is too short: of correlations and regression coefficients that hung on
such a one, between four and ten of ten lay inside their 95 %, of group means about nine
(`tests/bench/README.md` has the figures).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit


@dataclass(frozen=True, eq=False)
class Combined:
    """One number or an array of numbers, with standard errors and intervals of the same shape."""

    estimate: NDArray[np.float64]
    error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


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
    between = ((drawn - sources) ** 2).mean(axis=0)
    whole = between + within
    share = np.divide(between, whole, out=np.ones_like(whole), where=whole > 0)
    with np.errstate(divide="ignore"):
        freedom = len(drawn) / share**2
    error = np.sqrt(whole)
    margin = stdtrit(np.minimum(freedom, 1e9), (1 + level) / 2) * error
    return Combined(estimate, error, estimate - margin, estimate + margin)
