"""Which session a table gets where none is named: the one that does best on public tables like it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.base.errors import DeskError
from core.desk.tables.known_row_numbers import KnownRows
from core.desk.told_figures import ToldFigures
from core.planning.session_offers import proposed
from core.planning.session_trials import TRIED, SessionTrial, best_session, candidates, play
from core.planning.simulation.kept_trials import Apart, here
from core.plans.session_terms import chosen_columns, narrowed
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.marginals import Marginals


class SessionChoice:
    """Trials of sessions on what is public of a table; nothing private is looked at."""

    def __init__(self, figures: ToldFigures, rows: KnownRows, apart: Apart = here) -> None:
        self._figures = figures
        self._rows = rows
        self._apart = apart

    def trial(
        self,
        table: DeskTable,
        budget: Budget,
        columns: Sequence[str] | None,
        mechanism: str | None,
        options: Mapping[str, Any],
    ) -> SessionTrial:
        """Of a session that is named, with these options and those that the desk would propose, or of the best."""
        names = chosen_columns(columns, table.domain) or table.domain.names
        stand_ins = self._figures.stand_ins(table, [Marginals(order=1, columns=tuple(names))])
        if mechanism is None:
            found: SessionTrial = self._apart(best_session, self.candidates(table, budget, columns), budget, stand_ins)
            return found
        added = proposed(mechanism, budget, options, stand_ins.domain, stand_ins.unit)
        played: SessionTrial = self._apart(play, mechanism, budget, {**added, **options}, stand_ins)
        return played

    def usual(self, table: DeskTable, budget: Budget, asked: dict[str, Any], paid: Callable[[str], bool]) -> str:
        """The best session's name; where one of them was paid by the same call before, that one's.

        What is public of a table grows, so trials may come out differently later: the same call must not pay twice.
        """
        tried = self.candidates(table, budget, asked["columns"])
        for name in dict.fromkeys((*tried, *TRIED)):
            try:
                if paid(name):
                    return name
            except DeskError:
                continue  # it cannot be opened with what was asked for, so it was not
        return next(iter(tried)) if len(tried) == 1 else self.trial(table, budget, asked["columns"], None, {}).name

    def candidates(
        self, table: DeskTable, budget: Budget, columns: Sequence[str] | None
    ) -> dict[str, Mapping[str, Any]]:
        """Sessions between which trials decide; one where none are needed."""
        domain = narrowed(table.domain, chosen_columns(columns, table.domain))
        return candidates(domain, table.unit, budget, rows_known=self._rows.of(table) is not None)
