"""Decisions at the desk: paid once, the same bytes again, finished after a kill, never drawn twice."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from core.base.errors import BadParameter, DeskError, Failed, OutOfBudget, Refused
from core.desk.desk import Desk
from core.kernel.kernel import Kernel
from core.plans.decision_plan import DecisionPlan
from core.plans.decision_terms import DecisionTerms
from core.plans.statements import DeskTable
from core.plans.terms import is_decision, is_release, read_terms
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.release.decision_release import DecisionRelease
from core.schema.domain import Categories, Domain

NAMES = ("=p", "q", "r")
DOMAIN = Domain((Categories(name="from", values=NAMES), Categories(name="to", values=NAMES)))
CALLS = pd.DataFrame({"from": ["=p", "=p", "q", "odd"], "to": ["q", "r", "q", "r"]})
ENDS = {"columns": ["from", "to"]}
WHAT = {"public": ENDS, "budget": Budget("0.5")}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "w", journal=tmp_path / "j")


@pytest.fixture
def calls(desk: Desk) -> DeskTable:
    return desk.add_table(CALLS, DOMAIN, unit=Unit.row(), budget=Budget(1), name="calls")


def test_a_decision_is_paid_once_and_stays_the_same(desk: Desk, calls: DeskTable, tmp_path: Path) -> None:
    plan = desk.plan_decision(calls, "min-cut", **WHAT)
    assert desk.affordable(plan) and desk.progress(plan.id).state == "unpaid"
    assert desk.decision(plan.id) is None
    decided = desk.decide(calls, "min-cut", **WHAT)
    assert desk.statement(calls).left_epsilon == pytest.approx(0.5)
    again = Desk(tmp_path / "w", journal=tmp_path / "j")
    assert (
        again.decide(calls.id, "min-cut", public={"columns": ("from", "to")}, budget=Budget("1/2")).zip()
        == decided.zip()
    )
    assert again.statement(calls.id).left_epsilon == pytest.approx(0.5)
    assert desk.result(plan.id) is None, "a decision is no release"
    stored = desk.decision(plan.id)
    assert stored is not None and stored.zip() == decided.zip()
    [entry] = desk.statement(calls).entries
    assert is_decision(entry) and not is_release(entry)
    assert isinstance(read_terms(entry.plan_json), DecisionTerms)


def test_what_is_stored_says_what_is_promised(desk: Desk, calls: DeskTable) -> None:
    plan = desk.plan_decision(calls, "min-cut", **WHAT)
    stored = desk.decide(calls, "min-cut", **WHAT)
    certificate = stored.certificate
    assert (certificate["plan"], certificate["epsilon"], certificate["problem"]) == (plan.id, 0.5, "min-cut")
    assert certificate["guarantee"] == plan.guarantee
    assert (certificate["public"], certificate["spend"]) == (ENDS, 1)
    assert stored.domain == DOMAIN
    assert list(stored.lines().columns) == ["vertex", "part"]
    assert json.loads(stored.json())["lines"] == stored.lines().to_dict("records")
    # A name that a spreadsheet would run as a formula does not begin a cell.
    assert "'=p" in stored.csv().decode()
    with pytest.raises(DeskError):
        DecisionRelease(b"x").json()


def test_a_fresh_edition_is_paid_again(desk: Desk, calls: DeskTable) -> None:
    desk.decide(calls, "min-cut", **WHAT)
    desk.decide(calls, "min-cut", **WHAT, edition=2)
    with pytest.raises(OutOfBudget):
        desk.decide(calls, "min-cut", **WHAT, edition=3)
    assert len(desk.statement(calls).entries) == 2


def test_mistakes_spend_nothing(desk: Desk, calls: DeskTable) -> None:
    for public in ({"columns": ["from"]}, {**ENDS, "budget": 3}, {**ENDS, "weight": object()}):
        with pytest.raises(DeskError):
            desk.decide(calls, "min-cut", public=public, budget=Budget(1))
    with pytest.raises(Refused, match="48"):
        desk.decide(calls, "facility-location", public={}, budget=Budget(1))
    assert not desk.statement(calls).entries


def test_a_run_that_stops_before_its_noise_is_finished_for_nothing(desk: Desk, calls: DeskTable, monkeypatch) -> None:
    plan = desk.plan_decision(calls, "min-cut", **WHAT)
    with monkeypatch.context() as patch:
        patch.setattr(Kernel, "choose", lambda *_: 1 / 0)
        with pytest.raises(Failed, match="paid for"):
            desk.decide(calls, "min-cut", **WHAT)
    assert desk.progress(plan.id).state == "stopped"
    assert desk.resume() == [plan.id]
    desk.close()
    assert desk.decision(plan.id) is not None
    assert desk.statement(calls).left_epsilon == pytest.approx(0.5)


def test_a_run_that_stops_after_its_noise_has_ended(desk: Desk, calls: DeskTable, monkeypatch) -> None:
    plan = desk.plan_decision(calls, "min-cut", **WHAT)
    with monkeypatch.context() as patch:
        patch.setattr(Kernel, "measure", lambda *_: 1 / 0)
        with pytest.raises(Failed, match="fresh edition"):
            desk.decide(calls, "min-cut", **WHAT)
    assert desk.progress(plan.id).state == "ended"
    assert desk.decision(plan.id) is None and desk.result(plan.id) is None
    with pytest.raises(Failed):
        desk.decide(calls, "min-cut", **WHAT)


def test_in_the_background_and_shared(desk: Desk, calls: DeskTable) -> None:
    plan = desk.plan_decision(calls, "vertex-cover", **WHAT)
    assert desk.submit(plan) == plan.id
    desk.close()
    assert desk.progress(plan.id).state == "done"
    assert desk.share(plan.id, title="Cover").kind == "decision"


def test_a_plan_that_lies_about_its_price_is_refused(desk: Desk, calls: DeskTable) -> None:
    plan = desk.plan_decision(calls, "min-cut", **WHAT)
    facts = {name: getattr(plan, name) for name in plan.__dataclass_fields__}
    cheap = DecisionPlan(**{**facts, "cost": Cost(()), "amounts": dict.fromkeys(plan.amounts, 0)})
    with pytest.raises(Refused, match="another price"):
        desk.submit(cheap)
    assert DecisionTerms.read(plan.content).id == plan.id
    with pytest.raises(BadParameter):
        DecisionTerms.from_json({"kind": "decision"})
