"""States of sessions that an older version stored, brought into today's form when they are read.

That version kept no account of what a session had left, and the secret offset of its comparisons was a part of the
mechanism's state. Both go into the allowance here, once: the next answer that changes anything stores the new form.

**Privacy** Nothing is drawn. The run that was under way goes on with its offset and its count of outcomes above. Of
comparisons and measured numbers the session is given what its counters leave, all of which it had paid for. Where
nothing was compared nobody knows what is left: such a session is given all that was reserved when it opened, and is
bounded by the counters of its own state, as it was then.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from core.kernel.allowance import Allowance
from core.kernel.sparse_vector import NumericSparse, OpenRun, Watch
from core.mechanisms.kit.interactive import Interactive
from core.mechanisms.median.session import MedianSession
from core.mechanisms.online.online import Online
from core.privacy.events import Cost, Pure
from core.privacy.unit import Unit
from core.schema.domain import Domain


def migrate(data: bytes, mechanism: Interactive, domain: Domain, unit: Unit) -> tuple[bytes, Allowance]:
    """A mechanism's state that was stored without an allowance, and the allowance that belongs to it."""
    if isinstance(mechanism, Online):
        return move_online_offset(data)
    if isinstance(mechanism, MedianSession) and mechanism.constants == "calibrated":
        return move_median_offset(data, mechanism, unit)
    if isinstance(mechanism, MedianSession):
        data = _with_watch(data, None)
    return data, Allowance(mechanism.cost(domain, unit))


def move_online_offset(data: bytes) -> tuple[bytes, Allowance]:
    """Of a session that learns, whose state names its sparse vector."""
    facts = _facts(data)
    allowance, watch = _under_way(NumericSparse.from_json(facts["sparse"]), facts)
    return _with_watch(data, watch), allowance


def move_median_offset(data: bytes, mechanism: MedianSession, unit: Unit) -> tuple[bytes, Allowance]:
    """Of a median session, whose sparse vector follows from the hard answers it was opened with."""
    facts = _facts(data)
    allowance, watch = _under_way(mechanism.sparse(unit, facts["left"] + facts["asked"]), facts)
    return _with_watch(data, watch), allowance


def _under_way(sparse: NumericSparse, facts: Mapping[str, Any]) -> tuple[Allowance, Watch]:
    """What a sparse vector leaves after the outcomes above that were counted, its present run included."""
    run, left = sparse.run, facts["left"]
    following = max(0, -(-left // run.cutoff) - 1)
    allowance = Allowance(Cost((Pure(run.epsilon),) * following + (sparse.number,) * left))
    return allowance, allowance.keep(OpenRun(run=run, offset=facts["offset"] if left else None, left=left))


def _facts(data: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        return json.loads(held["facts"].tobytes())


def _with_watch(data: bytes, watch: Watch | None) -> bytes:
    """The same state with the public name of its comparisons in place of their offset."""
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    facts = json.loads(arrays.pop("facts").tobytes())
    facts = {name: fact for name, fact in facts.items() if name != "offset"}
    facts["watch"] = None if watch is None else watch.id
    buffer = io.BytesIO()
    np.savez(buffer, facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8), **arrays)
    return buffer.getvalue()
