"""Mechanisms on counts that a test makes up: with a kernel that has what the mechanism itself declares, and no more."""

from __future__ import annotations

from typing import Any

from core.kernel.kernel import Kernel
from core.privacy.noise import Noise


def kernel_for(mechanism: Any, counts: Any, noise: Any = None) -> Kernel:
    """A kernel over these counts with the declared cost of the mechanism; the noise is the real one unless given."""
    return Kernel(counts, noise or Noise(), mechanism.cost(counts.domain, counts.unit))


def run(mechanism: Any, counts: Any, noise: Any = None, *progress: Any) -> Any:
    """What an offline mechanism releases."""
    return mechanism.run(kernel_for(mechanism, counts, noise), *progress)


def opened(mechanism: Any, counts: Any, noise: Any = None, earlier: Any = None) -> Any:
    """The first state of a session."""
    return mechanism.open(kernel_for(mechanism, counts, noise), earlier)


def answered(mechanism: Any, state: Any, question: Any, counts: Any, noise: Any = None) -> Any:
    """The next state of a session and its reply; every answer gets a kernel with the whole declared cost."""
    return mechanism.answer(state, question, kernel_for(mechanism, counts, noise))
