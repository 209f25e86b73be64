"""Plan and Release for every query class: forms, offers, refusals, options and what a release shows."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.base.options import options_of
from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import offline, query_classes
from core.schema.domain import Domain
from dashboard.views.common import option_form
from dashboard.views.plan import offers
from tests.dashboard.pages.kit.elements import Open, button, chooser, errors, field, finished, go_on, number, words
from tests.dashboard.pages.kit.plan_page import mechanism, pick, study


def released(app: AppTest, desk: Desk) -> AppTest:
    button(go_on(app), "Release").click().run()
    return finished(app, desk)


def paid(desk: Desk, table: DeskTable) -> dict[str, Any]:
    [entry] = desk.statement(table).entries
    return json.loads(entry.plan_json)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("name", [name for name in query_classes if name != "counting"])
def test_every_class_can_be_released_as_its_form_starts(page: Open, mixed: DeskTable, name: str) -> None:
    app = pick(page("plan"), name)
    assert not errors(app)
    for caption in mechanism(app).proto.captions:
        prefer, error, price = caption.splitlines()
        assert prefer.rstrip().endswith(".")
        assert "95 % of the time" in error
        assert price.startswith("Costs ")
        assert "; takes " in price
    assert not button(go_on(app), "Release").disabled


@pytest.mark.parametrize("kind", [*query_classes.values(), *offline.values()], ids=lambda kind: kind.name)
def test_every_option_has_a_field(kind: type) -> None:
    simple = {"whole", "real", "choice", "flag", "column", "columns"}
    for option in options_of(kind):
        assert option.kind in simple | option_form.EDITORS.keys()
        assert option.only in option_form.SUITED


@pytest.mark.exhaustive
def test_intervals_by_a_tree(page: Open, desk: Desk, mixed: DeskTable) -> None:
    app = pick(page("plan"), "intervals")
    assert chooser(app, "Columns").options == ["age", "height"], "only columns with an order are offered"
    chooser(app, "Columns").set_value(["height", "age"]).run()
    assert "recommended" in mechanism(app).options[0]
    study(app)
    mechanism(app).set_value("interval-tree").run()
    refused = next(found for found in app.expander if "cannot do this" in found.label)
    reasons = [text.value.replace("\\", "") for text in refused.markdown]
    assert len(reasons) + len(mechanism(app).options) == len(offline)
    assert any("'halfspace-projections' serves halfspaces, not 'intervals'" in reason for reason in reasons)
    released(app, desk)
    assert not errors(app)
    plan = paid(desk, mixed)
    assert plan["mechanism"] == "interval-tree"
    assert [query["column"] for query in plan["queries"]] == ["age", "height"], "in the schema's order"
    assert plan["options"] == {}
    assert "Answers" in [found.value for found in app.subheader]
    assert app.metric[0].value.endswith(" %")


@pytest.mark.exhaustive
def test_halfspaces_list_their_answers(page: Open, desk: Desk, mixed: DeskTable) -> None:
    app = pick(page("plan"), "halfspaces")
    number(app, "Directions").set_value(20).run()
    released(app, desk)
    assert not errors(app)
    assert paid(desk, mixed)["queries"][0]["directions"] == 20
    answers = app.dataframe[1].value
    assert len(answers) == 20
    assert answers["Question"].str.contains("age").all()
    assert answers["Share"].between(0, 1).all()


@pytest.mark.exhaustive
def test_parities_of_booleans_and_of_a_value(page: Open, desk: Desk, mixed: DeskTable) -> None:
    app = pick(page("plan"), "parities")
    assert chooser(app, "Yes/no columns").options == ["ill", "insured"]
    chooser(app, "Further columns").set_value(["town"]).run()
    next(found for found in app.selectbox if "counts as yes" in found.label).set_value(2).run()
    assert "8 sets of 3 facts" in words(app)
    released(app, desk)
    assert not errors(app)
    assert paid(desk, mixed)["queries"][0]["values"] == [["town", 2]]
    assert len(app.dataframe[1].value) == 8


@pytest.mark.exhaustive
def test_conditions_are_added_and_removed(page: Open, desk: Desk, mixed: DeskTable) -> None:
    app = pick(page("plan"), "counting")
    assert errors(app) == ["Conditions: needs at least one condition."]
    assert mixed.id not in app.session_state["desk-session"].planned
    for values in ([0], [1, 2]):
        chooser(app, "Columns of the next condition").set_value(["town"]).run()
        chooser(app, "town is one of").set_value(values).run()
        button(app, "Add the condition").click().run()
    assert not errors(app)
    assert "2. town is south or west" in words(app)
    button(app, "Remove").click().run()
    released(app, desk)
    assert paid(desk, mixed)["queries"][0]["conditions"] == [[["town", [1, 2]]]]
    assert app.dataframe[1].value["Question"].tolist() == ["share of rows with town any of south, west"]


@pytest.mark.exhaustive
def test_weights_are_typed_into_a_grid(page: Open, desk: Desk, mixed: DeskTable) -> None:
    app = pick(page("plan"), "linear")
    chooser(app, "Columns").set_value(["town"]).run()
    app.session_state[f"class-{mixed.id}-linear-weights-1-town"] = {"edited_rows": {0: {"Weight 1": 0.25}}}
    app.run()
    app.switch_page("steps/budget.py").run()
    app.switch_page("steps/plan.py").run()
    released(app, desk)
    assert paid(desk, mixed)["queries"][0]["weights"] == [[256, 512, 1024]], "also after a visit to another page"


@pytest.mark.exhaustive
def test_statistics_that_are_not_linear(page: Open, desk: Desk, mixed: DeskTable) -> None:
    app = pick(page("plan"), "lipschitz")
    chooser(app, "Statistics").set_value(["distance", "top"]).run()
    mechanism(study(app)).set_value("iterative-median").run()
    released(app, desk)
    assert not errors(app)
    query = paid(desk, mixed)["queries"][0]
    assert [statistic[0] for statistic in query["statistics"]] == ["top", "distance"]
    assert len(app.dataframe[1].value) == 2


@pytest.mark.exhaustive
def test_several_classes_together(page: Open, desk: Desk, mixed: DeskTable) -> None:
    app = pick(page("plan"), "parities", "intervals", "rectangles")
    released(app, desk)
    assert not errors(app)
    assert [query["class"] for query in paid(desk, mixed)["queries"]] == ["intervals", "rectangles", "parities"]
    assert len(next(found for found in app.selectbox if found.label == "Of").options) == 3


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize(
    ("name", "label", "value", "sentence"),
    [
        ("intervals", "Bits", 9, "Bits: column 'age' has 16 cells; use at most 4 bits."),
        ("unions", "Parts", 50, "Parts: column 'age' has room for at most 8."),
        ("marginals", "Columns per table", 9, "Order: only 5 columns are chosen; use an order up to 5."),
        ("conjunctions", "Facts", 3, "Order: only 2 facts are there; use at most 2."),
    ],
)
def test_bad_numbers_get_the_class_own_sentence(
    page: Open, desk: Desk, mixed: DeskTable, name: str, label: str, value: int, sentence: str
) -> None:
    app = pick(page("plan"), name)
    number(app, label).set_value(value).run()
    assert errors(app) == [sentence]
    assert all(found.label != "Release" for found in go_on(app).button)
    assert not desk.statement(mixed).entries


@pytest.mark.exhaustive
@pytest.mark.parametrize("columns", [[], ["age"]])
def test_too_few_columns(page: Open, mixed: DeskTable, columns: list[str]) -> None:
    app = pick(page("plan"), "rectangles")
    chooser(app, "Columns").set_value(columns).run()
    wanted = "must be at least 2 and at most 3 columns" if columns else "Choose at least one column."
    [error] = errors(app)
    assert wanted in error


@pytest.mark.exhaustive
def test_no_class_and_no_suitable_column(page: Open, desk: Desk) -> None:
    domain = Domain.from_list([{"name": "ill", "kind": "booleans"}])
    desk.add_table(pd.DataFrame({"ill": [True, False]}), domain, unit=Unit.row(), budget=Budget(2))
    app = pick(page("plan"))
    assert errors(app) == ["Choose at least one query class."]
    [error] = errors(pick(app, "intervals"))
    assert error == "This class needs 1 column of numbers or dates, and the schema has fewer."


@pytest.mark.exhaustive
def test_options_of_a_mechanism(page: Open, desk: Desk, mixed: DeskTable) -> None:
    app = pick(page("plan"), "intervals")
    mechanism(study(app)).set_value("interval-search").run()
    number(app, "Accuracy").set_value(0.00001).run()
    [error] = errors(app)
    assert error.startswith("Accuracy: needs 1,600,000 private questions; use at least")
    assert mixed.id not in app.session_state["desk-session"].planned
    number(app, "Accuracy").set_value(0.1).run()
    next(found for found in app.get("button_group") if found.label == "Mass of a piece").set_value("equal").run()
    released(app, desk)
    assert not errors(app)
    assert paid(desk, mixed)["options"] == {"mass": "equal"}, "what is left at its default is not part of the plan"


@pytest.mark.exhaustive
def test_a_fresh_edition_keeps_the_options(page: Open, desk: Desk, mixed: DeskTable) -> None:
    def planned() -> AppTest:
        app = pick(page("plan"), "intervals")
        mechanism(app).set_value("interval-tree").run()
        number(app, "Branching").set_value(8).run()
        return app

    released(planned(), desk)
    again = go_on(planned())
    assert "already paid" in words(again)
    again.toggle(key="fresh-edition").set_value(True).run()
    released(again, desk)
    assert [json.loads(entry.plan_json)["options"] for entry in desk.statement(mixed).entries] == [{"branching": 8}] * 2


@pytest.mark.exhaustive
def test_the_recommendation_is_followed_until_something_is_picked(page: Open, mixed: DeskTable) -> None:
    def recommended(app: AppTest) -> bool:
        named = zip(mechanism(app).options, mechanism(app).proto.captions, strict=True)
        caption = next(caption for option, caption in named if offers.RECOMMENDED in option)
        return caption.startswith(f"{offline[mechanism(app).value].title}.")

    app = page("plan")
    assert recommended(app)
    field(app, "Delta (δ)").set_value("0").run()
    assert recommended(app)
    mechanism(study(app)).set_value("iterative-weights").run()
    field(app, "Delta (δ)").set_value("1e-9").run()
    assert mechanism(app).value == "iterative-weights"
    app.switch_page("steps/budget.py").run()
    app.switch_page("steps/plan.py").run()
    assert mechanism(app).value == "iterative-weights"
    assert recommended(pick(app, "intervals"))


@pytest.mark.exhaustive
def test_prices_are_remembered(page: Open, desk: Desk, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    recommend = Desk.recommend
    monkeypatch.setattr(Desk, "recommend", lambda *args, **options: calls.append(1) or recommend(*args, **options))
    app = page("plan")
    assert len(calls) == 1
    app.run()
    assert len(calls) == 1, "a click elsewhere prices the chosen plan only"
    field(app, "Epsilon (ε)").set_value("0.5").run()
    assert len(calls) == 2
