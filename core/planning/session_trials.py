"""Sessions played on public tables before one is paid for: which is best, how far off it is, and how long it holds.

**Privacy** The tables are those of `simulation/stand_ins.py`: invented, public or released. The private one is never
opened, so trials are free and their figures may be told to anyone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.base.arrays import IntArray
from core.base.wording import amount, plural
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.planning.session_offers import session_offers
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.planning.simulation.stand_ins import StandIns
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import interactive_from
from core.schema.domain import Domain

QUESTIONS = 200
"""Of one trial: conjunctions of one to four columns, ranges among them."""
MOST_COLUMNS, MOST_TABLE = 4, 2**17
"""Columns of a question, and combinations of them."""
FEW, MANY = 2**8, 2**18
"""Combinations up to which a histogram is best without trying, and from which the synthetic table is: between them all
of `TRIED` are played where the number of rows is known. On look-alikes of 9 and of 12 yes/no columns (50,000 rows,
epsilon 1) the histogram was clearly better on dependent tables, of 14 and 16 less so, and with 10,000 rows of 14 the
synthetic table."""
TRIED = ("online-histogram", "online-tree", "online-weights")
DEPENDENT = (1, 4)
"""Places of the stand-ins whose columns depend on each other most: a synthetic table errs most there, and a histogram
everywhere alike. On weakly dependent ones the synthetic table won where it lost on census data of 14 columns."""
LARGEST = 0.1
"""Weight of the largest error of a trial beside the mean one, which is about a tenth of it."""


@dataclass(frozen=True, kw_only=True)
class SessionTrial:
    """What one session did on a public table."""

    name: str
    options: Mapping[str, Any]
    """Those that were proposed for it."""
    mean: float
    within: float
    """Of 95 answers in 100; both as shares of the rows."""
    largest: float
    hard: int
    limit: int | None
    """Hard answers that it took, and that it could give; None where there is no limit."""
    on: str
    """What the table was."""

    @property
    def score(self) -> float:
        """The smaller the better."""
        return self.mean + LARGEST * self.largest

    @property
    def lasts(self) -> int | None:
        """Questions like these after which its hard answers are used up; None where that was not to be seen."""
        return math.floor(QUESTIONS * self.limit / self.hard) if self.limit is not None and self.hard else None

    def sentence(self) -> str:
        """How far off it is, and for how many questions."""
        off = f"off by {_share(self.mean)} of the rows on average and 95 in 100 by at most {_share(self.within)}"
        if self.limit is None:
            lasts = "it answers any number of them so"
        elif self.lasts is None:
            lasts = f"none of its {plural(self.limit, 'hard answer')} was needed"
        else:
            lasts = f"its {plural(self.limit, 'hard answer')} last for about {amount(self.lasts)} such questions"
        return f"In {QUESTIONS} trial questions on {self.on} an answer was {off}; {lasts}."


def candidates(domain: Domain, unit: Unit, budget: Budget, *, rows_known: bool) -> dict[str, Mapping[str, Any]]:
    """Sessions that may be the best on a schema, by name with the options proposed.

    There is one where that is sure, and where the number of rows is not public: with a guess of it trials could
    recommend what is far worse than the usual choice.
    """
    found = session_offers(domain, unit, budget).found
    contested = rows_known and FEW < domain.cells() < MANY
    tried = {name: found[name] for name in TRIED if name in found} if contested else {}
    return tried or dict([next(iter(found.items()))])


def best_session(tried: Mapping[str, Mapping[str, Any]], budget: Budget, stand_ins: StandIns) -> SessionTrial:
    """Of some sessions the one whose worse trial is best, with that trial."""
    worse = [
        max((play(name, budget, options, stand_ins, place) for place in DEPENDENT), key=lambda each: each.score)
        for name, options in tried.items()
    ]
    return min(worse, key=lambda each: each.score)


def play(
    name: str, budget: Budget, options: Mapping[str, Any], stand_ins: StandIns, place: int = DEPENDENT[0]
) -> SessionTrial:
    """One session on a public table, the same at every call with the same facts."""
    session = interactive_from(name, budget, options)
    generator = np.random.default_rng([2, place, *bytes.fromhex(stand_ins.key)[:8]])
    table, unit = stand_ins.table(place), stand_ins.unit
    domain, rows = stand_ins.domain, float(table.marginal(()).sum())
    kernel = Kernel(table, SimulatedNoise(generator), session.cost(domain, unit))
    state, errors, hard = session.open(kernel), [], 0
    limit = session.left(state)
    for question in questions(domain, generator):
        state, reply = session.answer(state, question, kernel)
        errors.append(abs(reply.share - float(question.total(table)) / question.denominator / rows))
        hard += reply.kind == "hard"
    return SessionTrial(
        name=name,
        options=options,
        mean=float(np.mean(errors)),
        within=float(np.quantile(errors, 0.95)),
        largest=max(errors),
        hard=hard,
        limit=limit,
        on=stand_ins.sentence,
    )


def questions(domain: Domain, generator: np.random.Generator) -> list[Query]:
    """Conjunctions as visitors ask them: of a few columns, each with a value, or half of the time with a range."""
    found: list[Query] = []
    while len(found) < QUESTIONS:
        count = int(generator.integers(1, min(MOST_COLUMNS, len(domain)) + 1))
        names = [domain.names[place] for place in sorted(generator.choice(len(domain), count, replace=False))]
        if domain.cells(names) <= MOST_TABLE or count == 1:
            weights = np.ones((), dtype=np.int64)
            for name in names:
                weights = np.multiply.outer(weights, _condition(domain, name, generator))
            found.append(Query(columns=tuple(names), weights=weights))
    return found


def _condition(domain: Domain, name: str, generator: np.random.Generator) -> IntArray:
    size = domain[name].size
    weights = np.zeros(size, dtype=np.int64)
    first, last = np.sort(generator.integers(0, size, 2))
    if domain[name].ordered and generator.random() < 0.5:
        weights[first : last + 1] = 1
    else:
        weights[first] = 1
    return weights


def _share(error: float) -> str:
    return f"{100 * error:.2f} %"
