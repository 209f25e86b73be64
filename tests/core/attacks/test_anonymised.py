"""Groups of k: they are what k-anonymity asks for, and who is in no group is outside."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.anonymised import Anonymised
from core.base.errors import BadParameter
from tests.core.attacks.people import DOMAIN, invented


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_every_group_has_k_rows_and_every_row_a_group(k):
    rows = invented(500)
    made = Anonymised("groups", DOMAIN, rows, 6, k)
    assert min(len(group) for group in made.groups) >= k
    assert sorted(np.concatenate(made.groups).tolist()) == list(range(500))
    assert len(made.groups) > 500 / (4 * k) or k == 1


def test_members_are_in_a_group_with_their_secret():
    rows = invented(500)
    made = Anonymised("groups", DOMAIN, rows, 6)
    assert (made.suspicions(rows, rows)["groups"] >= 1).all()
    strangers = np.column_stack([np.zeros((50, 3), dtype=np.int64), np.full((50, 3), 11), np.ones(50, dtype=np.int64)])
    assert (made.suspicions(strangers, rows)["groups"] == 0).mean() > 0.9


def test_a_group_whose_secrets_agree_tells_them():
    rows = invented(400)
    rows[:, 6] = rows[:, 0] > 5
    guessed = Anonymised("groups", DOMAIN, rows, 6).guesses(rows, 6)["groups"]
    assert np.mean(guessed == rows[:, 6]) > 0.85


def test_too_few_rows_and_other_secrets_are_refused():
    with pytest.raises(BadParameter, match="k"):
        Anonymised("groups", DOMAIN, invented(3), 6)
    with pytest.raises(BadParameter, match="secret"):
        Anonymised("groups", DOMAIN, invented(30), 6).guesses(invented(3), 5)
