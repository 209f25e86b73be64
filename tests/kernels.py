"""Mechanisms on counts that a test makes up: with a kernel that has what the mechanism itself declares, and no more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.kernel.allowance import Allowance
from core.kernel.kernel import Kernel
from core.privacy.noise import Noise


def kernel_for(mechanism: Any, counts: Any, noise: Any = None) -> Kernel:
    """A kernel over these counts with the declared cost of the mechanism; the noise is the real one unless given."""
    return Kernel(counts, noise or Noise(), mechanism.cost(counts.domain, counts.unit))


def run(mechanism: Any, counts: Any, noise: Any = None, *progress: Any) -> Any:
    """What an offline mechanism releases."""
    return mechanism.run(kernel_for(mechanism, counts, noise), *progress)


@dataclass(frozen=True)
class OpenSession:
    """A session between two answers, as the desk stores it. Any number of answers may follow from the same one."""

    state: Any
    """The mechanism's part."""
    left: dict[str, Any] = field(repr=False)
    """The kernel's part, as JSON."""


def opened(mechanism: Any, counts: Any, noise: Any = None, earlier: Any = None) -> OpenSession:
    """A session with the declared cost of its mechanism, before the first question."""
    return played(mechanism, counts, (), noise, earlier)[0]


def answered(
    mechanism: Any, before: OpenSession, question: Any, counts: Any, noise: Any = None
) -> tuple[OpenSession, Any]:
    """The session after an answer, and the reply; what the session had left is copied, never changed."""
    allowance = Allowance.from_json(before.left)
    state, reply = mechanism.answer(before.state, question, Kernel(counts, noise or Noise(), allowance))
    return OpenSession(state, allowance.to_json()), reply


def played(
    mechanism: Any, counts: Any, asked: Any, noise: Any = None, earlier: Any = None
) -> tuple[OpenSession, list[Any]]:
    """A whole session, within what it declares, and all its answers."""
    allowance = Allowance(mechanism.cost(counts.domain, counts.unit))
    kernel = Kernel(counts, noise or Noise(), allowance)
    state, replies = mechanism.open(kernel, earlier), []
    for question in asked:
        state, reply = mechanism.answer(state, question, kernel)
        replies.append(reply)
    return OpenSession(state, allowance.to_json()), replies
