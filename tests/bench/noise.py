"""Exact noise and selection beside opendp: 10^5 draws, 10^5 candidates. Target: 8x on Laplace, 10x on spread scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from core.privacy.noise import Noise
from tests.bench.kit.line import Line, cpu_seconds
from tests.bench.kit.recorded import recorded

try:
    import opendp.prelude as opendp
except ImportError:
    opendp = None

COUNT = 100_000
LAPLACE_SCALES = (Fraction(1, 5), Fraction(1), Fraction(10), Fraction(1000), Fraction(1000, 7))
GAUSSIAN_SIGMAS = (1, 10, 1000, 100_000)


def run() -> Iterator[Line]:
    noise = Noise()
    zeros = np.zeros(COUNT, dtype=np.int64)
    for scale in LAPLACE_SCALES:
        ours = cpu_seconds(lambda scale=scale: noise.laplace(zeros, epsilon=1 / scale, sensitivity=1), repeats=9)
        yield _rate(f"laplace scale={float(scale):g}", ours, _peer_noise("laplace", float(scale)))
    for sigma in GAUSSIAN_SIGMAS:
        rho = Fraction(1, 2 * sigma**2)
        ours = cpu_seconds(lambda rho=rho: noise.gaussian(zeros, rho=rho, sensitivity_squared=1), repeats=9)
        yield _rate(f"gaussian sigma={sigma}", ours, _peer_noise("gaussian", float(sigma)))
    for name, scores in _score_cases().items():
        ours = cpu_seconds(lambda scores=scores: noise.select(scores, epsilon=Fraction(1), sensitivity=1), repeats=15)
        yield _line(f"select {name}", "ms", ours * 1e3, _peer_select(scores), lambda seconds: seconds * 1e3)


def _score_cases() -> dict[str, np.ndarray]:
    shuffled = np.random.default_rng(1).permutation(COUNT)
    return {
        "spread 0..99999": shuffled,
        "spread 0..999": shuffled // 100,
        "single peak": np.where(shuffled == 0, 1000, 0),
        "all equal": np.zeros(COUNT, dtype=np.int64),
    }


def _rate(case: str, ours: float, theirs: Callable[[], object] | None) -> Line:
    return _line(case, "per_s", COUNT / ours, theirs, lambda seconds: COUNT / seconds)


def _line(
    case: str, metric: str, ours: float, theirs: Callable[[], object] | None, figure: Callable[[float], float]
) -> Line:
    if theirs is None:
        known = recorded("noise", case, metric, "opendp")
        return Line("noise", case, metric, ours, "opendp", known, theirs_from="recorded")
    return Line("noise", case, metric, ours, "opendp", figure(cpu_seconds(theirs)))


def _peer_noise(kind: str, scale: float) -> Callable[[], object] | None:
    """The same noise by opendp, from a numpy array, the faster of the inputs it takes."""
    if opendp is None:
        return None
    opendp.enable_features("contrib")
    numbers = opendp.vector_domain(opendp.atom_domain(T="i64"))
    if kind == "laplace":
        measurement = opendp.m.make_laplace(numbers, opendp.l1_distance(T="i64"), scale)
    else:
        measurement = opendp.m.make_gaussian(numbers, opendp.l2_distance(T="i64"), scale)
    zeros = np.zeros(COUNT, dtype=np.int64)
    return lambda: measurement(zeros)


def _peer_select(scores: np.ndarray) -> Callable[[], object] | None:
    """The same selection by opendp: Gumbel noise of scale 2 sensitivity/epsilon, epsilon^2/8-zCDP."""
    if opendp is None:
        return None
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.linf_distance(T="i64")
    measurement = opendp.m.make_noisy_max(*space, opendp.zero_concentrated_divergence(), 2.0)
    return lambda: measurement(scores)
