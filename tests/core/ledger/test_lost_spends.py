"""Each spend that an older copy lost is entered with what it took by itself, in the ways that it was priced for."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from core import Budget, Desk, Marginals, Unit
from core.ledger.ledger import Ledger
from core.privacy.budget import HalvedBudget
from core.privacy.events import Cost, Pure
from core.privacy.privacy_filter import Filters, Way
from tests.core.ledger.test_ledger import OTHER_BUDGET, UNIT, declared
from tests.core.people import DOMAIN, people

WHOLE = Budget(1, "1e-9")
OLDER = {
    "second version": Filters.of(HalvedBudget(WHOLE.epsilon, WHOLE.delta)),
    "first version": Filters({"order 7": Way(Fraction(1), 10**12)}),
}


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
    kept = sorted(entry.units for entry in desk.ledger.entries())
    assert kept == [statement.total // 8, statement.total // 4], "as they are kept, which a statement works out anew"
    desk.close()


def forgotten(place: Path, older: Filters) -> Ledger:
    """A ledger that was put back from before the only spend of an account that an older version had opened."""
    path, outside = place / "ledger.sqlite", place / "outside"
    ledger = Ledger(path, outside=outside)
    account = ledger.open_account(
        fingerprint="cd", unit_json=UNIT, budget_json=json.dumps(WHOLE.to_json()), filters=older
    )
    declared(ledger, "people", "cd")
    ledger.database.close()
    backup = path.read_bytes()
    with pytest.MonkeyPatch.context() as then:
        then.setattr(Ledger, "_renew_unused_accounts", lambda self: None)
        ledger = Ledger(path, outside=outside)
    amounts = older.amounts(Cost((Pure(Fraction(1, 10)),)))
    ledger.reserve(plan_id="p", dataset_id="people", plan_json="{}", amounts=amounts, account=account)
    ledger.database.close()
    path.write_bytes(backup)
    return Ledger(path, outside=outside)


@pytest.mark.parametrize("version", OLDER)
def test_an_account_that_seemed_unused_is_what_its_lost_spend_was_priced_for(version: str, tmp_path: Path) -> None:
    """Two divisions of delta for one account could be worth more than all of it."""
    older = OLDER[version]
    ledger = forgotten(tmp_path, older)
    assert ledger.account("cd").filters == Filters.of(WHOLE), "the copy took it for unused"
    ledger.enter_lost()
    account = ledger.account("cd")
    assert (account.filters, account.total) == (older, older.total)
    assert json.loads(account.sums) == older.amounts(Cost((Pure(Fraction(1, 10)),)))
    assert Ledger(tmp_path / "ledger.sqlite", outside=tmp_path / "outside").account("cd").filters == older


def test_an_account_with_another_budget_keeps_the_ways_of_that(tmp_path: Path) -> None:
    ledger, other = forgotten(tmp_path, OLDER["second version"]), Filters.of(Budget(2, "1e-9"))
    ledger.open_account(fingerprint="cd", unit_json=UNIT, budget_json=OTHER_BUDGET, filters=other)
    ledger.enter_lost()
    assert ledger.account("cd").filters == other
