"""What a mechanism is: a frozen description that knows its cost without data and runs without accounting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from core.base.wording import rows
from core.kernel.kernel import Kernel
from core.models.protocol import Model
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

Progress = Callable[[str, float], None]
"""Called with a stage in plain words and the share of the work done; never with anything computed from data."""


def silent(stage: str, share: float) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Error to expect, known before anything is spent."""

    mean: float
    """Mean absolute error, in rows."""
    worst: float
    """All that it speaks of stays within this many rows of the truth, 95 % of the time."""
    about: str
    """What the two figures speak of."""

    def sentence(self) -> str:
        return f"{self.about}: ±{rows(self.mean)} on average; all within ±{rows(self.worst)}, 95 % of the time."


class Mechanism(Protocol):
    """A way to release query classes within a budget."""

    name: ClassVar[str]
    title: ClassVar[str]
    known_as: ClassVar[tuple[str, ...]]
    """What the field calls it, or what it is a case of."""
    prefer: ClassVar[str]
    """One sentence: when to choose this one."""
    for_study: ClassVar[bool]
    """Whether it is here for its theorem rather than for its errors: others were more exact nearly everywhere."""

    @property
    def queries(self) -> tuple[QueryClass, ...]: ...

    @property
    def budget(self) -> Budget: ...

    def check(self, domain: Domain, unit: Unit) -> None:
        """Refuse, naming the parameter and what would work, before anything is spent."""

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        """What running on any table of this schema costs."""

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        """The error of what is *measured*, from public facts only: what the choice between kinds of noise rests on.

        People are told of the questions that were chosen instead (`planning/simulation/expected_error.py`).
        """

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Roughly how long a run takes on a table of a million rows, from public facts only; a figure knows better."""

    def run(self, kernel: Kernel, progress: Progress = silent) -> Model:
        """Release; the kernel is all it gets to see of the private table."""
