"""A release of any mechanism keeps the rules of its schema: records, their values, tables; and says which they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.base.errors import BadSchema, Failed
from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.release.lawful import Lawful, records_for
from core.release.release import Release
from tests.core.rules.households import COUNTS, IMPOSSIBLE, KEY, ORDER, PLAIN, RULES, any_codes, households

ASKED = ("age", "marital", "region", "postcode")
MECHANISMS = {"tree": ASKED, "gaussian": ASKED, "histogram": ("age", "region"), "iterative-weights": ASKED[1:]}


def frame_of(rows: int) -> pd.DataFrame:
    return PLAIN.decode(any_codes(rows), np.random.default_rng(1))


def released(desk: Desk, mechanism: str, *rules: str) -> Release:
    table = desk.add_table(frame_of(200), households(*rules), unit=Unit.row(), budget=Budget(2, 1e-9))
    delta = 0 if mechanism == "histogram" else 1e-9
    plan = desk.plan(
        table, [Marginals(order=2, columns=MECHANISMS[mechanism])], mechanism=mechanism, budget=Budget(1, delta)
    )
    return desk.release(plan)


@pytest.mark.exhaustive
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_records_and_tables_keep_every_rule(tmp_path, mechanism):
    made = released(Desk(tmp_path / "desk", journal=tmp_path / "journal"), mechanism, *RULES)
    records = made.records()
    assert not Lawful.of(households(*RULES)).violations(records)
    assert len(records) == 200 and made.certificate.rules == list(RULES) and made.domain.rules == RULES
    assert made.marginal(("region",)).tolist() == [120, 80]
    assert made.marginal(("age",))[13:].sum() == pytest.approx(30, abs=0.1)
    if mechanism != "histogram":
        assert np.count_nonzero(made.marginal(("postcode", "region"))) <= 4
    text = made.report().decode()
    assert "Records with the same postcode have the same region" in text and "Known counts are taken" in text


def test_nothing_is_stored_where_a_record_breaks_a_rule():
    lawful = Lawful.of(households(IMPOSSIBLE))
    codes = any_codes(50)
    with pytest.raises(Failed, match="nothing is stored"):
        lawful.decoded(codes[~lawful.rules.kept(lawful.rules.single[0], codes)][:1], np.random.default_rng(1))


def test_values_that_break_a_comparison_are_violations():
    lawful = Lawful.of(households(ORDER))
    codes = any_codes(100)
    codes[:, 4], codes[:, 5] = 3, 3
    frame = lawful.decoded(codes, np.random.default_rng(1))
    assert not lawful.violations(frame)
    turned = frame.assign(admission=frame["discharge"], discharge=frame["admission"])
    assert lawful.violations(turned)[ORDER] > 50


def test_contradictions_are_refused_before_a_table_is_read(tmp_path):
    desk = Desk(tmp_path / "desk", journal=tmp_path / "journal")
    with pytest.raises(BadSchema, match="contradict each other"):
        desk.add_table(
            frame_of(20), households(KEY, "never: age < 95", "never: age >= 90"), unit=Unit.row(), budget=Budget(1)
        )
    assert not desk.tables()


@pytest.mark.exhaustive
def test_rows_that_break_a_rule_are_for_the_curator_alone(tmp_path):
    desk = Desk(tmp_path / "desk", journal=tmp_path / "journal")
    table = desk.add_table(frame_of(200), households(*RULES), unit=Unit.row(), budget=Budget(2, 1e-9))
    assert table.notes["broken_rules"][IMPOSSIBLE] > 0
    plan = desk.plan(table, [Marginals(columns=("age", "region"))], mechanism="tree", budget=Budget(1, 1e-9))
    made = desk.release(plan)
    assert b"broken" not in made.zip() and "broken" not in made.certificate.write()


def test_a_number_of_records_that_cannot_meet_the_counts_is_refused(tmp_path):
    desk = Desk(tmp_path / "desk", journal=tmp_path / "journal")
    table = desk.add_table(frame_of(200), households(*COUNTS), unit=Unit.row(), budget=Budget(2, 1e-9))
    asked = [Marginals(columns=("age", "region"))]
    with pytest.raises(BadSchema, match="exactly 200 records"):
        desk.plan(table, asked, mechanism="tree", budget=Budget(1, 1e-9), records=100)
    assert desk.plan(table, asked, mechanism="tree", budget=Budget(1, 1e-9), records=200).records == 200


def test_records_are_as_many_as_known_counts_need():
    assert records_for(households(*COUNTS), 3.0) == 200 and records_for(households(*COUNTS), 900.0) == 200
    assert records_for(households(COUNTS[2]), 3.0) == 30 and records_for(households(COUNTS[2]), 77.4) == 77
    assert records_for(PLAIN, 0.2) == 1
