"""The demo table is reproducible, fits its schema, and has the structure that makes a release worth looking at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.privacy.unit import Unit
from core.rules.contradictions import check_rules
from core.schema.domain import Categories, Domain
from core.table.stand_in import StandIn

DATA = Path(__file__).resolve().parents[2] / "data"
TABLE = DATA / "clinic_visits.csv"


@pytest.fixture(scope="module")
def visits() -> pd.DataFrame:
    return pd.read_csv(TABLE, parse_dates=["visit_date"])


@pytest.fixture(scope="module")
def domain() -> Domain:
    return Domain.from_json((DATA / "clinic_visits.schema.json").read_text(encoding="utf-8"))


@pytest.mark.exhaustive
def test_the_script_writes_the_same_bytes_again(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_demo.py", tmp_path], check=True, timeout=120)
    assert (tmp_path / TABLE.name).read_bytes() == TABLE.read_bytes()


def test_size(visits: pd.DataFrame) -> None:
    assert 28_000 <= len(visits) <= 32_000
    assert 10 <= visits.shape[1] <= 12
    assert TABLE.stat().st_size < 2_500_000


def test_the_folder_s_readme_states_the_size(visits: pd.DataFrame) -> None:
    people = visits.patient_id.nunique()
    assert f"{len(visits):,} visits of {people:,} patients" in (DATA / "README.md").read_text(encoding="utf-8")


def test_patients_come_one_to_eight_times(visits: pd.DataFrame) -> None:
    rows = visits.patient_id.value_counts()
    assert len(rows) == 14_000
    assert set(rows) == set(range(1, 9))
    assert visits.groupby("patient_id").sex.nunique().max() == 1


def test_the_schema_covers_every_column_but_the_id(visits: pd.DataFrame, domain: Domain) -> None:
    assert domain.names == tuple(column for column in visits.columns if column != "patient_id")


def test_every_bound_says_where_it_comes_from(domain: Domain) -> None:
    assert all(attribute.note for attribute in domain)


def test_the_schema_file_is_what_the_engine_would_save(domain: Domain) -> None:
    assert domain.to_json() + "\n" == (DATA / "clinic_visits.schema.json").read_text(encoding="utf-8")


def test_a_few_cells_do_not_fit_the_schema(visits: pd.DataFrame, domain: Domain) -> None:
    misfits = {name: int(domain[name].encode(visits[name])[1].sum()) for name in domain.names}
    assert {name for name, count in misfits.items() if count} == {"region", "age", "bmi", "systolic_bp", "charge"}
    assert max(misfits.values()) < 0.01 * len(visits)


def test_a_few_cells_are_empty(visits: pd.DataFrame, domain: Domain) -> None:
    empty = visits.isna().mean()
    assert set(empty[empty > 0].index) == {"bmi", "smoker"} == {a.name for a in domain if a.missing}
    assert empty.max() < 0.05


def test_every_declared_category_occurs(visits: pd.DataFrame, domain: Domain) -> None:
    for attribute in domain:
        if isinstance(attribute, Categories):
            assert set(attribute.values) <= set(visits[attribute.name])


def test_districts_differ_in_age_and_insurance(visits: pd.DataFrame, domain: Domain) -> None:
    known = visits[visits.region != "Out of town"]
    age = known.groupby("region").age.mean()
    assert age.max() - age.min() > 15
    private = (known.insurance == "private").groupby(known.region).mean()
    assert private.max() > 3 * private.min()
    assert visits[visits.insurance == "senior"].age.median() > visits.age.median() + 15


def test_the_two_outcomes_depend_on_each_other_and_on_their_causes(visits: pd.DataFrame) -> None:
    with_diabetes = visits[visits.diabetes].hypertension.mean()
    without = visits[~visits.diabetes].hypertension.mean()
    assert with_diabetes > without + 0.25
    adults = visits[visits.age.between(50, 60)]
    assert adults[adults.bmi > 30].diabetes.mean() > 1.5 * adults[adults.bmi < 25].diabetes.mean()
    assert visits[visits.age >= 60].hypertension.mean() > 3 * visits[visits.age < 40].hypertension.mean()
    assert visits[visits.hypertension].systolic_bp.median() > visits[~visits.hypertension].systolic_bp.median() + 15


def test_charges_are_skewed_with_an_atom_at_zero_and_follow_the_outcomes(visits: pd.DataFrame) -> None:
    assert 0.1 < (visits.charge == 0).mean() < 0.25
    assert visits.charge.mean() > 1.5 * visits.charge.median()
    assert visits.charge.skew() > 4
    ill = visits.diabetes & visits.hypertension
    assert visits[ill].charge.median() > 2 * visits[~visits.diabetes & ~visits.hypertension].charge.median()


def test_the_declared_rules_hold_but_for_typing_errors(visits: pd.DataFrame, domain: Domain) -> None:
    rules = check_rules(domain)
    assert len(rules.rules) == 2
    mistyped = visits.age < 0
    codes = StandIn.of(visits, domain, Unit.row()).codes
    assert rules.lawful(codes[~mistyped]).all()
    assert 0 < np.count_nonzero(~rules.lawful(codes)) < 30, "as in a real table, some rows break them"
