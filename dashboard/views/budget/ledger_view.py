"""Ledger rows in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.base.errors import DeskError
from core.base.wording import amount
from core.desk.desk import Desk
from core.desk.surveys import KIND as DISCOVERY
from core.ledger.ledger import Entry
from core.plans.session_plan import is_release
from core.plans.statements import DeskTable, Statement
from core.privacy.budget import Budget
from core.registry import mechanisms, query_from_json
from core.release.release import to_csv
from dashboard.views.common import wording

STATES = {"done": "stored", "running": "running", "stopped": "paid, not finished", "ended": "ended by an error"}


def line(entry: Entry, table: DeskTable | None) -> str:
    """One release in one line."""
    plan = json.loads(entry.plan_json)
    budget = Budget.from_json(plan["budget"])
    parts = [title(plan), asked(plan, table), f"ε {wording.number(budget.epsilon)}", wording.moment(entry.reserved_at)]
    if plan["edition"] > 1:
        parts.insert(3, f"edition {plan['edition']}")
    return " · ".join(parts)


def left(statement: Statement) -> str:
    """What one more release may cost."""
    most, delta = wording.at_most(statement.left_epsilon), wording.number(statement.budget.delta)
    share = wording.percent(1 - statement.spent_share)
    return f"{share} of the budget is left: one more release may have ε up to {most} at δ = {delta}."


def more(statement: Statement) -> str | None:
    """How many more releases like the last one the budget can pay."""
    last = next((entry.units for entry in statement.entries if is_release(entry)), 0)
    spent = sum(entry.units for entry in statement.entries)
    return amount(max(0, statement.total - spent) // last) if last else None


def export(desk: Desk, statement: Statement, held: Mapping[str, DeskTable]) -> bytes:
    """The ledger as CSV; budgets and spends are not computed from the rows."""
    return to_csv(frame(desk, statement, held))


def title(plan: Mapping[str, Any]) -> str:
    known = mechanisms.get(plan["mechanism"])
    return "Bought suggestions" if plan.get("kind") == DISCOVERY else known.title if known else str(plan["mechanism"])


def asked(plan: Mapping[str, Any], table: DeskTable | None) -> str:
    """The query classes of a plan; without the schema only their names are known."""
    if "kind" in plan:
        names = ", ".join(plan.get("columns") or ["all columns"])
        return f"bounds and categories of {names}" if plan["kind"] == DISCOVERY else f"questions about {names}"
    if table is None:
        return ", ".join(str(query["class"]) for query in plan["queries"])
    try:
        return "; ".join(query_from_json(query).sentence(table.domain) for query in plan["queries"])
    except DeskError:
        return asked(plan, None)


def frame(desk: Desk, statement: Statement, held: Mapping[str, DeskTable]) -> pd.DataFrame:
    """The ledger of one account, newest first."""
    lines = []
    for entry in statement.entries:
        plan = json.loads(entry.plan_json)
        budget = Budget.from_json(plan["budget"])
        lines.append(
            {
                "Paid (UTC)": wording.moment(entry.reserved_at).removesuffix(" UTC"),
                "Mechanism": title(plan),
                "Released": asked(plan, held.get(entry.dataset_id)),
                "ε": float(budget.epsilon),
                "δ": wording.number(budget.delta),
                "Share": 100 * entry.units / statement.total if statement.total else 100.0,
                "State": STATES[desk.progress(entry.plan_id).state],
            }
        )
    return pd.DataFrame(lines)
