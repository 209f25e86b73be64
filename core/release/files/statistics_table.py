"""Statistics by group that a release was asked for, as a table: one line per group, with intervals.

How far the answers may be off is what the release measured of itself, where it did; else what was expected before it
was made, by runs on public tables, and each line says which of the two it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from core.mechanisms.measured.targets import targets
from core.queries.kit.by_group import Between, lines_by_group
from core.queries.statistics import Statistics
from core.registry import query_from_json
from core.release.certificate import Certificate
from core.release.published import Published
from core.schema.domain import Domain

MOST_GROUPS = 10_000
"""Lines of one table."""
MEASURED, EXPECTED = "measured: hold 95 % of the time", "expected from runs on public tables"


def asked_statistics(certificate: Certificate) -> tuple[Statistics, ...]:
    found = (query_from_json(line) for line in certificate.queries)
    return tuple(query for query in found if isinstance(query, Statistics))


def statistics_table(certificate: Certificate, domain: Domain, published: Published) -> pd.DataFrame | None:
    """All statistics of a release, one below the other; None where none were asked for."""
    frames = [statistics_frame(asked, certificate, domain, published) for asked in asked_statistics(certificate)]
    return pd.concat(frames, ignore_index=True) if frames else None


def statistics_frame(asked: Statistics, certificate: Certificate, domain: Domain, published: Published) -> pd.DataFrame:
    """One line per group; none where there are too many groups to list. Intervals for what the plan asked for."""
    rows = float(published.marginal(()).sum())
    margin, intervals = _margin(asked, certificate, domain, rows)
    lines: list[dict[str, object]] = []
    if _groups(asked, domain) > MOST_GROUPS:
        return pd.DataFrame(lines)
    for line in lines_by_group(asked, domain, asked.answers(published) * rows, margin):
        group = ", ".join(f"{name} = {label}" for name, label in zip(asked.groups, line.labels, strict=True))
        numbers = {heading: value for name, each in line.numbers.items() for heading, value in _cells(name, each)}
        lines.append({"column": asked.column, "group": group or "all rows", **numbers, "intervals": intervals})
    return pd.DataFrame(lines)


def _groups(asked: Statistics, domain: Domain) -> int:
    return math.prod(domain.shape(asked.groups))


def _cells(name: str, found: Between) -> Sequence[tuple[str, float | None]]:
    return (name, found.value), (f"{name} from", found.low), (f"{name} to", found.high)


def _margin(asked: Statistics, certificate: Certificate, domain: Domain, rows: float) -> tuple[float | None, str]:
    """Rows by which every answer may be off at most, and where that is known from."""
    if asked not in asked_statistics(certificate):
        return None, ""
    measured = certificate.measured
    if measured is not None:
        queries = [query_from_json(line) for line in certificate.queries]
        for target, part in zip(targets(queries, domain), measured.parts, strict=True):
            if target.query == asked:
                # Shares were compared; the number of rows that they are shares of has an interval of its own.
                apart = max(measured.rows_high - rows, rows - measured.rows_low, 0.0)
                return part.within * measured.rows_high + apart, MEASURED
    worst = certificate.expected_error.get("worst")
    return (float(worst), EXPECTED) if isinstance(worst, int | float) else (None, "")
