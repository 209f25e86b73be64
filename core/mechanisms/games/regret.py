"""How far a query release game is from its value, which is 0 (G proposition 5.16), turn by turn; for public data only.

**Accuracy** without noise the gap after T turns is at most `promise`: the regret of the player who learns, or of both.
It falls like sqrt(ln|X|/T) or sqrt(ln|Q|/T).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from core.base.arrays import Floats
from core.base.errors import Refused
from core.base.wording import amount
from core.mechanisms.games.game import Game
from core.mechanisms.games.players import Position, cost_of, questions_of
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source, share
from core.schema.domain import Domain

MOST_ENTRIES = 2**24
"""Entries of the matrix of questions times records: 128 MB."""


@dataclass(frozen=True)
class DualityGap:
    """Both players' average strategies against the best that the other could do (G definition 5.7)."""

    turn: int
    data: float
    """Largest error of the average table, as a share: what the data player pays against the best question."""
    query: float
    """What the best record would gain from the average question."""

    @property
    def gap(self) -> float:
        """The duality gap, at least 0: together the two strategies are a gap-approximate equilibrium."""
        return self.data + self.query


def duality_gaps(game: Game, truth: Source) -> tuple[DualityGap, ...]:
    """The gap after each turn of a game without noise, where the query player knows the whole table.

    It plays its exact mixed strategy instead of draws from it, at the rate sqrt(2 ln(2|Q|)/T) where it learns.
    """
    domain = truth.domain
    game.check(domain, Unit.row())
    turns = game.turns(domain, Unit.row())
    matrix = _matrix(game, domain)
    table = share(truth.marginal(domain.names)).ravel()
    rate = _query_rate(game, domain, turns) if game.query_learns else math.inf
    steepness = tuple(rate * seen if seen else 0.0 for seen in game.growth(turns))
    player = Exact(matrix, matrix @ table, domain.shape(), steepness)
    return tuple(_gap(position, player, table) for position in game.played(domain, player, turns))


def promise(game: Game, domain: Domain) -> float:
    """What the gap is at most after the last turn of a game without noise: regrets of multiplicative weights.

    A data player at rate d: ln|X|/(d T) + d/8. A query player at rate r: ln(2|Q|)/(r T), and r/2 where it moves first.
    """
    turns = game.turns(domain, Unit.row())
    regret = 0.0
    if game.data_learns:
        rate = game.data_rate(domain, turns)
        regret += math.log(domain.cells()) / (rate * turns) + rate / 8
    if game.query_learns:
        rate = _query_rate(game, domain, turns)
        regret += questions_of(game.queries, domain).log_size() / (rate * turns) + (0 if game.data_learns else rate / 2)
    return regret


def _query_rate(game: Game, domain: Domain, turns: int) -> float:
    return math.sqrt(2 * questions_of(game.queries, domain).log_size() / turns)


@dataclass(frozen=True, eq=False)
class Exact:
    """A query player without noise: weights exp(steepness x error) of all signed questions."""

    matrix: Floats
    """One line per question: its weight for each record."""
    answers: Floats
    shape: tuple[int, ...]
    steepness: tuple[float, ...]
    """For each turn; infinite means only the worst question."""

    def errors(self, strategy: Floats) -> Floats:
        return self.matrix @ strategy.ravel() - self.answers

    def reply(self, turn: int, seen: Floats) -> Floats:
        errors = self.errors(seen)
        if math.isinf(self.steepness[turn]):
            worst = int(np.abs(errors).argmax())
            cost = (1 if errors[worst] > 0 else -1) * self.matrix[worst]
        else:
            plus, minus = softmax(self.steepness[turn] * np.stack([errors, -errors]))
            cost = (plus - minus) @ self.matrix
        return np.asarray(cost).reshape(self.shape)


def _gap(position: Position, player: Exact, table: Floats) -> DualityGap:
    asked = position.asked.ravel() / position.turns
    return DualityGap(
        turn=position.turns,
        data=float(np.abs(player.errors(position.strategy)).max()),
        query=float(asked @ table - asked.min()),
    )


def _matrix(game: Game, domain: Domain) -> Floats:
    sizes = [round(math.exp(query.log_size(domain))) for query in game.queries]
    if (entries := sum(sizes) * domain.cells()) > MOST_ENTRIES:
        raise Refused(
            f"Playing without noise holds {amount(entries)} numbers and at most {amount(MOST_ENTRIES)} are held; "
            "show the game on a smaller schema or class."
        )
    listed = zip(game.queries, sizes, strict=True)
    members = (query.member(domain, place) for query, size in listed for place in range(size))
    return np.stack([cost_of([(member, 1)], domain).ravel() for member in members])
