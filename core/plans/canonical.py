"""One spelling of what was chosen, its id, and how its parts are read back; whatever is wrong is one sentence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

from core.base.errors import BadParameter
from core.privacy.budget import Budget


def canonical(data: Any) -> str:
    """One spelling of plain data as JSON."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def identity(content: str) -> str:
    """The id of whatever was chosen; the table's id in it is random, so it tells nothing about the table's content."""
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def spell(parts: Callable[[], dict[str, Any]]) -> str:
    """Canonical JSON of a plan's parts, or a sentence where one of them is no plain data."""
    try:
        return canonical(parts())
    except (TypeError, ValueError, AttributeError, RecursionError):
        raise BadParameter("plan", "has a part of the wrong kind; make the plan with the desk.") from None


class KeptText(Protocol):
    """Terms with one spelling. Each kind writes by its own fields alone, whatever a plan made from it carries."""

    def write(self) -> str:
        """The one spelling of these terms, from the fields as they are now."""
        ...

    @cached_property
    def content(self) -> str:
        """What the ledger keeps."""
        return self.write()

    @cached_property
    def id(self) -> str:
        return identity(self.content)


def read_parts(found: object, names: frozenset[str], optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The parts of a plan: all of them, perhaps some that are optional, and no other."""
    parts = read_names(found, "plan")
    for name in sorted(names - parts.keys()):
        raise BadParameter(name, "is missing in the plan; save the plan again.")
    for name in sorted(parts.keys() - names - optional):
        raise BadParameter(name, "is not a part of a plan; take it out.")
    return parts


def read_names(found: object, name: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise BadParameter(name, "must be written as names with values.")
    return found


def read_text(found: object, name: str) -> str:
    if not isinstance(found, str):
        raise BadParameter(name, "must be written as text in quotes.")
    return found


def read_budget(found: object) -> Budget:
    parts = read_names(found, "budget")
    if parts.keys() != {"epsilon", "delta"}:
        raise BadParameter("budget", "must have an epsilon and a delta, and nothing else.")
    return Budget(*(read_text(parts[name], name) for name in ("epsilon", "delta")))


def read_options(found: object) -> dict[str, Any]:
    """Options of a mechanism; one that is called like a part of the plan would take that part's place."""
    options = read_names(found, "options")
    for name in ("queries", "budget"):
        if name in options:
            raise BadParameter(name, "belongs beside the options of the mechanism, not among them.")
    return options
