"""What a mechanism that holds a public net of databases refuses before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.base.errors import Refused
from core.base.wording import amount
from core.models.histogram import MOST_CELLS
from core.models.nets.public_net import MOST_PLACES, PublicNet
from core.queries.kit.focus import asked_tables
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import log_size_of
from core.schema.domain import Domain


def check_net(
    net: PublicNet,
    queries: Sequence[QueryClass],
    domain: Domain,
    name: str,
    *,
    members: int,
    answers: int,
    instead: str,
) -> None:
    """Refuse a net with more than so many members, or whose answers to all questions are too many to hold."""
    if net.count > members:
        raise Refused(
            f"The net has {amount(net.count)} databases of {amount(net.rows)} rows and '{name}' holds at most "
            f"{amount(members)}; use {instead}."
        )
    if net.count * net.rows > MOST_PLACES:
        raise Refused(
            f"The net has {amount(net.count)} databases of {amount(net.rows)} rows, more rows than '{name}' holds; "
            "use a smaller size."
        )
    if domain.cells() >= 2**62:
        raise Refused(
            f"The schema has {amount(domain.cells())} combinations and a net numbers at most 2^62 of them; use 'tree'."
        )
    # A class may be read off the records that occur; a question of it that is measured is a table all the same.
    widest = max(domain.cells(columns) for query in queries for columns in asked_tables(query, domain))
    if widest > MOST_CELLS:
        raise Refused(
            f"A question of these classes looks at {amount(widest)} combinations and '{name}' measures over at most "
            f"{amount(MOST_CELLS)}; choose fewer columns or coarser bins."
        )
    if math.log(net.count) + log_size_of(queries, domain) > math.log(answers):
        raise Refused(
            f"A net of {amount(net.count)} databases for these classes needs more than {amount(answers)} answers; "
            "use fewer members, or 'iterative-weights'."
        )
