"""SQL's three-valued logic in two values: a comparison with a missing value is unknown, and so is its negation.

In a formula every row counts either in a condition or in its negation. In SQL a row whose age is missing is neither
`age >= 65` nor `NOT age >= 65`. A statement counts the rows whose condition is true; an AND or OR is true by the truth
of its parts alone (Kleene), so it is enough to move every NOT down to the comparisons and to negate those among the
values that are not missing.
"""

from __future__ import annotations

from dataclasses import replace

from core.formulas.cells import Among
from core.formulas.spans import Span, ordered
from core.formulas.sums import WeightedSum
from core.formulas.syntax import Condition, Joined, Node, Not, joined, negated
from core.schema.domain import Domain

_OPPOSITE = {">=": ("<",), ">": ("<=",), "<=": (">",), "<": (">=",), "=": ("<", ">")}


def certain(node: Node, domain: Domain, denied: bool = False) -> Node:
    """The condition that a condition, or its negation, is true in SQL."""
    if isinstance(node, Not):
        return certain(node.part, domain, not denied)
    if isinstance(node, Joined):
        parts = [certain(part, domain, denied) for part in node.parts]
        return joined("or" if (node.connective == "or") != denied else "and", parts)
    return _false(node, domain) if denied else node


def _false(leaf: Condition, domain: Domain) -> Node:
    """The condition that a comparison is false: with no missing value in it."""
    gaps = [name for name in leaf.columns if domain[name].missing]
    if not gaps:
        return negated(leaf)
    if isinstance(leaf, WeightedSum):
        return joined("or", [replace(leaf, operator=operator) for operator in _OPPOSITE[leaf.operator]])
    attribute = domain[gaps[0]]
    if isinstance(leaf, Among):
        # What lists the missing cell itself, such as `is null`, is never unknown.
        return negated(Among(leaf.column, tuple(sorted({*leaf.codes, attribute.size - 1}))))
    if isinstance(leaf, Span) and (others := leaf.others(ordered(attribute))):
        return joined("or", others)
    return joined("and", [negated(leaf), negated(Among(attribute.name, (attribute.size - 1,)))])
