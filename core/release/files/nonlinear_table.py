"""Statistics that are not sums over the rows, as a mechanism over databases answers them, beside its records.

A mean or a median over databases is right about such a statistic where the theorem says so; the records, drawn from all
of the databases together, need not be: the fullest cell of a mixture is not the mean of the fullest cells. Both are
public, so both are published, and the release answers by the former.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

import numpy as np
import pandas as pd

from core.base.arrays import Floats
from core.models.protocol import Model
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import AnswersItself
from core.queries.lipschitz import Lipschitz
from core.registry import query_from_json
from core.release.certificate import Certificate
from core.release.published import OwnAnswers, Published
from core.schema.domain import Domain

CLASS, STATISTIC, DATABASES, RECORDS = "class", "statistic", "databases", "records"


def asked_nonlinear(certificate: Certificate) -> dict[int, Lipschitz]:
    """Classes that are not linear by their place among all that were asked for."""
    found = (query_from_json(line) for line in certificate.queries)
    return {place: query for place, query in enumerate(found) if isinstance(query, Lipschitz)}


def own_answers(model: Model, queries: Iterable[QueryClass]) -> OwnAnswers:
    """What the model itself answers, to a thousandth of a row; nothing where it means its records to answer."""
    if not isinstance(model, AnswersItself):
        return ()
    asked = (query for query in queries if isinstance(query, Lipschitz))
    return tuple((query, _rows(query, model.totals_for(query), model.domain)) for query in asked)


def nonlinear_table(certificate: Certificate, published: Published) -> pd.DataFrame | None:
    """One line per statistic, in rows; None where the model had no answers of its own."""
    domain = published.domain
    frames = [
        pd.DataFrame(
            {
                CLASS: place + 1,
                STATISTIC: [query.words(domain, index) for index in range(len(query.statistics))],
                DATABASES: own,
                RECORDS: _rows(query, query.totals(published), domain),
            }
        )
        for place, query in asked_nonlinear(certificate).items()
        if (own := published.own_rows(query)) is not None
    ]
    return pd.concat(frames, ignore_index=True) if frames else None


def read_own_answers(certificate: Certificate, stored: bytes) -> OwnAnswers:
    """The answers of a table that was sealed."""
    frame = pd.read_csv(io.BytesIO(stored))
    return tuple(
        (query, frame.loc[frame[CLASS] == place + 1, DATABASES].to_numpy(dtype=np.float64))
        for place, query in asked_nonlinear(certificate).items()
    )


def _rows(query: Lipschitz, totals: object, domain: Domain) -> Floats:
    return np.round(np.asarray(totals, dtype=np.float64) / query.denominator(domain), 3)
