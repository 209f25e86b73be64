"""The page Collect: from a public schema to estimates, without a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.local.design import plan_collection
from core.local.question import LocalQuestion
from core.local.reports import respond_all
from core.plans.statements import DeskTable
from core.schema.domain import Booleans, Categories, Domain, Integers
from dashboard.views.collect import barrier_view
from tests.dashboard.pages.kit.elements import Open, chooser, errors, field, words

DOMAIN = Domain(
    (
        Booleans(name="smokes"),
        Categories(name="town", values=("north", "east", "south")),
        Integers(name="age", low=18, high=57),
    )
)


@pytest.fixture(autouse=True)
def short_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(barrier_view, "PEOPLE", 500)
    monkeypatch.setattr(barrier_view, "MOST_BITS", 3)


def labels(app) -> list[str]:
    return [download.label for download in app.get("download_button")]


@pytest.mark.exhaustive
def test_a_questionnaire_is_designed_from_a_public_schema(page: Open, small: DeskTable) -> None:
    app = page("collect")
    assert not errors(app)
    assert "If trusted" in app.table[0].value.columns
    assert labels(app) == ["Questionnaire (HTML)", "Plan"]
    assert "at most 74 % sure" in words(app).replace("\\", "")
    assert "About" in words(app) and "must answer in all" in words(app)
    field(app, "Epsilon (ε) per person").set_value("50").run()
    assert errors(app) == ["Epsilon: must be from 0.001 to 20 for one person; try 1."]
    field(app, "Epsilon (ε) per person").set_value("2").run()
    assert not errors(app)
    app.selectbox(key="collect-ill-randomiser").set_value("unary").run()
    assert not errors(app)
    assert app.table[0].value["Randomiser"].tolist()[1] == "A bit per answer"
    chooser(app, "Questions").set_value([]).run()
    assert "Choose at least one column" in words(app) and not labels(app)


@pytest.mark.exhaustive
def test_reports_become_estimates_and_files(page: Open) -> None:
    """Under a plan from a file; what is no report of it is left out with one sentence."""
    people = 400
    questions = [
        LocalQuestion(columns=("smokes",)),
        LocalQuestion(columns=("town", "smokes")),
        LocalQuestion(columns=("age",), wanted="mean"),
    ]
    plan = plan_collection(DOMAIN, epsilon=4, people=people, questions=questions)
    generator = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "smokes": generator.random(people) < 0.3,
            "town": generator.choice(["north", "east"], people),
            "age": generator.integers(18, 58, people),
        }
    )
    lines = respond_all(plan, frame)
    app = page("collect")
    app.file_uploader(key="collect-plan-file").upload("plan.json", plan.to_json().encode()).run()
    app.file_uploader(key="collect-reports").upload("reports.csv", "\n".join(["report", *lines]).encode()).run()
    assert not errors(app)
    assert [success.value for success in app.success] == ["400 reports count."]
    assert labels(app)[2:] == ["Estimates", "Certificate", "Plan", "Synthetic records", "Everything (ZIP)"]
    app.text_area(key="collect-pasted").set_value(f"{lines[0]}\nnonsense").run()
    assert [told.value for told in app.warning] == [
        "400 reports count. Left out: 1 line cannot be read, 1 line was sent before."
    ]
    app.slider(key="collect-liars").set_value(5.0).run()
    assert "can move a figure by up to" in words(app)
    app.selectbox(key="collect-look").set_value(2).run()
    assert app.metric[0].label == "Mean"
    assert 25 < float(app.metric[0].value) < 50


@pytest.mark.exhaustive
def test_files_that_are_no_plan_are_refused_in_one_sentence(page: Open) -> None:
    app = page("collect")
    app.file_uploader(key="collect-plan-file").upload("plan.json", b"{}").run()
    assert errors(app) == ["This is no plan of the page Collect; choose the plan.json that was saved there."]
