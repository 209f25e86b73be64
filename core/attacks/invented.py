"""Invented tables that lower bounds are shown on, released by the mechanisms themselves with real noise."""

from __future__ import annotations

from typing import Protocol

from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Mechanism
from core.models.protocol import Model
from core.privacy.noise import Noise
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain
from core.table.counts import Cells


class Construction(Protocol):
    """The tables of a lower bound's proof; neighbours replace one row."""

    @property
    def domain(self) -> Domain: ...

    @property
    def queries(self) -> QueryClass:
        """The class of which some question is always wrong."""


def released_model(mechanism: Mechanism, counts: Cells) -> Model:
    """One release, with what the mechanism declares that it costs and no more."""
    return mechanism.run(Kernel(counts, Noise(), mechanism.cost(counts.domain, counts.unit)))
