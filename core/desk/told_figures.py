"""What is told of a plan before it is paid for: figures from public facts, with what this workspace has published.

**Privacy** Stand-ins are records of releases that were paid for, a sample that the curator calls public, or invented;
the number of rows is declared, public by the unit of privacy, or that of an earlier release. The table is never opened.
A certificate carries the figure that the desk itself made and kept, never one that comes with a plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

import pandas as pd

from core.base.errors import DeskError
from core.desk.tables.known_row_numbers import KnownRows
from core.ledger.ledger import Entry, Ledger
from core.planning.simulation.expected_error import Figure
from core.planning.simulation.kept_trials import Apart, Figures, here, settle
from core.planning.simulation.look_alike import ColumnSketch
from core.planning.simulation.stand_ins import FIRST_GUESS, StandIns
from core.plans.pricing import PricedRelease
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.plans.terms import is_release
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass
from core.release.release import Release
from core.table.stand_in import StandIn

OPEN_RELEASES = 4


class ToldFigures:
    """Figures of one workspace."""

    def __init__(self, folder: Path, ledger: Ledger, rows: KnownRows, apart: Apart = here) -> None:
        self.figures = Figures(folder / "figures", apart)
        self._told = folder / "figures"
        self._ledger = ledger
        self._rows = rows
        self._records = lru_cache(maxsize=OPEN_RELEASES)(self._read_records)

    def stand_ins(
        self,
        table: DeskTable,
        queries: Sequence[QueryClass],
        *,
        rows: int | None = None,
        sample: pd.DataFrame | None = None,
        sketch: ColumnSketch | None = None,
    ) -> StandIns:
        """Public tables in the place of this one, over the columns that are asked about.

        A public sample where one is given, else the records of an earlier release of these columns, else look-alikes,
        of as many rows as are declared, public, or were released.
        """
        domain, unit = asked_columns(queries, table.domain), table.unit
        earlier = self._earlier(table, domain.names)
        if rows is None:
            rows = self._rows.of(table) or FIRST_GUESS
        if sample is not None:
            given = StandIn.of(sample, domain, unit)
            return StandIns.from_samples(domain, unit, max(1, rows), [given], "rows drawn from the public sample")
        if earlier is not None and not sketch:
            records = StandIn.of(self._records(earlier.plan_id), domain, unit)
            return StandIns.from_samples(domain, unit, max(1, rows), [records], "records of an earlier release")
        return StandIns.of(domain, unit, max(1, rows), {k: v for k, v in (sketch or {}).items() if k in domain})

    def tell(self, priced: PricedRelease, stand_ins: StandIns) -> Figure:
        """A first figure, kept as what was told of this plan."""
        figure = self.figures.told(priced.mechanism, stand_ins)
        self.keep(priced.id, figure)
        return figure

    def refine(self, priced: PricedRelease, stand_ins: StandIns) -> Iterator[Figure]:
        """Better and better figures of a plan, each kept as what was told; whoever stops loses nothing."""
        for figure in self.figures.refined(priced.mechanism, stand_ins):
            self.keep(priced.id, figure)
            yield figure

    def told(self, priced: PricedRelease) -> Figure:
        """What was told of a plan, or would be."""
        try:
            return Figure(**json.loads(self._place(priced.id).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return self.tell(priced, self.stand_ins(priced.table, priced.terms.queries))

    def keep(self, plan_id: str, figure: Figure) -> None:
        """Remember what was told of a plan."""
        settle(self._place(plan_id), asdict(figure))

    def _place(self, plan_id: str) -> Path:
        return self._told / f"plan-{plan_id}.json"

    def _earlier(self, table: DeskTable, columns: Sequence[str]) -> Entry | None:
        """The release of these columns that had the largest budget."""
        found = [
            entry
            for entry in self._ledger.entries(dataset_id=table.id)
            if entry.status == "stored" and is_release(entry) and _covers(entry, table, columns)
        ]
        return max(found, key=lambda entry: ReleaseTerms.read(entry.plan_json).budget.epsilon, default=None)

    def _read_records(self, plan_id: str) -> pd.DataFrame:
        return Release(self._ledger.result(plan_id) or b"").records()


def _covers(entry: Entry, table: DeskTable, columns: Sequence[str]) -> bool:
    """Whether a release was asked about all of these columns; others are filled by chance."""
    try:
        asked = asked_columns(ReleaseTerms.read(entry.plan_json).queries, table.domain)
    except DeskError:
        return False
    return set(columns) <= set(asked.names)
