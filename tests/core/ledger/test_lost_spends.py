"""Each spend that an older copy lost is entered with what it took by itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core import Budget, Desk, Marginals, Unit
from tests.core.people import DOMAIN, people


def test_each_lost_spend_has_its_own_share(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "workspace", journal=tmp_path / "outside")
    table = desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=Budget(2))
    shutil.copytree(tmp_path / "workspace", tmp_path / "backup")
    for epsilon in ("1/4", "1/2"):
        desk.release(desk.plan(table, [Marginals(order=1)], mechanism="laplace", budget=Budget(epsilon)))
    desk.close()
    shutil.rmtree(tmp_path / "workspace")
    shutil.copytree(tmp_path / "backup", tmp_path / "workspace")
    desk = Desk(tmp_path / "workspace", journal=tmp_path / "outside")
    desk.enter_lost()
    statement = desk.statement(desk.tables()[0])
    shares = sorted(entry.units / statement.total for entry in statement.entries)
    assert shares == pytest.approx([0.125, 0.25])
    assert statement.spent_share == pytest.approx(sum(shares))
    desk.close()
