import io
import json
import shutil
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.base.errors import BadFile, BadParameter, DeskError, Failed, OutOfBudget, Refused, Unknown
from core.mechanisms.direct.laplace import LaplaceTables
from core.plans import pricing
from core.schema.domain import Categories, Integers
from tests.core.people import DOMAIN, ONE, PAIRS, TOTAL, desk, held, people

__all__ = ["desk", "held"]


def plan_of(desk, held, **changes):
    return desk.plan(held, PAIRS, **({"mechanism": "gaussian", "budget": ONE} | changes))


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize(
    ("mechanism", "budget"),
    [("laplace", Budget(1)), ("laplace", ONE), ("gaussian", ONE), ("histogram", ONE), ("histogram", Budget(1))],
)
def test_from_table_to_release(desk, held, mechanism, budget):
    plan = plan_of(desk, held, mechanism=mechanism, budget=budget)
    assert plan.cost.events
    assert plan.expected_error.mean > 0
    assert desk.progress(plan.id).state == "unpaid"
    release = desk.release(plan)
    frame = release.records()
    assert list(frame.columns) == list(DOMAIN.names)
    assert abs(len(frame) - 3_000) < 400
    assert set(frame["region"]) <= {"north", "south", "east", "elsewhere"}
    assert frame["age"].between(0, 99).all()
    truth = Marginals(order=2).answers(desk._parts.counts(held.id))
    assert np.abs(release.answers(PAIRS) - truth).mean() < 0.02
    assert desk.progress(plan.id).state == "done"


def test_the_same_plan_pays_once_and_gives_the_same_bytes(desk, held, tmp_path):
    first = desk.release(plan_of(desk, held))
    spent = desk.statement(held).spent_share
    assert 0.2 < spent < 0.35
    assert desk.release(plan_of(desk, held)).zip() == first.zip()
    reopened = Desk(tmp_path / "workspace")
    assert reopened.release(plan_of(reopened, reopened.tables()[0])).zip() == first.zip()
    assert reopened.statement(held).spent_share == spent
    reopened.close()


@pytest.mark.exhaustive
def test_an_edition_is_a_new_paid_release(desk, held):
    first, second = desk.release(plan_of(desk, held)), desk.release(plan_of(desk, held, edition=2))
    assert first.zip() != second.zip()
    assert len(desk.statement(held).entries) == 2


@pytest.mark.exhaustive
def test_the_whole_budget_can_be_spent_but_no_more(desk, held):
    desk.release(plan_of(desk, held, budget=TOTAL))
    assert desk.statement(held).spent_share == 1
    assert desk.statement(held).left_epsilon == 0
    more = plan_of(desk, held, budget=Budget(epsilon=0.01, delta=1e-9))
    assert not desk.affordable(more)
    with pytest.raises(OutOfBudget):
        desk.release(more)
    assert desk.ledger.entry(more.id) is None


@pytest.mark.exhaustive
def test_what_is_left_can_be_spent(desk, held):
    desk.release(plan_of(desk, held))
    left = desk.statement(held).left_epsilon
    assert 1.5 < left < 2
    assert desk.affordable(plan_of(desk, held, budget=Budget(epsilon=left, delta=1e-9)))


@pytest.mark.exhaustive
def test_a_plan_needs_delta_only_if_the_account_has_one(desk):
    pure = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=Budget(1))
    with pytest.raises(BadParameter, match="delta"):
        plan_of(desk, pure)
    desk.release(plan_of(desk, pure, mechanism="laplace", budget=Budget(1)))
    assert desk.statement(pure).spent_share == 1


@pytest.mark.exhaustive
def test_the_budget_belongs_to_the_data_not_to_the_schema(desk, held):
    desk.release(plan_of(desk, held))
    coarse = Domain((DOMAIN["region"], Integers(name="age", low=0, high=99, bins=4)))
    again = desk.add_table(people(), coarse, unit=Unit.row(), budget=TOTAL)
    assert again.id != held.id
    assert desk.statement(again).spent_share == desk.statement(held).spent_share > 0
    same = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    assert same.id == held.id
    with pytest.raises(BadParameter, match="unit"):
        desk.add_table(people(), DOMAIN, unit=Unit.id("person", 2), budget=TOTAL)
    with pytest.raises(BadParameter, match="budget"):
        desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=Budget(9, 1e-9))


