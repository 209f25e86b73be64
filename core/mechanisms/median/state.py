"""What a session of a median mechanism remembers between two answers, and how it is kept bit by bit."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.kernel.sparse_vector import Watch
from core.models.databases import Databases
from core.models.polytope.cloud import Cloud
from core.models.polytope.mixing import Mixing
from core.models.polytope.polytope import Polytope
from core.schema.domain import Domain

PossibleTables = Databases | Cloud
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class MedianState:
    """Everything the next answer depends on. All of it is public: the kernel keeps what is not."""

    rows: float
    """Number of rows: public, or measured when the session opened."""
    hypothesis: PossibleTables
    """The tables that released answers leave possible."""
    left: int
    """Hard answers that the session can still give."""
    watch: Watch | None
    """The kernel's comparisons; None with the thesis's constants, which pay for every test."""
    asked: int = 0
    """Questions that were compared. The thesis's constants limit them; otherwise only hard ones are counted, so that an
    easy answer leaves nothing to be kept."""

    @property
    def hard(self) -> int:
        """With calibrated constants: hard answers that were planned, those that were given included."""
        return self.left + self.asked


def save(state: MedianState) -> bytes:
    """The state as bytes."""
    own, arrays = _parts(state.hypothesis)
    facts = {
        "rows": state.rows.hex(),
        "watch": None if state.watch is None else state.watch.id,
        "left": state.left,
        "asked": state.asked,
        **own,
    }
    buffer = io.BytesIO()
    np.savez(buffer, facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def load(domain: Domain, data: bytes) -> MedianState:
    """The state that was saved."""
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    facts = json.loads(arrays.pop("facts").tobytes())
    rows = float.fromhex(facts["rows"])
    return MedianState(
        rows=rows,
        hypothesis=_whole(domain, rows, facts, arrays),
        left=facts["left"],
        watch=None if facts["watch"] is None else Watch(facts["watch"], facts["left"]),
        asked=facts["asked"],
    )


def _parts(hypothesis: PossibleTables) -> tuple[dict[str, Any], Arrays]:
    if isinstance(hypothesis, Databases):
        counts = hypothesis.counts
        lines = {
            "data": counts.data,
            "indices": counts.indices,
            "indptr": counts.indptr,
            "beyond": hypothesis.beyond,
        }
        return {"size": hypothesis.size, "fewest": hypothesis.fewest}, lines
    body, mixing = hypothesis.body, hypothesis.mixing
    facts = {"rhat": mixing.rhat.hex(), "effective": mixing.effective.hex(), "spare": hypothesis.spare}
    return facts, {"weights": body.weights, "low": body.low, "high": body.high, "points": hypothesis.points}


def _whole(domain: Domain, rows: float, facts: dict[str, Any], arrays: Arrays) -> PossibleTables:
    if "size" in facts:
        shape = (arrays["indptr"].size - 1, domain.cells())
        counts = sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        return Databases(
            domain=domain,
            total=rows,
            size=facts["size"],
            counts=counts,
            beyond=arrays["beyond"],
            fewest=facts["fewest"],
        )
    return Cloud(
        domain=domain,
        total=rows,
        body=Polytope(weights=arrays["weights"], low=arrays["low"], high=arrays["high"]),
        points=arrays["points"],
        mixing=Mixing(rhat=float.fromhex(facts["rhat"]), effective=float.fromhex(facts["effective"])),
        spare=facts["spare"],
    )
