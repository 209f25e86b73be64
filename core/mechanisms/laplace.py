"""Laplace noise on every table (B section 2.4, N): pure epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.domain import Domain
from core.errors import BadParameter
from core.mechanisms.direct import Direct
from core.privacy import Unit


@dataclass(frozen=True, kw_only=True)
class Laplace(Direct):
    """Add Laplace noise to every count of every table that is asked for.

    **Privacy** epsilon-differentially private: table t is measured with epsilon_t and the epsilon_t sum to epsilon.
    Noise is drawn from the discrete Laplace distribution on the integers, scale unit.l1/epsilon_t.

    **Accuracy** a count of table t is off by unit.l1/epsilon_t on average; with T tables of equal size that is
    T unit.l1/epsilon. With probability 1 - beta every one of C counts is within (T unit.l1/epsilon) ln(C/beta).

    **Runtime** one pass over the rows per table, then O(points x tables) to fit records.

    Theorem: B section 2.4 (Dwork, McSherry, Nissim, Smith 2006), basic composition.
    """

    name: ClassVar[str] = "laplace"
    title: ClassVar[str] = "Laplace noise on every table"
    prefer: ClassVar[str] = "Choose it for a handful of tables when the promise must be pure epsilon."

    def check(self, domain: Domain, unit: Unit) -> None:
        if not self.budget.pure:
            raise BadParameter("delta", "must be 0 for 'laplace'; with delta above 0 'gaussian' is more accurate.")
        super().check(domain, unit)
