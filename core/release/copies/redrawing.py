"""Synthetic copies: what the same mechanism makes of tables that the private one may be, with noise as large again.

**Privacy** Post-processing. A copy is made from its origin, which is drawn from the released model (`plausible.py`),
with simulated noise; the table is not seen and nothing is spent, however many copies there are.

**Accuracy** Copies are off their origins as the release is off the table, and origins off the release as the table may
be (`combining.py`): a parametric bootstrap (Ferrando, Wang and Sheldon 2022). As records they are worse than those of
the release, because they have the noise twice.

**Runtime** one more run of the mechanism for each copy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.base.arrays import Codes
from core.base.unexpected import noted
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Mechanism
from core.models.points import Points
from core.models.protocol import Model
from core.models.widened import widened
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.privacy.unit import Unit
from core.release.copies import combining
from core.release.copies.plausible import plausible
from core.release.drawn import Drawn, draw_records
from core.release.lawful import Lawful, records_for
from core.table.stand_in import StandIn

Again = Callable[[np.random.Generator], tuple[Codes, Model]]
"""Records that the table may be, and what the mechanism makes of them."""
ORIGIN, COPY = "copies/origin", "copies/synthetic"
MAIN = '''

def main() -> None:
    """Means of all columns of numbers, with intervals about the table."""
    from pathlib import Path

    import pandas as pd

    folder = Path(__file__).resolve().parent
    records = pd.read_parquet(folder / "synthetic.parquet")
    copies = [pd.read_parquet(path) for path in sorted(folder.glob("copies/synthetic-*.parquet"))]
    origins = [pd.read_parquet(path) for path in sorted(folder.glob("copies/origin-*.parquet"))]

    def statistic(frame: pd.DataFrame) -> pd.Series:
        """Write your own here: any numbers that a data frame gives."""
        return frame.mean(numeric_only=True)

    released = statistic(records)
    several = [[statistic(frame)[released.index] for frame in frames] for frames in (copies, origins)]
    found = combine(released, *several)
    columns = {"estimate": found.estimate, "error": found.error, "low": found.low, "high": found.high}
    print(pd.DataFrame(columns, index=released.index).to_string())
    print(found.limit)


if __name__ == "__main__":
    main()
'''


@dataclass(frozen=True, eq=False)
class Redrawing:
    """How a release is made once more from itself."""

    mechanism: Mechanism
    unit: Unit
    released: Model
    """The model over the columns that the mechanism sees."""
    most: int
    """Records that are drawn from it at most."""

    def __call__(self, generator: np.random.Generator) -> tuple[Codes, Model]:
        domain = self.released.domain
        rows = min(records_for(domain, self.released.total), self.most)
        codes = Lawful.of(domain).records(plausible(self.released, rows, generator), generator)
        kernel = Kernel(
            StandIn(domain, codes, self.unit), SimulatedNoise(generator), self.mechanism.cost(domain, self.unit)
        )
        return codes, self.mechanism.run(kernel)


def draw_copies(
    again: Again, number: int, drawn: Drawn, generator: np.random.Generator, progress: Callable[[float], None]
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """So many origins with their copies, or fewer where one fails: what was paid for is the release, which stays."""
    domain, rows, layout = drawn.model.domain, len(drawn.records), [str(name) for name in drawn.records]
    for made in range(number):
        progress(made / number)
        try:
            codes, model = again(generator)
            origin = Points(model.domain, codes, np.ones(len(codes)))
            both = [widened(domain, each) for each in (origin, model)]
            frames = [draw_records(each, rows, layout, generator)[1] for each in both]
            yield frames[0], frames[1]
        except Exception as problem:
            noted(problem)
            return


def combining_script() -> str:
    """The combining rules as a script that needs no Release Desk."""
    return inspect.getsource(combining) + MAIN
