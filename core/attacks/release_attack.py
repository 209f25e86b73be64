"""Attacks on a release and on what people do instead, side by side, on the same people.

Only who is outside can be called an insider wrongly, so a release is attacked by making it again: every row of the
table is put in or out by a fair coin, the same mechanism runs on those inside with the same budget, and the attacker is
asked about people of both kinds. Beside it stand the rows inside without their names, in groups of k, and their exact
tables.

**Privacy** everything here is computed from private rows for the curator's own eyes and thrown away: nothing is paid,
published or kept. **Runtime** some seconds for 1,000 targets of 40,000 rows, beside the mechanism's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.attacks.anonymised import Anonymised
from core.attacks.inference import LEAST_TARGETS, Advantage, Targets, attribute, membership
from core.attacks.published import ExactTables, Publication, PublishedRecords
from core.base.arrays import Codes, Flags
from core.base.errors import Refused
from core.models.protocol import Model
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain

MOST_ROWS = 40_000
"""Rows that enter; of a larger table it is a random sample."""
MOST_TARGETS = 1_000
RELEASE, NAMELESS, GROUPS, TABLES = "This release, made again", "Rows without names", "Groups of 5", "Exact tables"


class Remake(Protocol):
    """Runs the mechanism of a release on some of the rows."""

    def __call__(self, inside: Flags) -> Model: ...


@dataclass(frozen=True, kw_only=True)
class Attacked:
    """What became of one publication, run by run."""

    name: str
    membership: tuple[Advantage, ...]
    attribute: tuple[Advantage, ...]


@dataclass(frozen=True, kw_only=True)
class AttackReport:
    """All publications beside each other; private, for the curator alone."""

    found: tuple[Attacked, ...]
    secret: str
    rows: int
    """Rows that entered."""
    sampled: bool
    """Whether the table has more."""
    targets: int


def split(rows: int, unit: Unit, noise: Noise) -> Flags:
    """Who is inside: a coin for every row; exactly half of them where neighbours have equally many rows."""
    if not unit.public_rows:
        return noise.below(2, rows) == 1
    inside = np.zeros(rows, dtype=bool)
    inside[np.argsort(noise.keys(rows))[: rows // 2]] = True
    return inside


def attack(
    domain: Domain,
    rows: Codes,
    unit: Unit,
    secret: str,
    remake: Remake,
    *,
    runs: int,
    sampled: bool = False,
    progress: Callable[[str, float], None] = lambda stage, share: None,
) -> AttackReport:
    """Every publication of the rows inside, attacked in so many runs with fresh coins."""
    place, noise = domain.names.index(secret), Noise()
    found: dict[str, tuple[list[Advantage], list[Advantage]]] = {}
    for run in range(runs):
        inside = split(len(rows), unit, noise)
        targets = _targets(rows, inside, noise)
        progress("Making the release again", run / runs)
        model = remake(inside)
        progress("Attacking", (run + 0.5) / runs)
        for publication in publications(domain, rows[inside], model, place):
            ways = found.setdefault(publication.name, ([], []))
            ways[0].append(membership(publication, targets))
            ways[1].append(attribute(publication, targets, place))
    return AttackReport(
        found=tuple(
            Attacked(name=name, membership=tuple(members), attribute=tuple(secrets))
            for name, (members, secrets) in found.items()
        ),
        secret=secret,
        rows=len(rows),
        sampled=sampled,
        targets=len(targets.rows),
    )


def publications(domain: Domain, inside: Codes, model: Model, secret: int) -> Sequence[Publication]:
    """The release and what people do instead."""
    records = model.sample(min(max(round(model.total), 1), MOST_ROWS), Noise().generator())
    return (
        PublishedRecords(RELEASE, domain, records, model),
        PublishedRecords(NAMELESS, domain, inside),
        Anonymised(GROUPS, domain, inside, secret),
        ExactTables(TABLES, domain, inside),
    )


def _targets(rows: Codes, inside: Flags, noise: Noise) -> Targets:
    """Equally many people inside and outside, at random; the others are the attacker's reference."""
    groups = [_shuffled(np.flatnonzero(side), noise) for side in (inside, ~inside)]
    each = min(MOST_TARGETS // 2, *(len(group) // 2 for group in groups))
    if 2 * each < LEAST_TARGETS:
        raise Refused("The table has too few rows for an attack: put in or out, there is nobody to compare.")
    chosen = np.concatenate([group[:each] for group in groups])
    others = np.ones(len(rows), dtype=bool)
    others[chosen] = False
    return Targets(rows=rows[chosen], inside=inside[chosen], reference=rows[others])


def _shuffled(places: Codes, noise: Noise) -> Codes:
    return places[np.argsort(noise.keys(len(places)))]
