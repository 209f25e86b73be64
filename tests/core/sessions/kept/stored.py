"""A session file with a session in it, for the tests of what sessions leave behind."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from core.kernel.query import Query
from core.mechanisms.kit.interactive import Reply
from core.schema.domain import Booleans, Domain
from core.sessions.answer import Answer
from core.sessions.kept.file import SessionFile
from core.sessions.kept.rows import StoredState
from core.sessions.question import SessionQuestion

DOMAIN = Domain((Booleans(name="ill"), Booleans(name="old")))
QUESTIONS = [
    SessionQuestion.of(Query(columns=("ill", "old"), weights=np.array(bits).reshape(2, 2), words=f"{bits}"), DOMAIN)
    for bits in ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
]


def add(file: SessionFile, id: str = "s", state: bytes = b"first", dataset: str = "people") -> None:
    file.add(id=id, plan_id=id, dataset_id=dataset, terms_json="{}", state=StoredState(state, "all"))


def record(
    file: SessionFile,
    place: int,
    *,
    kind: str = "easy",
    state: bytes | None = None,
    allowance: str = "all",
    **changes: object,
) -> Answer:
    facts: Any = {"count": 5.0, "share": 0.5, "margin": 1.0, "kind": kind, "left": 7} | changes
    reply = Reply(**facts)
    with file.turn("s") as turn:
        kept = None if state is None else StoredState(state, allowance)
        return turn.record(question=QUESTIONS[place], at="now", reply=reply, rows=10.0, state=kept)


def close(file: SessionFile, id: str) -> None:
    with file.closing(id) as turn:
        assert turn is not None
        turn.close("closed", turn.left())


def stored(file: SessionFile) -> bytes:
    with file.snapshot("s") as turn:
        return turn.state().data


@contextlib.contextmanager
def raw(file: SessionFile):
    with contextlib.closing(file.database.connect()) as connection:
        yield connection