@pytest.mark.exhaustive
def test_before_the_first_spend_the_unit_may_change(desk, held):
    plan = plan_of(desk, held)
    by_person = desk.add_table(people(), DOMAIN, unit=Unit.id("person", 2), budget=TOTAL)
    assert by_person.unit.limit == 2
    assert [table.id for table in desk.tables()] == [by_person.id]
    for use in (lambda: desk.release(plan), lambda: plan_of(desk, held)):
        with pytest.raises(Refused):
            use()
    assert desk.statement(by_person).spent_share == 0


@pytest.mark.exhaustive
def test_more_budget_needs_a_reason_on_record(desk, held):
    desk.release(plan_of(desk, held))
    with pytest.raises(BadParameter, match="reason"):
        desk.change_budget(held, Budget(3, 1e-9), reason=" ")
    with pytest.raises(BadParameter, match="delta"):
        desk.change_budget(held, Budget(3), reason="The board agreed.")
    before = desk.statement(held).left_epsilon
    assert desk.change_budget(held, Budget(3, 1e-9), reason="The board agreed.").budget == Budget(3, 1e-9)
    assert desk.statement(held).left_epsilon > before
    assert [change.reason for change in desk.statement(held).changes] == ["The board agreed."]


@pytest.mark.exhaustive
def test_background_release_and_double_submission(desk, held):
    plan = plan_of(desk, held)
    for _ in range(2):
        assert desk.submit(plan) == plan.id
    desk.close()
    assert desk.progress(plan.id).state == "done"
    assert len(desk.statement(held).entries) == 1
    assert desk.result(plan.id).zip() == desk.release(plan).zip()


