"""Rows of a private table that break rules, for its curator."""

from __future__ import annotations

import numpy as np

from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.rules.broken_rows import rows_that_break
from core.rules.rule_set import rules_of
from core.table.table import Table
from tests.core.rules.households import COUNTS, RULES, any_codes, households


def test_rows_are_counted_as_records_are():
    domain, codes = households(*RULES), any_codes(300)
    table = Table.load(domain.decode(codes, np.random.default_rng(1)), domain, Unit.row(), Noise())
    encoded = np.stack([table.codes[name] for name in domain.names], axis=1).astype(np.int64)
    found = rows_that_break(table)
    assert list(found) == list(RULES)
    assert {text: number for text, number in found.items() if number} == rules_of(domain).broken(encoded)
    assert found[COUNTS[0]] > 0
