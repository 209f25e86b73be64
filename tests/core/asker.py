"""A small interactive mechanism for tests of sessions: its noise is real enough, its bookkeeping is strict."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from core import registry
from core.base.errors import BadParameter
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.mechanisms.kit.interactive import Reply
from core.mechanisms.kit.protocol import Expected
from core.privacy.budget import Budget
from core.privacy.events import Cost, Laplace, Pure


@dataclass(frozen=True)
class AskerState:
    """What the next answer depends on."""

    secret: int
    """Drawn once, when the session opens."""
    rows: float
    used: int = 0
    chain: str = ""
    """Grows with every hard answer, so that an update on a stale state would show."""


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Questions whose weights sum to an even number are easy; the others are hard, until the limit is reached."""

    name: ClassVar[str] = "asker"
    title: ClassVar[str] = "A mechanism for tests"
    prefer: ClassVar[str] = "Never."
    refines: ClassVar[bool] = True

    budget: Budget
    limit: int = 3
    rows: int = 3_000
    """A public guess."""
    seconds: float = 0.0
    fails: bool = False
    greedy: bool = False
    """Whether it forgets its own limit, which only the reserved spend can then keep."""

    def check(self, domain, unit):
        if self.limit < 1:
            raise BadParameter("limit", "must be at least 1.")

    def cost(self, domain, unit):
        return Cost.of([Pure(self.budget.epsilon)])

    def expected(self, domain, unit):
        return Expected(mean=1.0, worst=2.0, about="Each answer")

    def hard_answers(self, domain, unit):
        return self.limit

    def slot(self, domain):
        return self.seconds

    def open(self, kernel: Kernel, earlier=None):
        rows = self.rows if earlier is None else round(float(earlier.marginal(()).sum()))
        return AskerState(secret=int(kernel.keys(1)[0]), rows=float(rows))

    def answer(self, state: AskerState, question: Query, kernel: Kernel) -> tuple[Any, Reply]:
        if self.fails:
            raise ValueError("a private value 1234")
        hard = int(question.weights.sum()) % 2 == 1
        if hard and state.used >= self.limit and not self.greedy:
            return state, Reply(count=0.0, share=0.0, margin=None, kind="unchecked", left=0)
        if not hard:
            return state, self._reply(0.25 * state.rows, state, "easy")
        noisy = kernel.measure(question, Laplace(self.budget.epsilon / self.limit))
        after = replace(state, used=state.used + 1, chain=f"{state.chain}{question.words};")
        return after, self._reply(float(noisy.values), after, "hard")

    def _reply(self, count, state, kind):
        share = min(max(count / state.rows, 0.0), 1.0)
        between, left = (share - 0.01, share + 0.01), max(0, self.limit - state.used)
        return Reply(count=count, share=share, margin=10.0, interval=between, kind=kind, left=left)

    def peek(self, state: AskerState):
        return None

    def left(self, state: AskerState) -> int | None:
        return max(0, self.limit - state.used)

    def released_rows(self, state: AskerState) -> float:
        return state.rows

    def save(self, state: AskerState) -> bytes:
        return json.dumps([state.secret, state.rows, state.used, state.chain]).encode()

    def load(self, domain, data: bytes) -> AskerState:
        return AskerState(*json.loads(data))


def register(patch) -> None:
    """Offer the mechanism during a test; `patch` sets an attribute of a module."""
    patch(registry, "interactive", {**registry.interactive, Asker.name: Asker})
