"""Acts on the Data page: a file is chosen, its schema is typed, a unit is chosen."""

from __future__ import annotations

from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from core.schema.domain import Categories, Domain, Integers
from dashboard.views.data import sources_form, unit_form

ROWS = 9_000
PEOPLE = pd.DataFrame({
    "person_id": range(ROWS),
    "age": [30, 45, 60] * (ROWS // 3),
    "region": ["north", "north", "south"] * (ROWS // 3),
    "width": [1.5, 20.0, 40.0] * (ROWS // 3),
})  # fmt: skip
CSV = PEOPLE.to_csv(index=False).encode()
SHARED = Domain((Integers(name="age", low=0, high=99), Categories(name="region", values=("north", "south"))))


def demo(app: AppTest) -> AppTest:
    """The first demo table, which is chosen as soon as somebody asks for one."""
    return app.radio(key="source").set_value(sources_form.DEMO_TABLE).run()


def choose_unit(app: AppTest, kind: str = unit_form.ID) -> AppTest:
    """For the table that is chosen, else for the demo table."""
    if not app.radio(key="source").value:
        demo(app)
    return next(radio for radio in app.radio if radio.key.startswith("unit-")).set_value(kind).run()


def edit(app: AppTest, lines: dict[int, dict[str, Any]]) -> AppTest:
    """Type into the schema's grid."""
    app.session_state[app.session_state["desk-session"].draft.key] = {"edited_rows": lines}
    return app.run()


def draft(app: AppTest) -> Any:
    return app.session_state["desk-session"].draft


def line(app: AppTest, name: str) -> dict[str, Any]:
    """One line of the schema's grid."""
    return draft(app).latest.set_index("name").loc[name].to_dict()


def uploaded(app: AppTest, name: str = "people.csv", content: bytes = CSV) -> AppTest:
    app.radio(key="source").set_value(sources_form.UPLOAD).run()
    return app.file_uploader(key="upload").upload(name, content).run()
