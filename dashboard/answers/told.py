"""What programs are told, as JSON: released answers, public prices and the public schema, and nothing else."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from core.formulas.question import question
from core.formulas.sql.grammar import is_select
from core.schema.attributes import Attribute
from core.sessions.answer import Answer
from core.sessions.select_answer import SelectAnswer, SelectPrice
from core.sessions.session import Session

MOST_LABELS = 20_000
"""Cells that are listed of all columns together; one may have a million."""


def about(session: Session, title: str, per_minute: int) -> dict[str, Any]:
    """What can be asked here."""
    summary = session.summary()
    return {
        "title": title,
        "status": summary.status,
        "left": summary.left,
        "per_minute": per_minute,
        "seconds_each": session.slot,
        "columns": [_column(attribute, MOST_LABELS // len(session.domain)) for attribute in session.domain],
    }


def price(session: Session, text: str) -> SelectPrice:
    """What a text takes at most; every refusal of it happens here, and nothing is asked."""
    if is_select(text):
        return session.sql_price(text)
    question(text, session.domain)
    left = session.summary().left
    return SelectPrice(groups=1, questions=1, hard=0 if left is None else min(left, 1), seconds=session.slot)


def priced(found: SelectPrice) -> dict[str, Any]:
    return asdict(found)


def answer(session: Session, text: str) -> dict[str, Any]:
    """The answer to a formula or a SELECT."""
    if is_select(text):
        return _table(session.sql(text))
    return _number(session.answer(question(text, session.domain)))


def _number(found: Answer) -> dict[str, Any]:
    return {
        "number": found.number,
        "question": found.words,
        "share": found.share,
        "share_interval": found.interval,
        "count": found.count,
        "count_interval": found.count_interval,
        "kind": found.kind,
        "left": found.left,
    }


def _table(found: SelectAnswer) -> dict[str, Any]:
    rows = [{"labels": row.labels, "numbers": [asdict(each) for each in row.estimates]} for row in found.rows]
    facts = {"questions": found.questions, "hard": found.hard, "left": found.left}
    return {"columns": found.columns, "titles": found.titles, "rows": rows, **facts}


def _column(attribute: Attribute, most: int) -> dict[str, Any]:
    labels = [attribute.label(code) for code in range(min(attribute.size, most))]
    return {"name": attribute.name, "kind": attribute.kind, "cells": attribute.size, "labels": labels}