@pytest.mark.exhaustive
def test_threads_that_release_the_same_plan_get_the_same_bytes(desk, held):
    plan, results = plan_of(desk, held), []
    threads = [threading.Thread(target=lambda: results.append(desk.release(plan).zip())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    assert len(set(results)) == 1
    assert len(desk.statement(held).entries) == 1


@pytest.mark.exhaustive
def test_a_failed_run_stays_paid_and_can_be_finished(desk, held, monkeypatch, caplog):
    def explode(*_):
        raise ValueError("a private value 1234")

    plan = plan_of(desk, held, mechanism="laplace", budget=Budget(0.1))
    with monkeypatch.context() as broken:
        broken.setattr(LaplaceTables, "run", explode)
        with pytest.raises(Failed) as problem:
            desk.release(plan)
    assert "1234" not in str(problem.value) + caplog.text
    assert f"unexpected ValueError at tests/core/desk/test_desk.py:{explode.__code__.co_firstlineno + 1}" in caplog.text
    assert problem.value.__cause__ is None
    spent = desk.statement(held).spent_share
    progress = desk.progress(plan.id)
    assert (progress.state, progress.note) == ("stopped", "The run stopped (ValueError).")
    assert spent > 0
    assert desk.resume() == [plan.id]
    desk.close()
    assert desk.progress(plan.id).state == "done"
    assert desk.statement(held).spent_share == spent


def test_a_desk_that_was_killed_finishes_paid_plans(desk, held, tmp_path):
    plan = plan_of(desk, held)
    desk._parts.payments.reserve(plan)
    restarted = Desk(tmp_path / "workspace")
    assert restarted.resume() == [plan.id]
    restarted.close()
    assert restarted.result(plan.id) is not None
    assert len(restarted.statement(held).entries) == 1


@pytest.mark.exhaustive
def test_number_of_rows_and_bad_options(desk, held):
    assert len(desk.release(plan_of(desk, held, records=77)).records()) == 77
    for changes, parameter in (
        ({"records": 0}, "records"),
        ({"records": True}, "records"),
        ({"edition": 0}, "edition"),
        ({"budget": Budget(1)}, "delta"),
        ({"colour": 1}, "colour"),
    ):
        with pytest.raises(BadParameter) as problem:
            plan_of(desk, held, **changes)
        assert problem.value.parameter == parameter
    with pytest.raises(Unknown):
        plan_of(desk, held, mechanism="magic")
    with pytest.raises(Unknown):
        desk.table("nowhere")


@pytest.mark.exhaustive
def test_nothing_private_is_in_the_artefact(desk, tmp_path):
    """A canary value, the fingerprint, the table's id and the workspace's path stay at the desk."""
    frame = people(2_987)
    held = desk.add_table(frame, DOMAIN, unit=Unit.row(), budget=TOTAL, name="../../secret/people.csv")
    assert held.name == "people.csv"
    release = desk.release(plan_of(desk, held, budget=Budget(0.2, 1e-9)))
    fingerprint = desk.ledger.dataset(held.id).fingerprint
    archive = zipfile.ZipFile(io.BytesIO(release.zip()))
    for name in archive.namelist():
        content = archive.read(name)
        for secret in (b"=evil", str(tmp_path).encode(), fingerprint.encode(), held.id.encode()):
            assert secret not in content, name
    certificate = json.loads(archive.read("certificate.json"))
    assert certificate["epsilon"] == 0.2
    assert certificate["schema_digest"] == DOMAIN.digest


@pytest.mark.exhaustive
def test_public_rows_are_kept_exactly(desk):
    held = desk.add_table(people(), DOMAIN, unit=Unit.row("replace"), budget=TOTAL)
    assert len(desk.release(plan_of(desk, held)).records()) == 3_000


def test_limit_per_person_is_applied_and_noted(desk):
    held = desk.add_table(people(), DOMAIN, unit=Unit.id("person", 1), budget=TOTAL)
    persons = people()["person"].nunique()
    assert held.notes["rows"] == persons
    assert held.notes["dropped_rows"] == 3_000 - persons
    assert held.notes["misfits"]["region"] > 0


def test_a_bad_source_leaves_no_trace(desk, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DeskError):
        desk.add_table(tmp_path / "empty.csv", DOMAIN, unit=Unit.row(), budget=TOTAL)
    assert desk.tables() == []
    assert not (tmp_path / "workspace" / "tables").exists()


@pytest.mark.exhaustive
def test_columns_nobody_asks_about_do_not_enlarge_the_universe(desk):
    wide = Domain((*DOMAIN, Integers(name="person", low=0, high=999_999)))
    held = desk.add_table(people(), wide, unit=Unit.row(), budget=TOTAL)
    with pytest.raises(Refused, match="combinations"):
        desk.plan(held, [Marginals(order=1)], mechanism="histogram", budget=ONE)
    plan = desk.plan(held, [Marginals(order=2, columns=("region", "ill"))], mechanism="histogram", budget=ONE)
    release = desk.release(plan)
    assert list(release.records().columns) == list(people().columns)
    truth = desk._parts.counts(held.id).marginal(("region", "ill"))
    assert np.abs(release.marginal(("region", "ill")) - truth).max() < 200


def test_a_release_too_large_to_keep_is_refused_before_it_is_paid(desk, held):
    most = pricing.MOST_VALUES // 3
    with pytest.raises(BadParameter, match=f"{most:,}"):
        plan_of(desk, held, records=most + 1)
    assert desk.statement(held).spent_share == 0


@pytest.mark.exhaustive
def test_a_lost_table_is_noticed_before_paying_and_can_be_added_again(desk, held, tmp_path):
    plan = plan_of(desk, held)
    shutil.rmtree(tmp_path / "workspace" / "tables")
    with pytest.raises(BadFile, match="again"):
        desk.release(plan)
    assert desk.statement(held).spent_share == 0
    assert desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL).id == held.id
    assert len(desk.release(plan).records()) > 2_000


@pytest.mark.exhaustive
def test_a_stored_release_outlives_its_table(desk, held, tmp_path):
    plan = plan_of(desk, held)
    first = desk.release(plan)
    desk.close()
    shutil.rmtree(tmp_path / "workspace" / "tables")
    restarted = Desk(tmp_path / "workspace")
    assert restarted.release(plan_of(restarted, held)).zip() == first.zip()
    restarted.close()


def test_the_same_table_added_at_once_is_one_table(desk):
    def add():
        desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)

    threads = [threading.Thread(target=add) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(desk.tables()) == 1


def test_a_budget_of_nothing_is_refused(desk):
    with pytest.raises(BadParameter, match="epsilon"):
        desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=Budget("1e-14"))


@pytest.mark.parametrize("source", [None, 3, ["a"], b"a,b", pd.DataFrame({7: ["SECRET"]})])
def test_sources_of_a_wrong_kind_get_one_sentence_without_a_value(desk, source):
    domain = Domain((Categories(name="region", values=("a",)),))
    with pytest.raises(DeskError) as problem:
        desk.add_table(source, domain, unit=Unit.row(), budget=TOTAL)
    assert "SECRET" not in str(problem.value)
    assert problem.value.__cause__ is problem.value.__context__ is None
