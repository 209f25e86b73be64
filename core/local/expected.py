"""What a randomiser is likely to be off by, before anybody is asked: trials on public shapes.

No formula says how far simplex projection, shrinking or smoothing bring an estimate, so they are run: reports are drawn
as counts from shapes that stand for nobody (a few frequent answers and many rare ones, all alike, a bell, a skewed
bell, heaps at round numbers), estimated as real ones would be, and compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.base.arrays import Floats
from core.local.estimation.answers import from_hierarchy, settle
from core.local.estimation.curve import fit, reported
from core.local.kinds import randomiser_from
from core.local.question import LocalQuestion, WantedFigure
from core.local.randomisers.hierarchy import Hierarchy
from core.local.randomisers.piecewise import Piecewise
from core.local.randomisers.protocol import Randomiser, Support, spread
from core.local.randomisers.square_wave import SquareWave
from core.privacy.noise import Noise
from core.schema.domain import Domain

METRICS: dict[WantedFigure, str] = {
    "shares": "share of people counted under a wrong answer (total variation)",
    "ranges": "share of people by which a range is off, on average",
    "mean": "error of the mean, as a share of the column's width",
}
TRIED_STRENGTH = 10.0
"""Of smoothing, in trials; for real reports they choose it themselves."""
RANGES = 200
TRIALS = 6
"""For each shape; one for columns of more than `LONG` answers, whose errors hardly vary."""
LONG = 10_000


@dataclass(frozen=True)
class RandomiserTrial:
    """How one randomiser fares for one question."""

    randomiser: str
    error: float


def compare(question: LocalQuestion, domain: Domain, ratio: Fraction, people: float) -> tuple[RandomiserTrial, ...]:
    """Every suitable randomiser with its expected error, the best one first.

    Randomisers that count support are estimated alike, so among them the formula of the variance decides: the best one
    is tried, and the others are off by as much more as their noise is larger.
    """
    found, supports = [], list[tuple[Randomiser, Support]]()
    for name in question.offered(domain):
        randomiser = randomiser_from(name, question.values(domain), ratio)
        if isinstance(randomiser, Support):
            supports.append((randomiser, randomiser))
        else:
            found.append(RandomiserTrial(name, expected_error(question, domain, randomiser, people)))
    if supports:
        public = shapes(question, domain)
        noise = [sum(spread(one.variance(shape, 1)) for shape in public) for _, one in supports]
        error = expected_error(question, domain, supports[int(np.argmin(noise))][0], people)
        found += [
            RandomiserTrial(one.name, min(1.0, error * own / min(noise)))
            for (one, _), own in zip(supports, noise, strict=True)
        ]
    return tuple(sorted(found, key=lambda trial: trial.error))


def expected_error(question: LocalQuestion, domain: Domain, randomiser: Randomiser, people: float) -> float:
    """The mean error over public shapes, by the metric of what is wanted."""
    count = max(1, int(people))
    if isinstance(randomiser, Piecewise):
        return float(np.sqrt(2 / np.pi)) * randomiser.expected(count)
    generator = Noise().generator()
    errors = []
    trials = TRIALS if question.values(domain) <= LONG else 1
    for shape in trials * shapes(question, domain):
        drawn = generator.multinomial(count, shape) / count
        found = trial_shares(question, domain, randomiser, drawn, count, generator)
        errors.append(_error(question.wanted, shape, found, generator))
    return float(np.mean(errors))


def trial_shares(
    question: LocalQuestion,
    domain: Domain,
    randomiser: Randomiser,
    shape: Floats,
    count: int,
    generator: np.random.Generator,
) -> Floats:
    """Shares as they would be estimated from so many people of this shape."""
    if isinstance(randomiser, SquareWave):
        tally = generator.multinomial(count, reported(randomiser, shape)).astype(np.float64)
        return fit(randomiser, tally, TRIED_STRENGTH)
    if isinstance(randomiser, Hierarchy):
        levels = []
        for level, blocks in zip(randomiser.levels, randomiser.blocks, strict=True):
            part = max(1, count // len(randomiser.levels))
            merged = np.asarray(np.bincount(blocks, weights=shape, minlength=level.values), dtype=np.float64)
            levels.append((_noisy(level, merged, part, generator), float(level.variance(1 / level.values, part))))
        return from_hierarchy(randomiser, randomiser.agreed(levels), count, None).values
    assert isinstance(randomiser, Support)
    return settle(question, domain, randomiser, _noisy(randomiser, shape, count, generator), count).values


def _noisy(randomiser: Support, shape: Floats, count: int, generator: np.random.Generator) -> Floats:
    """Unbiased shares with the noise of this randomiser; supports of different answers are drawn apart."""
    hit, miss = float(randomiser.hit), float(randomiser.miss)
    return randomiser.unbiased(generator.binomial(count, miss + shape * (hit - miss)), count)


def _error(wanted: WantedFigure, shape: Floats, found: Floats, generator: np.random.Generator) -> float:
    if wanted == "shares":
        return 0.5 * float(np.abs(found - shape).sum())
    if wanted == "mean":
        at = np.arange(shape.size) / (shape.size - 1)
        return abs(float((found - shape) @ at))
    off = np.concatenate([[0.0], np.cumsum(found - shape)])
    ends = generator.integers(0, off.size, (2, RANGES))
    return float(np.abs(off[ends[0]] - off[ends[1]]).mean())


def shapes(question: LocalQuestion, domain: Domain) -> list[Floats]:
    """Public shapes for the answers of this question."""
    size = question.values(domain)
    place = (np.arange(size) + 0.5) / size
    bells = [np.exp(-0.5 * ((place - 0.45) / 0.18) ** 2), place**1.5 * np.exp(-8 * place)]
    if question.smooth:
        return [shape / shape.sum() for shape in bells]
    ranks = np.arange(1, size + 1, dtype=np.float64)
    found = [1 / ranks, 1 / np.sqrt(ranks), np.where(ranks == 1, 9.0 * size, 1.0)]
    groups = question.groups(domain)
    if groups is not None:
        found = [bell * np.where(groups == 1, 12.0, 1.0) for bell in bells]
    return [shape / shape.sum() for shape in found]
