"""What an online session remembers between two answers, and how it is kept bit by bit."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns
from core.kernel.query import Query
from core.kernel.sparse_vector import NumericSparse, Watch
from core.kernel.tables import Marginal
from core.mechanisms.kit.answers import NoisyAnswer
from core.models.dense import Dense
from core.models.median import MedianSet
from core.models.points import Points
from core.models.signed import Signed
from core.queries.kit.protocol import Source
from core.queries.kit.question import Question, total_on
from core.schema.domain import Domain

Hypothesis = Dense | Points | Signed | MedianSet
MOST_REMEMBERED = 2**20
"""Cells of all tables of a hypothesis that are kept at hand."""


@dataclass(frozen=True, eq=False)
class CachedSource:
    """A public source whose tables are computed once; their values are the same with or without this memory."""

    source: Source
    tables: dict[Columns, NDArray[Any]] = field(default_factory=dict, repr=False)

    @property
    def domain(self) -> Domain:
        return self.source.domain

    def marginal(self, columns: Sequence[str]) -> NDArray[Any]:
        key = tuple(columns)
        table = self.tables.get(key)
        if table is None:
            table = self.source.marginal(key)
            if sum(each.size for each in self.tables.values()) + table.size > MOST_REMEMBERED:
                self.tables.clear()
            self.tables[key] = table
        return table


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlineState:
    """Everything the next answer depends on. All of it is public: the kernel keeps what is not."""

    rows: float
    """Number of rows: public, or measured when the session opened."""
    hypothesis: Hypothesis
    sparse: NumericSparse
    threshold: int
    """In steps of the grid."""
    watch: Watch
    past: tuple[NoisyAnswer, ...]
    """Everything that was measured, for replaying."""
    turn: int = 0
    """Place in `past` from which the next replay goes on."""

    @property
    def left(self) -> int:
        """Hard answers that the session can still give."""
        return self.watch.left

    @cached_property
    def _cached(self) -> CachedSource:
        return CachedSource(self.hypothesis)

    def total(self, question: Query) -> float:
        """The hypothesis's answer, as `Query.total`."""
        if isinstance(self.hypothesis, MedianSet):
            return float(total_on(question, self.hypothesis))
        return float(question.total(self._cached))


def save(state: OnlineState) -> bytes:
    """The state as bytes."""
    arrays = _arrays(state.hypothesis)
    facts: dict[str, Any] = {
        "kind": type(state.hypothesis).__name__,
        "rows": state.rows.hex(),
        "sparse": state.sparse.to_json(),
        "threshold": state.threshold,
        "watch": state.watch.id,
        "left": state.watch.left,
        "turn": state.turn,
        "past": [],
    }
    for place, answer in enumerate(state.past):
        facts["past"].append(
            {
                "columns": answer.question.columns,
                "denominator": answer.question.denominator,
                "whole": isinstance(answer.question, Marginal),
                "sigma": float(answer.sigma).hex(),
            }
        )
        arrays[f"value{place}"] = answer.value
        if isinstance(answer.question, Query):
            arrays[f"weights{place}"] = answer.question.weights
    buffer = io.BytesIO()
    np.savez(buffer, facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def load(domain: Domain, data: bytes) -> OnlineState:
    """The state that was saved."""
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    facts = json.loads(arrays.pop("facts").tobytes())
    past = tuple(_answer(each, place, arrays) for place, each in enumerate(facts["past"]))
    rows = float.fromhex(facts["rows"])
    return OnlineState(
        rows=rows,
        hypothesis=_hypothesis(facts["kind"], domain, rows, arrays),
        sparse=NumericSparse.from_json(facts["sparse"]),
        threshold=facts["threshold"],
        watch=Watch(facts["watch"], facts["left"]),
        past=past,
        turn=facts["turn"],
    )


def _answer(facts: dict[str, Any], place: int, arrays: dict[str, NDArray[Any]]) -> NoisyAnswer:
    columns = tuple(facts["columns"])
    question: Question = Marginal(columns)
    if not facts["whole"]:
        question = Query(columns=columns, weights=arrays[f"weights{place}"], denominator=facts["denominator"])
    return NoisyAnswer(question, arrays[f"value{place}"], float.fromhex(facts["sigma"]))


def _arrays(hypothesis: Hypothesis) -> dict[str, NDArray[Any]]:
    if isinstance(hypothesis, Points):
        return {"codes": hypothesis.codes, "masses": hypothesis.weights}
    if isinstance(hypothesis, MedianSet):
        return {"members": hypothesis.members}
    return {"cells": hypothesis.cells}


def _hypothesis(kind: str, domain: Domain, rows: float, arrays: dict[str, NDArray[Any]]) -> Hypothesis:
    if kind == "Points":
        return Points(domain, arrays["codes"], arrays["masses"])
    if kind == "MedianSet":
        return MedianSet(domain, arrays["members"], rows, ())
    return Dense(domain, arrays["cells"]) if kind == "Dense" else Signed(domain, arrays["cells"], rows)
