"""Forms offer exactly what the classes accept, because both read the same declaration."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.base.options import options_of
from core.registry import mechanisms, query_classes

REGISTERED = {**query_classes, **mechanisms}


def page(name: str) -> None:
    from core.base.options import options_of
    from core.registry import mechanisms, query_classes
    from core.schema.domain import Booleans, Domain, Integers
    from dashboard.views.common import option_form

    numbers = (Integers(name=each, low=0, high=15) for each in "abc")
    domain = Domain((*numbers, Booleans(name="d")))
    kind = {**query_classes, **mechanisms}[name]
    option_form.fill(options_of(kind), domain, "form")


@pytest.mark.crossing(keep=9)
@pytest.mark.parametrize("name", REGISTERED)
def test_a_form_offers_the_limits_of_the_class(name: str) -> None:
    app = AppTest.from_function(page, args=(name,), default_timeout=20).run()
    assert not app.exception
    numbers = {each.key: each for each in app.number_input}
    for option in options_of(REGISTERED[name]):
        if option.kind in ("whole", "real"):
            shown = numbers[f"form-{option.name}"]
            assert (shown.min, shown.max) == (option.least, option.most)
            option.check(shown.value)


def named_page() -> None:
    import streamlit as st

    from core.base.options import options_of
    from core.registry import mechanisms
    from core.schema.domain import Domain, Integers
    from dashboard.views.common import option_form

    domain = Domain(tuple(Integers(name=each, low=0, high=15) for each in "abc"))
    options = options_of(mechanisms["tree"])
    st.text(str(option_form.changed(options, option_form.fill(options, domain, "form", single=True))))


def test_a_target_and_groups_are_named_only_where_someone_does() -> None:
    app = AppTest.from_function(named_page, default_timeout=20).run()
    assert app.text[0].value == "{}"
    app.selectbox(key="form-target").set_value("b").run()
    app.multiselect(key="form-groups").set_value(["c", "a"]).run()
    assert app.text[0].value == "{'target': 'b', 'groups': ('a', 'c')}"
