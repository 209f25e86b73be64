"""Answers of a session beside the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.sessions.compared import compare_answers


def test_answers_stand_beside_the_exact_ones(tmp_path):
    domain = Domain((Integers(name="x", low=0, high=4),))
    frame = pd.DataFrame({"x": np.arange(500) % 5})
    desk = Desk(tmp_path)
    table = desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(50))
    session = desk.ask(table, mechanism="online-laplace", budget=Budget(40), questions=10)
    for place in range(3):
        session.answer(Marginals(order=1).member(domain, place))
    found = compare_answers(session, desk.truth(table))
    assert [answer.number for answer in found] == [1, 2, 3]
    assert [answer.truth for answer in found] == pytest.approx([0.2] * 3)
    assert max(answer.error for answer in found) < 0.02
    promised = [answer.interval for answer in session.transcript()]
    assert [answer.inside for answer in found] == [low <= 0.2 <= high for low, high in promised]
    desk.close()
