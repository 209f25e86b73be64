"""What a formula means: conditions joined by and, or and not, and the cells for which they hold.

A condition is a vector of truth over the cells of its own columns; joining broadcasts, so nothing is ever laid out over
columns that the formula does not name. Every negation is the exact complement: a row counts either in a condition or in
its negation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from core.base.arrays import Columns, Flags
from core.schema.domain import Domain


class Condition(Protocol):
    """A leaf of the tree: one comparison."""

    @property
    def columns(self) -> Columns:
        """In the order of the schema."""

    def holds(self, domain: Domain) -> Flags:
        """For each cell of its columns, whether it is fulfilled; 'missing' fulfils no comparison."""

    def text(self, domain: Domain, denied: bool) -> str:
        """As it is written in a formula, or its negation."""

    def words(self, domain: Domain, denied: bool) -> str:
        """In plain words."""


@dataclass(frozen=True)
class Not:
    part: Joined | Condition


@dataclass(frozen=True)
class Joined:
    connective: Literal["and", "or"]
    parts: tuple[Node, ...]
    """At least two, none of them joined by the same connective."""


Node = Condition | Not | Joined


def negated(node: Node) -> Node:
    """
    >>> from core.formulas.cells import Among
    >>> node = Among("ill", (1,))
    >>> negated(negated(node)) == node
    True
    """
    return node.part if isinstance(node, Not) else Not(node)


def joined(connective: Literal["and", "or"], parts: Iterable[Node]) -> Node:
    """Parts joined, with parentheses that change nothing left out."""
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Joined) and part.connective == connective else (part,))
    return flat[0] if len(flat) == 1 else Joined(connective, tuple(flat))


def leaves(node: Node) -> Iterator[Condition]:
    """The conditions of a formula from left to right."""
    if isinstance(node, Not):
        yield from leaves(node.part)
    elif isinstance(node, Joined):
        for part in node.parts:
            yield from leaves(part)
    else:
        yield node


def holds(node: Node, domain: Domain, columns: Columns) -> Flags:
    """Truth over the cells of `columns`, with length 1 along columns that do not matter."""
    if isinstance(node, Not):
        return ~holds(node.part, domain, columns)
    if isinstance(node, Joined):
        join = np.logical_and if node.connective == "and" else np.logical_or
        found = holds(node.parts[0], domain, columns)
        for part in node.parts[1:]:
            found = join(found, holds(part, domain, columns))
        return found
    return node.holds(domain).reshape([domain[name].size if name in node.columns else 1 for name in columns])


def spelled(node: Node, spell: Callable[[Condition, bool], str]) -> str:
    """The whole tree from the spelling of its conditions; parentheses around every inner group."""
    if isinstance(node, Not):
        inner = node.part
        return f"not ({spelled(inner, spell)})" if isinstance(inner, Joined) else spell(inner, True)
    if isinstance(node, Joined):
        parts = ((part, spelled(part, spell)) for part in node.parts)
        return f" {node.connective} ".join(f"({text})" if isinstance(part, Joined) else text for part, text in parts)
    return spell(node, False)
