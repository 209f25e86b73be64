"""A plan is a request: whatever is written into it, what runs is what the ledger charged for, or nothing runs.

Every field of a plan for a release, a session or a decision is forged. Each time either a sentence refuses it, nothing
is spent and no noise is drawn; or it is another plan, which pays its own price: the noise that is drawn costs no more
than the charge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import BadParameter, DeskError, Failed, OutOfBudget, Refused
from core.kernel.query import Query
from core.plans.canonical import canonical, identity
from core.plans.decision_plan import DecisionPlan
from core.plans.plan import Plan
from core.plans.plan_file import read_plan_file, write_plan_file
from core.plans.session_plan import SessionPlan
from core.privacy import accounting
from core.privacy.events import Cost, Laplace
from core.sessions.pace import Pace
from tests.privacy.kit.pipeline import Answers, answered_by
from tests.privacy.kit.sources import DOMAIN, FORMATS, neighbours

ROW, TOTAL, CHEAP, DEAR = Unit.row(), Budget(2), Budget("0.01"), Budget(900)
ONE_COLUMN = (Marginals(order=1, columns=("a",)),)
QUESTION = Query(columns=("a",), weights=np.array([0, 1, 1, 0]))


class LyingBudget(Budget):
    """Says one thing where it is written down and another where it is used."""

    def to_json(self) -> dict[str, str]:
        return CHEAP.to_json()


def forced(epsilon: int) -> Budget:
    """A budget that its own checks would refuse."""
    made = Budget(1)
    object.__setattr__(made, "epsilon", Fraction(epsilon))
    return made


class Other:
    """Stands for the id of another table, of bought suggestions or of a session, which tests fill in."""


OTHER_TABLE, SUGGESTIONS, OTHER_RELEASE = Other(), Other(), Other()

PLAN: list[tuple[str, Any, str]] = [
    ("table", OTHER_TABLE, "paid"),
    ("table", SUGGESTIONS, "refused"),
    ("table", "0" * 16, "refused"),
    ("table", 5, "refused"),
    ("queries", (Marginals(order=2, columns=("a", "b")),), "paid"),
    ("queries", (), "refused"),
    ("queries", ("marginals",), "refused"),
    ("mechanism", "histogram", "paid"),
    ("mechanism", "online-laplace", "refused"),
    ("mechanism", ["laplace"], "refused"),
    ("budget", DEAR, "refused"),
    ("budget", Budget("0.02"), "refused"),
    ("budget", LyingBudget(900), "paid"),
    ("budget", forced(-1), "refused"),
    ("budget", 900, "refused"),
    ("options", {"budget": DEAR}, "refused"),
    ("options", {"budget": DEAR.to_json()}, "refused"),
    ("options", {"queries": []}, "refused"),
    ("options", {"sharpness": 9}, "refused"),
    ("options", 7, "refused"),
    ("records", 12, "paid"),
    ("records", 10**9, "refused"),
    ("records", True, "refused"),
    ("measure", Fraction(1, 50), "paid"),
    ("measure", Fraction(1, 2), "refused"),
    ("measure", Fraction(-1, 50), "refused"),
    ("measure", "much", "refused"),
    ("copies", 2, "paid"),
    ("copies", 10**6, "refused"),
    ("copies", -1, "refused"),
    ("copies", "2", "refused"),
    ("copies", True, "refused"),
    ("edition", 2, "paid"),
    ("edition", "2", "refused"),
    ("edition", None, "refused"),
    ("cost", Cost(()), "paid"),
    ("amounts", {}, "refused"),
    ("amounts", {"pure": 0}, "refused"),
    ("amounts", {"pure": -(10**12)}, "refused"),
    ("amounts", None, "refused"),
    ("units", 0, "paid"),
    ("units", "1", "paid"),
    ("expected_error", None, "paid"),
]
SESSION: list[tuple[str, Any, str]] = [
    *(forged for forged in PLAN if forged[0] in ("table", "budget", "edition", "cost", "amounts", "units")),
    ("mechanism", "online-histogram", "refused"),
    ("mechanism", "laplace", "refused"),
    ("options", {"budget": DEAR}, "refused"),
    ("options", {"budget": DEAR.to_json()}, "refused"),
    ("options", {"questions": 4}, "paid"),
    ("columns", ("a",), "paid"),
    ("columns", ("c", "a"), "paid"),
    ("columns", ("salary",), "refused"),
    ("columns", "a", "refused"),
    ("earlier", "0" * 32, "refused"),
    ("earlier", OTHER_RELEASE, "refused"),
    ("expected_error", None, "paid"),
    ("hard_answers", 10**6, "paid"),
]


PROJECTS = {"columns": ["a", "b", "c"], "k": 2}
DECISION: list[tuple[str, Any, str]] = [
    *(forged for forged in PLAN if forged[0] in ("table", "budget", "edition", "cost", "amounts", "units")),
    ("mechanism", "projects-exact", "paid"),
    ("mechanism", "laplace", "refused"),
    ("mechanism", 7, "refused"),
    ("public", {"columns": ["b", "c"], "k": 1}, "paid"),
    ("public", {"columns": ["b", "salary"], "k": 1}, "refused"),
    ("public", {**PROJECTS, "budget": DEAR.to_json()}, "refused"),
    ("public", {**PROJECTS, "unit": "none"}, "refused"),
    ("public", 7, "refused"),
    ("guarantee", "Nobody is harmed.", "paid"),
]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = Desk(tmp_path / "desk", pace=Pace(sleep=lambda _: None))
    yield opened
    opened.close()


def table(desk: Desk, tmp_path: Path, place: int = 0) -> Any:
    return desk.add_table(FORMATS["frame"](neighbours(ROW, "last")[place], tmp_path), DOMAIN, unit=ROW, budget=TOTAL)


def plan_of(desk: Desk, held: Any, budget: Budget = CHEAP) -> Plan:
    return desk.plan(held, ONE_COLUMN, mechanism="laplace", budget=budget)


def session_plan_of(desk: Desk, held: Any, budget: Budget = CHEAP) -> SessionPlan:
    return desk.plan_session(held, mechanism="online-laplace", budget=budget, columns=("a", "b"), questions=3)


def decision_plan_of(desk: Desk, held: Any, budget: Budget = CHEAP) -> DecisionPlan:
    return desk.plan_decision(held, "projects", public=PROJECTS, budget=budget)


def stood_for(desk: Desk, tmp_path: Path, value: Any) -> Any:
    if not isinstance(value, Other):
        return value
    other = table(desk, tmp_path, place=1)
    if value is OTHER_TABLE:
        return other.id
    if value is OTHER_RELEASE:
        release = plan_of(desk, other)
        desk.release(release)
        return release.id
    source = FORMATS["frame"](neighbours(ROW, "last")[0], tmp_path)
    desk.discover(source, {"a": "number"}, unit=ROW, total=TOTAL, part=CHEAP)
    return next(found.id for found in desk.ledger.datasets() if found.id not in {held.id for held in desk.tables()})


def spent(desk: Desk) -> int:
    return sum(entry.units for entry in desk.ledger.entries())


def outcome(desk: Desk, use: Callable[[], object]) -> str:
    """Whether it was refused for nothing, or paid for what it drew; anything else fails."""
    before, answers = spent(desk), Answers(1)
    with answered_by(answers):
        try:
            use()
        except DeskError as problem:
            assert "\n" not in str(problem)
            assert spent(desk) == before
            assert not answers.calls
            return "refused"
    assert 0 < accounting.units(answers.cost(), None) <= spent(desk) - before
    return "paid"


def test_every_field_is_forged() -> None:
    assert {name for name, _, _ in PLAN} == {each.name for each in fields(Plan)}
    assert {name for name, _, _ in SESSION} == {each.name for each in fields(SessionPlan)}
    assert {name for name, _, _ in DECISION} == {each.name for each in fields(DecisionPlan)}


@pytest.mark.crossing(keep=1, each="name")
@pytest.mark.parametrize(("name", "value", "expected"), PLAN)
def test_a_forged_plan(desk: Desk, tmp_path: Path, name: str, value: Any, expected: str) -> None:
    forged = replace(plan_of(desk, table(desk, tmp_path)), **{name: stood_for(desk, tmp_path, value)})
    assert outcome(desk, lambda: desk.release(forged)) == expected
    if expected == "paid":
        entry = desk.ledger.entries()[0]
        assert entry.plan_id == identity(entry.plan_json)
        assert desk.release(forged).certificate.epsilon == float(CHEAP.epsilon)


@pytest.mark.crossing(keep=1, each="name")
@pytest.mark.parametrize(("name", "value", "expected"), SESSION)
def test_a_forged_session(desk: Desk, tmp_path: Path, name: str, value: Any, expected: str) -> None:
    forged = replace(session_plan_of(desk, table(desk, tmp_path)), **{name: stood_for(desk, tmp_path, value)})
    assert outcome(desk, lambda: desk.open_session(forged).answer(QUESTION)) == expected
    if expected == "paid":
        opened = desk.open_session(forged)
        assert opened.budget == CHEAP
        assert opened.summary().limit == opened.mechanism.hard_answers(opened.domain, ROW)


@pytest.mark.crossing(keep=1, each="name")
@pytest.mark.parametrize(("name", "value", "expected"), DECISION)
def test_a_forged_decision(desk: Desk, tmp_path: Path, name: str, value: Any, expected: str) -> None:
    right = decision_plan_of(desk, table(desk, tmp_path))
    forged = replace(right, **{name: stood_for(desk, tmp_path, value)})
    assert outcome(desk, lambda: desk.finish(desk.submit(forged))) == expected
    if expected == "paid":
        stored = desk.decision(desk.ledger.entries()[0].plan_id)
        assert stored is not None
        assert stored.certificate["epsilon"] == float(CHEAP.epsilon)
        assert stored.certificate["guarantee"] != "Nobody is harmed."


@pytest.mark.parametrize("make", [plan_of, session_plan_of, decision_plan_of])
def test_an_id_or_text_of_ones_own_is_ignored(desk: Desk, tmp_path: Path, make: Callable[..., Any]) -> None:
    held = table(desk, tmp_path)
    dear, cheap = make(desk, held, Budget(1)), make(desk, held)
    own = cheap.id
    vars(cheap)["id"], vars(cheap)["content"] = dear.id, dear.content
    assert outcome(desk, lambda: desk.submit(cheap) and desk.close()) == "paid"
    assert [entry.plan_id for entry in desk.ledger.entries()] == [own]


def test_a_plan_that_changes_while_it_is_paid_runs_as_it_was_paid(desk: Desk, tmp_path: Path) -> None:
    plan = plan_of(desk, table(desk, tmp_path))
    reserve = desk.ledger.reserve

    def slowly(**parts: Any) -> Any:
        entry = reserve(**parts)
        object.__setattr__(plan, "budget", DEAR)
        return entry

    desk.ledger.reserve = slowly  # type: ignore[method-assign]
    assert outcome(desk, lambda: desk.release(plan)) == "paid"
    assert [json.loads(entry.plan_json)["budget"] for entry in desk.ledger.entries()] == [CHEAP.to_json()]


def test_the_wrong_kind_of_plan_spends_nothing(desk: Desk, tmp_path: Path) -> None:
    held = table(desk, tmp_path)
    uses: list[Callable[[], object]] = [
        lambda: desk.release(session_plan_of(desk, held)),  # type: ignore[arg-type]
        lambda: desk.open_session(plan_of(desk, held)),  # type: ignore[arg-type]
        lambda: desk.submit(plan_of(desk, held).without_table()),  # type: ignore[arg-type]
        lambda: desk.release(None),  # type: ignore[arg-type]
    ]
    assert [outcome(desk, use) for use in uses] == ["refused"] * len(uses)


@pytest.mark.parametrize("make", [plan_of, session_plan_of])
def test_an_entry_that_paid_too_little_never_runs(desk: Desk, tmp_path: Path, make: Callable[..., Any]) -> None:
    """Whoever writes to the ledger by hand, or paid a version with other prices, gets no noise for it."""
    held = table(desk, tmp_path)
    plan = make(desk, held, Budget(1))
    account = desk.ledger.account(desk.ledger.dataset(held.id).fingerprint)
    paid = {"pure": (plan.amounts["pure"] or 0) - 1}
    desk.ledger.reserve(plan_id=plan.id, dataset_id=held.id, plan_json=plan.content, amounts=paid, account=account)
    use = desk.release if isinstance(plan, Plan) else desk.open_session
    answers = Answers(1)
    with answered_by(answers), pytest.raises(Failed, match="costs more than was paid"):
        use(plan)
    assert not answers.calls


def test_an_open_session_whose_price_rose_answers_nothing_more(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = table(desk, tmp_path)
    opened = desk.open_session(session_plan_of(desk, held))
    first = opened.answer(QUESTION)
    kind, cost = type(opened.mechanism), type(opened.mechanism).cost
    monkeypatch.setattr(kind, "cost", lambda self, domain, unit: cost(self, domain, unit) + cost(self, domain, unit))
    again = Desk(desk.folder, pace=Pace(sleep=lambda _: None))
    answers = Answers(1)
    with answered_by(answers), pytest.raises(Refused, match="costs more than was paid"):
        again.session(opened.id).answer(Query(columns=("a",), weights=np.array([1, 1, 0, 0])))
    assert not answers.calls
    assert again.session(opened.id).transcript() == [first], "what was answered stays readable"
    again.close()


def test_an_account_that_changed_since_has_another_price(desk: Desk, tmp_path: Path) -> None:
    source = FORMATS["frame"](neighbours(ROW, "last")[0], tmp_path)
    held = desk.add_table(source, DOMAIN, unit=ROW, budget=Budget(2, "1e-9"))
    plan = desk.plan(held, ONE_COLUMN, mechanism="gaussian", budget=Budget(1, "1e-9"))
    desk.add_table(source, DOMAIN, unit=ROW, budget=Budget(5, "1e-6"))
    assert outcome(desk, lambda: desk.release(plan)) == "refused"
    desk.release(desk.plan(held, ONE_COLUMN, mechanism="gaussian", budget=Budget(1, "1e-9")))


@pytest.mark.parametrize(
    "name", ["units", "cost", "id", "table", "unit", "account", "priced_for", "edition", "kind", "expected_error"]
)
def test_a_plan_file_says_nothing_about_its_price(desk: Desk, tmp_path: Path, name: str) -> None:
    content = json.loads(write_plan_file(plan_of(desk, table(desk, tmp_path))))
    with pytest.raises(BadParameter, match=f"{name}: is not a part of a plan"):
        read_plan_file(canonical(content | {name: 1}))


def test_a_plan_file_with_another_budget_pays_for_it(desk: Desk, tmp_path: Path) -> None:
    held = table(desk, tmp_path)
    content = json.loads(write_plan_file(plan_of(desk, held)))

    def run(budget: Budget) -> object:
        read = read_plan_file(canonical(content | {"budget": budget.to_json()}))
        return desk.release(desk.plan_from(held, read))

    with pytest.raises(OutOfBudget):
        run(DEAR)
    assert outcome(desk, lambda: run(Budget(1))) == "paid"
    assert spent(desk) == accounting.UNITS


class Growing(Mapping[str, Any]):
    """Names one column when it is read first, and more whenever it is read again."""

    def __init__(self) -> None:
        self.read = 0

    def __iter__(self) -> Iterator[str]:
        self.read += 1
        return iter(("a", "b", "c")[: self.read])

    def __getitem__(self, name: str) -> Any:
        return "number"

    def __len__(self) -> int:
        return self.read


def test_a_wish_for_suggestions_is_read_once(desk: Desk, tmp_path: Path) -> None:
    source = FORMATS["frame"](neighbours(ROW, "last")[0], tmp_path)
    found: list[Any] = []

    def use() -> None:
        found.append(desk.discover(source, Growing(), unit=ROW, total=TOTAL, part=CHEAP))

    assert outcome(desk, use) == "paid"
    [entry] = desk.ledger.entries()
    assert set(json.loads(entry.plan_json)["columns"]) == set(found[0].suggestions) == {"a"}
    lying = LyingBudget(900)
    assert outcome(desk, lambda: desk.discover(source, {"b": "number"}, unit=ROW, total=TOTAL, part=lying)) == "paid"
    assert spent(desk) == 2 * accounting.units(Cost((Laplace(CHEAP.epsilon),)), None)
    dear = Budget(900)
    assert outcome(desk, lambda: desk.discover(source, {"b": "number"}, unit=ROW, total=TOTAL, part=dear)) == "refused"
