"""The Budget page: a total that changes with a reason, and spends that an older copy lost."""

from __future__ import annotations

import pytest

from core.desk.desk import Desk
from core.ledger.journal import JournalSpend
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.privacy_filter import amounts_text
from core.queries.marginals import Marginals
from tests.dashboard.pages.kit.elements import Open, button, errors, field, words


@pytest.mark.exhaustive
def test_total_changes_only_with_a_reason(page: Open, desk: Desk, small: DeskTable) -> None:
    app = page("budget")
    field(app, "New total ε").set_value("3")
    button(app, "Change the total").click().run()
    assert errors(app) == ["Give a reason; it is kept on record."]
    assert desk.table(small.id).budget.epsilon == 2

    field(app, "New total ε").set_value("3")
    field(app, "Reason").set_value("the board decided so")
    button(app, "Change the total").click().run()
    assert not errors(app)
    assert desk.table(small.id).budget.epsilon == 3
    assert "the board decided so" in words(app)


@pytest.mark.exhaustive
def test_an_older_copy_is_said_and_its_lost_spends_are_entered(page: Open, desk: Desk, small: DeskTable) -> None:
    assert "older copy" not in " ".join(errors(page("budget")))
    assert desk.ledger.journal is not None
    plan = desk.plan(small, [Marginals(order=1)], mechanism="laplace", budget=Budget(1))
    spend = JournalSpend(
        plan_id=plan.id,
        dataset_id=small.id,
        plan_json=ReleaseTerms.write(plan),
        amounts=amounts_text(plan.amounts),
        reserved_at="2026-01-02T03:04:05",
        **{
            name: getattr(desk.ledger.account(desk.ledger.dataset(small.id).fingerprint), name)
            for name in ("fingerprint", "unit_json", "budget_json", "ways", "total")
        },
    )
    desk.ledger.journal.note([spend], [])
    app = page("budget")
    assert "older copy" in errors(app)[0]
    assert "ε 1, paid 2026-01-02" in words(app).replace("\\", "")
    button(app, "Enter what was lost").click().run()
    assert not errors(app)
    assert desk.statement(small).spent_share > 0
    assert desk.progress(plan.id).state == "ended"
