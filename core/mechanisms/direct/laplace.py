"""Laplace noise on every table (B section 2.4, N): pure epsilon, or more tables for the same budget with a delta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.mechanisms.direct.direct import Direct
from core.privacy import events as privacy


@dataclass(frozen=True, kw_only=True)
class LaplaceTables(Direct):
    """Add Laplace noise to every count of every table that is asked for.

    **Privacy** table t gets discrete Laplace noise of scale unit.l1/epsilon_t. With delta = 0 the epsilon_t sum to
    epsilon: epsilon-differentially private. With delta > 0 they are as large as composition at the account's order
    allows: (epsilon, delta)-differentially private.

    **Accuracy** a count of table t is off by unit.l1/epsilon_t on average; with T tables of equal size that is
    T unit.l1/epsilon. With probability 1 - beta every one of C counts is within (T unit.l1/epsilon) ln(C/beta).

    **Runtime** one pass over the rows per table, then O(points x tables) to fit records.

    Theorem: B section 2.4 (Dwork, McSherry, Nissim, Smith 2006); basic composition, or Rényi composition for delta > 0.
    """

    name: ClassVar[str] = "laplace"
    title: ClassVar[str] = "Laplace noise on every table"
    known_as: ClassVar[tuple[str, ...]] = ("Laplace mechanism",)
    prefer: ClassVar[str] = "Choose it for a handful of tables, or when the promise must be pure epsilon."
    for_study: ClassVar[bool] = False
    kind = privacy.Laplace
