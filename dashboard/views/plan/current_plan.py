"""The plan under work, which the Release page reads: it lasts as long as the fields hold what it was made from."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from dashboard.views.common.state import SESSION, PageState


def drop_if_changed(here: PageState, table: DeskTable) -> None:
    """Until every field is right there is no plan, here and on the Release page.

    A page that runs again because trials ended, and is left in the middle of that, has the same fields and so the
    same plan. Fields that were not reached yet, or are new, say nothing: they follow from others.
    """
    typed = _typed()
    if any(typed.get(key, value) != value for key, value in here.typed.get(table.id, {}).items()):
        here.planned.pop(table.id, None)


def keep(here: PageState, table: DeskTable, plan: ReleaseTerms) -> None:
    here.planned[table.id] = plan
    here.typed[table.id] = _typed()


def _typed() -> dict[str, Any]:
    return {str(key): value for key, value in st.session_state.items() if key != SESSION}
