"""No page shows a Python object, an internal unit, a fingerprint or an id to people."""

from __future__ import annotations

import re

import pytest

from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from tests.dashboard.listed import PAGES
from tests.dashboard.pages.kit.elements import Open, errors, words
from tests.dashboard.pages.test_accuracy import people  # noqa: F401

UNSEEMLY = {
    "a Python object": r"\b[A-Z]\w+\(\w+=|<\w+ object|\bFraction\(|\bNone\b|dict_keys|\barray\(",
    "a fingerprint or an id": r"\b[0-9a-f]{24,}\b",
    "internal units": r"\d units\b",
    "a traceback": r"Traceback|File \"",
}


def told(app: object) -> str:
    grids = [frame.value.to_csv() for frame in app.dataframe]  # type: ignore[attr-defined]
    tables = [table.value.to_csv() for table in app.table]  # type: ignore[attr-defined]
    metrics = [f"{each.label} {each.value}" for each in app.metric]  # type: ignore[attr-defined]
    return "\n".join([words(app), *grids, *tables, *metrics])  # type: ignore[arg-type]


@pytest.mark.parametrize(("seen", "text"), [
    ("a Python object", "Override(fingerprint='x')"),
    ("a Python object", "at most None rows"),
    ("a fingerprint or an id", "f" * 32),
    ("internal units", "661,961,452,264 units"),
])  # fmt: skip
def test_the_check_notices(seen: str, text: str) -> None:
    assert re.search(UNSEEMLY[seen], text)


@pytest.mark.slow
def test_pages_speak_to_people(page: Open, desk: Desk, people) -> None:  # noqa: F811
    plan = desk.plan(people, [Marginals(order=2)], mechanism="laplace", budget=Budget(1))
    desk.release(plan)
    desk.share(plan.id, title="People")
    desk.ask(people, mechanism="online-laplace", budget=Budget(1), questions=5)
    desk.change_budget(people, Budget(901), reason="a larger survey")
    assert desk.table(people.id).unit == Unit.row()
    app = page("data")
    for name in PAGES:
        app = app.switch_page(f"steps/{name}.py").run()
        assert not errors(app), name
        said = told(app)
        for kind, pattern in UNSEEMLY.items():
            found = re.search(pattern, said)
            assert found is None, f"{name} shows {kind}: {found[0] if found else ''}"
