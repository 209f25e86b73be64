import ast
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.release.release import Release
from core.schema.domain import Categories, Domain, Integers

NASTY = "'''\"\"\"\\); import os #"
DOMAIN = Domain(
    (
        Categories(name="colour", values=("red", NASTY, "grün")),
        Integers(name="size", low=0, high=3, note=NASTY),
    )
)


@pytest.fixture(autouse=True)
def _quick_figures() -> None:
    """The script runs in a process of its own and makes all of its trials; so do these tests."""


@pytest.mark.exhaustive
def test_the_script_makes_the_same_plan_and_its_release(tmp_path):
    table = tmp_path / "table.csv"
    pd.DataFrame({"colour": ["red", "grün"] * 50, "size": [0, 3] * 50}).to_csv(table, index=False)
    desk = Desk(tmp_path / "first")
    held = desk.add_table(table, DOMAIN, unit=Unit.row(), budget=Budget(2, 1e-9))
    plan = desk.plan(
        held, [Marginals(order=2)], mechanism="gaussian", budget=Budget(1, 1e-9), records=40, measure=0.02, copies=2
    )
    release = desk.release(plan)

    (tmp_path / "reproduce.py").write_bytes(release.script())
    subprocess.run(
        [sys.executable, "reproduce.py", table, tmp_path / "second"], cwd=tmp_path, check=True, timeout=120,
        env={"PYTHONPATH": str(Path(__file__).parents[4]), "PATH": ""},
    )  # fmt: skip
    again = Release((tmp_path / "release.zip").read_bytes())
    same = {"plan", "created", "measured"}
    assert again.measured is not None and again.measured.share == 0.02
    assert again.certificate.model_dump(exclude=same) == release.certificate.model_dump(exclude=same)
    assert again.domain == DOMAIN


@pytest.mark.exhaustive
def test_texts_of_the_schema_cannot_become_code(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("colour,size\nred,1\n", encoding="utf-8")
    desk = Desk(tmp_path / "desk")
    held = desk.add_table(table, DOMAIN, unit=Unit.row(), budget=Budget(2))
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget(1))
    tree = ast.parse(desk.release(plan).script())
    assert {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names} == {
        "json", "sys",
    }  # fmt: skip
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    literals = [text for text in constants if isinstance(text, str) and "columns" in text]
    assert any(Domain.from_json(json.loads(text)) == DOMAIN for text in literals if text.startswith('"'))
