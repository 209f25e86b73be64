"""Planes that a release was asked about, answered twice: by the mechanism's own medians, and by the records.

The paper's mechanism for halfspaces publishes answers, not records: the median over random projections of noisy counts.
Records that fit the same counts answer everything else, and mostly better; both are public, so both are published.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import pandas as pd

from core.base.arrays import Floats, IntArray
from core.models.protocol import Model
from core.queries.halfspaces import Halfspaces
from core.registry import query_from_json
from core.release.certificate import Certificate
from core.release.published import Published

CLASS, PLANE, MEDIAN, RECORDS = "class", "plane", "median", "records"


@runtime_checkable
class AnswersPlanes(Protocol):
    """A model with answers of its own for planes, beside what its records say."""

    def halfspaces(self, normals: IntArray) -> Floats:
        """Rows on one side of each plane, given by its normal, one per line."""


def asked_planes(certificate: Certificate) -> dict[int, Halfspaces]:
    """Classes of planes by their place among all that were asked for."""
    found = (query_from_json(line) for line in certificate.queries)
    return {place: query for place, query in enumerate(found) if isinstance(query, Halfspaces)}


def halfspaces_table(model: Model, certificate: Certificate, published: Published) -> pd.DataFrame | None:
    """One line per plane: rows on its side by the medians and by the records; None where there are no medians."""
    asked = asked_planes(certificate)
    if not isinstance(model, AnswersPlanes) or not asked:
        return None
    domain = published.domain
    frames = [
        pd.DataFrame(
            {
                CLASS: place + 1,
                PLANE: [query.words(domain, index) for index in range(query.directions)],
                MEDIAN: model.halfspaces(query.normals(domain)).round(3),
                RECORDS: query.totals(published).round(3),
            }
        )
        for place, query in asked.items()
    ]
    return pd.concat(frames, ignore_index=True)
