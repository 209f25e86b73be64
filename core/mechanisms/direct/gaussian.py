"""Gaussian noise on every table (B section 2.4): (epsilon, delta) through zero-concentrated privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import BadParameter
from core.mechanisms.direct.direct import Direct
from core.privacy import events as privacy
from core.privacy.unit import Unit
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class GaussianTables(Direct):
    """Add Gaussian noise to every count of every table that is asked for.

    **Privacy** sqrt(2 rho)-GDP with rho = rho_for(epsilon, delta), hence (epsilon, delta)-differentially private: table
    t is measured with rho_t and the rho_t sum to rho. Noise is rounded Gaussian of variance unit.l2_squared/(2 rho_t).

    **Accuracy** a count of table t is off by sqrt(unit.l2_squared/(pi rho_t)) on average: for T equal tables the error
    grows with sqrt(T), not with T as for Laplace noise.

    **Runtime** one pass over the rows per table, then O(points x tables) to fit records.

    Theorem: Dong, Roth and Su 2022, corollary 1 (from mu-GDP to epsilon and delta) and corollary 2 (composition).
    """

    name: ClassVar[str] = "gaussian"
    title: ClassVar[str] = "Gaussian noise on every table"
    known_as: ClassVar[tuple[str, ...]] = ("Gaussian mechanism", "zero-concentrated privacy")
    prefer: ClassVar[str] = "Choose it for many tables at once when a small delta is acceptable."
    for_study: ClassVar[bool] = False
    kind = privacy.Gaussian

    def check(self, domain: Domain, unit: Unit) -> None:
        if self.budget.pure:
            raise BadParameter("delta", "must be above 0 for 'gaussian', for example 1e-9; with delta 0 use 'laplace'.")
        super().check(domain, unit)
