"""What an online session remembers between two answers, and how it is kept bit by bit."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Columns
from core.base.errors import CannotGoOn
from core.kernel.query import Query, Single
from core.kernel.sparse_vector import NumericSparse, Watch
from core.kernel.tables import Marginal
from core.mechanisms.kit.answers import NoisyAnswer
from core.mechanisms.online.themes import NO_THEMES, Themes
from core.models.column_counts import ColumnCounts
from core.models.dense import Dense
from core.models.nets.median import MedianSet
from core.models.points import Points
from core.models.signed import Signed
from core.models.tables import Tables, lookup
from core.queries.kit.grouped import GroupedTable
from core.queries.kit.protocol import Source
from core.queries.kit.question import Learnt, total_on
from core.schema.domain import Domain

Hypothesis = Dense | Points | Signed | MedianSet | Tables
MOST_REMEMBERED = 2**20
"""Cells of all tables of a hypothesis that are kept at hand."""
LARGE = 2**17
"""Combinations of a question's columns above which records are asked one by one: counting its table takes longer."""


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
    themes: Themes = NO_THEMES
    """Tables that are asked about again and again."""

    @property
    def left(self) -> int:
        """Hard answers that the session can still give."""
        return self.watch.left

    @cached_property
    def _cached(self) -> CachedSource:
        return CachedSource(self.hypothesis)

    def total(self, question: Single) -> float:
        """The hypothesis's answer, as `Query.total`."""
        if isinstance(self.hypothesis, MedianSet) or not isinstance(question, Query):
            return float(total_on(question, self.hypothesis))
        records = self._records(question.columns)
        if records is not None and question.weights.size > LARGE:
            return records.total_of(question.columns, question.weights)
        return float(question.total(self._cached))

    def _records(self, columns: Columns) -> Points | None:
        """The records that answer a question about these columns, where records do."""
        if isinstance(self.hypothesis, Tables):
            return self.hypothesis.points if lookup(self.hypothesis.counts, columns) is None else None
        return self.hypothesis if isinstance(self.hypothesis, Points) else None


def finite(hypothesis: Hypothesis) -> bool:
    """Whether every number of a hypothesis is one; without that nothing can ever be answered from it."""
    return all(bool(np.isfinite(array).all()) for array in _arrays(hypothesis).values())


def save(state: OnlineState) -> bytes:
    """The state as bytes; one that could never be answered from is refused."""
    arrays = _arrays(state.hypothesis)
    if not finite(state.hypothesis):
        raise CannotGoOn()
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
    if isinstance(state.hypothesis, Tables):
        facts["tables"] = list(state.hypothesis.counts)
        facts["columns"] = {
            name: [len(each.starts), float(each.shared).hex()] for name, each in state.hypothesis.columns.items()
        }
        facts["themes"] = state.themes.to_json()
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
        if isinstance(answer.question, GroupedTable):
            facts["past"][-1]["grouped"] = True
            arrays |= {f"groups{place} {axis}": each for axis, each in enumerate(answer.question.groups)}
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
    if facts["kind"] == "Tables":
        hypothesis: Hypothesis = _read_tables(domain, facts["tables"], facts.get("columns", {}), arrays)
    else:
        hypothesis = _hypothesis(facts["kind"], domain, rows, arrays)
    if not finite(hypothesis):
        raise CannotGoOn()
    return OnlineState(
        rows=rows,
        hypothesis=hypothesis,
        sparse=NumericSparse.from_json(facts["sparse"]),
        threshold=facts["threshold"],
        watch=Watch(facts["watch"], facts["left"]),
        past=past,
        turn=facts["turn"],
        themes=Themes.from_json(facts["themes"]) if "themes" in facts else NO_THEMES,
    )


def _answer(facts: dict[str, Any], place: int, arrays: dict[str, NDArray[Any]]) -> NoisyAnswer:
    columns = tuple(facts["columns"])
    question: Learnt = Marginal(columns)
    if facts.get("grouped"):
        question = GroupedTable(columns, tuple(arrays[f"groups{place} {axis}"] for axis in range(len(columns))))
    elif not facts["whole"]:
        question = Query(columns=columns, weights=arrays[f"weights{place}"], denominator=facts["denominator"])
    return NoisyAnswer(question, arrays[f"value{place}"], float.fromhex(facts["sigma"]))


def _arrays(hypothesis: Hypothesis) -> dict[str, NDArray[Any]]:
    if isinstance(hypothesis, Points):
        return {"codes": hypothesis.codes, "masses": hypothesis.weights}
    if isinstance(hypothesis, MedianSet):
        return {"members": hypothesis.members}
    if isinstance(hypothesis, Tables):
        counts = {f"counts{place}": table for place, table in enumerate(hypothesis.counts.values())}
        points = {"codes": _narrow(hypothesis.points.codes), "masses": hypothesis.points.weights}
        return counts | points | _column_arrays(hypothesis.columns)
    return {"cells": hypothesis.cells}


def _narrow(codes: Codes) -> NDArray[Any]:
    """Codes in the smallest type that holds them: most columns have a few values."""
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


def _column_arrays(columns: Mapping[str, ColumnCounts]) -> dict[str, NDArray[Any]]:
    return {
        f"{kind}{place} {level}": array
        for place, counts in enumerate(columns.values())
        for kind in ("starts", "values", "variances")
        for level, array in enumerate(getattr(counts, kind))
    }


def _read_columns(facts: Mapping[str, tuple[int, str]], arrays: dict[str, NDArray[Any]]) -> dict[str, ColumnCounts]:
    found = {}
    for place, (name, (levels, shared)) in enumerate(facts.items()):
        starts, values, variances = (
            tuple(arrays[f"{kind}{place} {level}"] for level in range(levels))
            for kind in ("starts", "values", "variances")
        )
        found[name] = ColumnCounts(starts, values, variances, float.fromhex(shared))
    return found


def _read_tables(
    domain: Domain,
    keys: Sequence[Sequence[str]],
    columns: Mapping[str, tuple[int, str]],
    arrays: dict[str, NDArray[Any]],
) -> Tables:
    """Sessions of earlier versions kept no single columns."""
    counts = {tuple(key): arrays[f"counts{place}"] for place, key in enumerate(keys)}
    points = Points(domain, arrays["codes"].astype(np.int64), arrays["masses"])
    return Tables(domain, counts, points, columns=_read_columns(columns, arrays))


def _hypothesis(kind: str, domain: Domain, rows: float, arrays: dict[str, NDArray[Any]]) -> Hypothesis:
    if kind == "Points":
        return Points(domain, arrays["codes"], arrays["masses"])
    if kind == "MedianSet":
        return MedianSet(domain, arrays["members"], rows, ())
    # Sessions of earlier versions kept signed cells that sum to something else.
    return Dense(domain, arrays["cells"]) if kind == "Dense" else Signed.nearest(domain, arrays["cells"], rows)
