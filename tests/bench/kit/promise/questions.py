"""What is asked of the tables on which promises are checked, and how large somebody guesses them to be."""

from __future__ import annotations

from core.queries.conjunctions import Conjunctions
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.unions import Unions
from core.schema.domain import Domain


def question_sets(domain: Domain, turn: int) -> dict[str, tuple[QueryClass, ...]]:
    """Pairs of columns always; and in turns one other class alone, or two together."""
    ordered = [each.name for each in domain if each.ordered and each.size > 2]
    numeric = [each.name for each in domain if each.numeric and each.size > 2]
    binary = [each.name for each in domain if each.size == 2][:5]
    classes: dict[str, QueryClass] = {
        "columns": Marginals(order=1),
        "intervals": Intervals(column=ordered[turn % len(ordered)]),
        "rectangles": Rectangles(columns=(ordered[turn % len(ordered)], ordered[(turn + 1) % len(ordered)])),
        "halfspaces": Halfspaces(columns=(numeric[0], numeric[1 + turn % (len(numeric) - 1)]), directions=64),
        "few pairs": Marginals(order=2, columns=domain.names[turn % 3 : turn % 3 + 4]),
        "unions": Unions(column=min(ordered, key=lambda name: domain[name].size), parts=2),
    }
    if len(binary) > 1:
        classes |= {
            "conjunctions": Conjunctions(columns=tuple(binary), order=2),
            "parities": Parities(columns=tuple(binary)),
        }
    names = list(classes)
    one, other = names[turn // 2 % len(names)], names[(turn * 3 + 5) % len(names)]
    sets: dict[str, tuple[QueryClass, ...]] = {"pairs": (Marginals(order=2),)}
    if turn % 2 == 0 or one == other:
        sets[one] = (classes[one],)
    else:
        sets[f"{one} + {other}"] = (classes[one], classes[other])
    return sets


def guessed_rows(rows: int) -> int:
    """What somebody would guess who has heard the number once: one digit of it.

    >>> guessed_rows(48842), guessed_rows(1300)
    (50000, 1000)
    """
    return int(float(f"{rows:.0e}"))
