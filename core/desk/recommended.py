"""Ranked plans: every mechanism that can serve, priced, with what it is expected to do and why it stands where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.base.errors import DeskError
from core.planning.simulation.expected_error import Figure
from core.plans.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Recommended:
    """A plan that can be released as it is, and one sentence about its place."""

    plan: Plan
    reason: str

    @property
    def figure(self) -> Figure:
        return self.plan.expected_error


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """What the desk recommends; nothing was spent."""

    offered: tuple[Recommended, ...]
    """The one with the smallest error first."""
    studied: tuple[Recommended, ...]
    """Mechanisms that are here for their theorems; they can be released too, with larger errors."""
    refused: Mapping[str, DeskError]
    """Names of mechanisms that cannot serve, each with the reason."""

    @property
    def all(self) -> tuple[Recommended, ...]:
        return self.offered + self.studied
