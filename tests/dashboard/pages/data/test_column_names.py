"""Columns that a file does not name, or names twice, are named on the page."""

from __future__ import annotations

import pytest

from core.desk.desk import Desk
from dashboard.views.data import unit_form
from tests.dashboard.pages.kit.data_page import choose_unit, draft, line, uploaded
from tests.dashboard.pages.kit.elements import Open, button


@pytest.mark.exhaustive
def test_a_column_without_a_name_is_named_and_read_by_it(page: Open, desk: Desk) -> None:
    content = b",age,mark,mark\n" + b"".join(b"%d,%d,%d,x\n" % (place, place % 90, place % 5) for place in range(50))
    app = uploaded(page("data"), content=content)
    assert "column_3" in draft(app).latest["name"].tolist()
    fields = [each for each in app.text_input if each.label.startswith("Name of column_")]
    assert [each.label.replace("\\", "") for each in fields] == [
        "Name of column_1, the first", "Name of column_3, after 'age'", "Name of column_4, after 'column_3'",
    ]  # fmt: skip
    fields[1].set_value("age").run()
    assert draft(app).names == {}, "another column is called so"
    next(each for each in app.text_input if each.label.startswith("Name of column_3")).set_value("score").run()
    assert draft(app).names == {"column_3": "score"}
    assert line(app, "score")["include"]
    assert (line(app, "score")["low"], line(app, "score")["high"]) == ("0", "100"), "what such a name suggests"
    choose_unit(app, unit_form.ROW)
    button(app, "Open this table").click().run()
    [table] = desk.tables()
    assert table.domain.names == ("age", "score")
    assert table.notes["misfits"] == {"age": 0, "score": 0}
