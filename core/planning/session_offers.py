"""Which sessions can be opened on a schema with a budget, and with what options, from public facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.base.errors import DeskError
from core.mechanisms.kit.proposing import Proposing
from core.mechanisms.online.online import better_for
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import interactive, interactive_from
from core.schema.domain import Domain

FIRST = ("online-tree", "online-histogram", "online-laplace")
"""What to try first where nothing better is known: what answers any schema, then what asks for less."""


@dataclass(frozen=True, kw_only=True)
class SessionOffers:
    """Every interactive mechanism with its usual options: what it would be opened with, or why it cannot be."""

    found: Mapping[str, Mapping[str, Any]]
    """Names of those that can be opened, the recommended one first, each with the options that are proposed."""
    refused: Mapping[str, DeskError]


def session_offers(domain: Domain, unit: Unit, budget: Budget, best: str | None = None) -> SessionOffers:
    """What can be opened; `domain` has the columns that may be asked about, `best` is what did best in trials."""
    found, refused = {}, {}
    for name in dict.fromkeys((best or better_for(domain) or FIRST[0], *FIRST, *interactive)):
        try:
            options = proposed(name, budget, {}, domain, unit)
            interactive_from(name, budget, options).check(domain, unit)
            found[name] = options
        except DeskError as problem:
            refused[name] = problem
    return SessionOffers(found=found, refused=refused)


def proposed(name: str, budget: Budget, options: Mapping[str, Any], domain: Domain, unit: Unit) -> dict[str, Any]:
    """Options that a session needs beside those that were given; empty where the usual ones can be kept."""
    made = interactive_from(name, budget, options)
    if not isinstance(made, Proposing):
        return {}
    return {option: value for option, value in made.proposed(domain, unit).items() if option not in options}
