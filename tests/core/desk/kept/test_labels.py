"""Names and places of tables and releases at the desk."""

from pathlib import Path

import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import BadParameter, Unknown
from core.desk.kept.labels import Label, Labels
from core.desk.kept.small_files import SmallFiles
from tests.core.people import DOMAIN, people


def test_a_label_is_kept_and_read_by_another(tmp_path: Path) -> None:
    labels = Labels(SmallFiles(tmp_path / "labels"))
    assert labels.of("a1") == Label()
    labels.rename("a1", " Visits \n2026 ")
    labels.archive("a1")
    kept = Labels(SmallFiles(tmp_path / "labels")).of("a1")
    assert kept.archived and kept.name.startswith("Visits") and "\n" not in kept.name
    labels.rename("a1", "")
    assert labels.of("a1") == Label(archived=True)
    with pytest.raises(BadParameter, match="name"):
        labels.rename("a1", "x" * 121)
    (tmp_path / "labels" / "b2.json").write_text('{"nonsense": 1}', encoding="utf-8")
    assert labels.of("b2") == Label()


@pytest.mark.exhaustive
def test_tables_and_releases_are_renamed_put_away_and_brought_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "workspace")
    held = desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=Budget(2), name="first")
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget("1/2"))
    made = desk.release(plan).zip()
    before = desk.statement(held)
    desk.rename(held.id, "Census")
    desk.rename(plan.id, "Draft")
    desk.archive(plan.id)
    assert (desk.tables()[0].name, desk.table(held.id).name, desk.labels.of(plan.id)) == (
        "Census",
        "Census",
        Label(name="Draft", archived=True),
    )
    desk.archive(held.id)
    assert (desk.tables(), [table.id for table in desk.tables(archived=True)]) == ([], [held.id])
    assert desk.statement(held) == before and desk.release(plan).zip() == made, "names and places change nothing else"
    desk.restore(held.id)
    assert [table.id for table in desk.tables()] == [held.id]
    desk.archive(held.id)
    again = desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=Budget(2))
    assert again.id == held.id and desk.tables() != [], "whoever adds it again wants it back"
    with pytest.raises(Unknown):
        desk.rename("0" * 16, "nobody's")
    desk.close()
