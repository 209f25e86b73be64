"""The Data page: uploads that are no tables, or have hostile names."""

from __future__ import annotations

import io
import zipfile

import pytest

from core.desk.desk import Desk
from dashboard.views.data import unit_form
from tests.dashboard.pages.kit.data_page import choose_unit, edit
from tests.dashboard.pages.kit.elements import Open, button, errors, words

PEOPLE = b"person,age,ill\n1,34,yes\n2,51,no\n2,52,no\n"


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("secret.txt", "secret")
    return buffer.getvalue()


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02secret", zipped(), "a,b\nsécret,2\n".encode("utf-16"), b"a,a\n1,2\n", b"a,\n1,2\n"],
    ids=["empty", "bytes", "zip", "utf-16", "twice", "unnamed"],
)
def test_bad_upload_is_one_sentence_and_leaves_nothing(page: Open, desk: Desk, content: bytes) -> None:
    app = page()
    app.radio(key="source").set_value("Upload a file").run()
    app.file_uploader(key="upload").upload("table.csv", content, "text/csv").run()
    [error] = errors(app)
    assert error.endswith(".")
    assert "cret" not in words(app)
    assert list((desk.folder / "incoming").glob("*")) == []
    assert desk.tables() == []


@pytest.mark.exhaustive
def test_header_only_upload_is_refused_when_opened(page: Open, desk: Desk) -> None:
    app = page()
    app.radio(key="source").set_value("Upload a file").run()
    app.file_uploader(key="upload").upload("people.csv", b"age,ill\n", "text/csv").run()
    edit(app, {1: {"kind": "booleans"}})
    choose_unit(app, unit_form.ROW)
    button(app, "Open this table").click().run()
    [error] = errors(app)
    assert "no rows" in error
    assert desk.tables() == []


@pytest.mark.exhaustive
def test_upload_with_a_hostile_name(page: Open, desk: Desk) -> None:
    app = page()
    app.radio(key="source").set_value("Upload a file").run()
    app.file_uploader(key="upload").upload("../../people.csv", PEOPLE, "text/csv").run()
    assert not [error for error in errors(app) if "Column" not in error]
    edit(app, {0: {"include": False}, 2: {"kind": "booleans"}})
    choose_unit(app)
    button(app, "Open this table").click().run()
    assert not errors(app)
    [table] = desk.tables()
    assert (table.name, table.domain.names, table.notes["rows"]) == ("people", ("age", "ill"), 3)
    assert list((desk.folder / "incoming").glob("*")) == []
