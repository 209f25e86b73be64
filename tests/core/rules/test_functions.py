"""Keys become functions with which the counts can be met: what is accepted when it is declared can be released."""

from __future__ import annotations

import numpy as np
import pytest

from core.rules.contradictions import check_rules
from core.rules.functions import decide_keys
from core.rules.records import obeying
from core.schema.domain import Categories, Domain
from tests.core.rules.households import KEY, any_codes, households

SIZES = {"a": 6, "b": 3, "c": 3, "d": 2}
PLAIN = Domain(tuple(Categories(name=name, values=tuple(range(size))) for name, size in SIZES.items()))
PLACES = [f"count(postcode = {place}) = {number}" for place, number in ((1, 3), (2, 4), (3, 5), (4, 6))]
DECLARED = [
    # only postcodes 1 and 3 together have eight people
    households(KEY, *PLACES, "count(region = north) = 8"),
    PLAIN.obeying(["a -> b", "b -> c", *(f"count(c = {place}) = 6" for place in range(3))]),
    PLAIN.obeying(["a -> b", "b -> c", "a -> c", *(f"count(c = {place}) = 6" for place in range(3))]),
    PLAIN.obeying(["a -> b", "a -> c", *(f"count(b = {place // 3} and c = {place % 3}) = 3" for place in range(6))]),
    PLAIN.obeying(["a -> b", "count(b = 0 or b = 1) = 18"]),
    PLAIN.obeying(["d -> b", "if b = 0 then c = 0", "if b = 1 then c = 1", "never: b = 2", "count(c = 0) = 9"]),
]


@pytest.mark.parametrize("domain", DECLARED, ids=lambda domain: "; ".join(domain.rules)[:60])
def test_counts_that_keys_can_meet_are_met(domain):
    rules = check_rules(domain)
    for seed in range(8):
        generator = np.random.default_rng(seed)
        codes = np.stack([generator.integers(0, size, 18) for size in domain.sizes], axis=1).astype(np.int64)
        made = obeying(rules, codes, generator)
        assert len(made) == 18 and not rules.broken(made)


def test_keys_follow_the_lawful_records():
    found, codes = check_rules(households(KEY, "never: postcode = 1 and region = north")), any_codes(400)
    decided = decide_keys(found, codes)
    made = obeying(found, codes, np.random.default_rng(1))
    assert decided.lawful(made).all() and (made[made[:, 10] == 0, 9] == 1).all()


def test_a_key_that_follows_from_others_follows_them():
    rules = check_rules(PLAIN.obeying(["a -> c", "a -> b", "b -> c"]))
    generator = np.random.default_rng(2)
    codes = np.stack([generator.integers(0, size, 300) for size in PLAIN.sizes], axis=1).astype(np.int64)
    to_c, to_b, on = (rules.function(rule, codes) for rule in rules.keys)
    assert (to_c != on[to_b]).any(), "most records say otherwise"
    decided = {rule.text: rule.table.argmax(axis=1) for rule in decide_keys(rules, codes).single}
    assert (decided["a -> c"] == decided["b -> c"][decided["a -> b"]]).all()
    kept = obeying(rules, codes, generator)
    assert set(kept[:, 0].tolist()) == set(range(6)), "no value of the key is lost"


def test_keys_leave_a_record_where_none_of_those_drawn_keeps_the_rules():
    """Whatever the function, one value of the key has to go with what the other rules leave."""
    domain = PLAIN.obeying(["d -> b", "always: b = 2 or c = 2", "never: c = 2 and d = 0", "never: c = 2 and d = 1"])
    codes = np.zeros((5, 4), dtype=np.int64)
    made = obeying(check_rules(domain), codes, np.random.default_rng(1))
    assert (made[:, 1] == 2).all()
