"""Single columns had their noise taken out before, so models and records meet them closely."""

from __future__ import annotations

import numpy as np
import pytest

from core.mechanisms.kit.portions import Noisy
from core.mechanisms.tree.cliques import fit_junction_tree
from core.mechanisms.tree.columns import FIRM, OneWay, slacks
from core.mechanisms.tree.compression import Compression, Grouping
from core.mechanisms.tree.lawfulness import Lawfulness, MergedRules
from core.mechanisms.tree.records import rake_to_tables
from core.models.fitting.triangulation import join, triangulate
from core.models.points import Points
from core.schema.domain import Booleans, Domain

DOMAIN = Domain((Booleans(name="a"), Booleans(name="b")))
COMPRESSION = Compression(DOMAIN, {name: Grouping.rare(np.ones(2), 0.0) for name in DOMAIN.names})
RULES = MergedRules(Lawfulness.of(DOMAIN), COMPRESSION, {}, {})
SIGMA = 40.0
KNOWN = Noisy({("a",): np.array([600.0, 400.0])}, {("a",): SIGMA, ("b",): SIGMA})


def test_a_single_column_has_less_slack_than_a_pair():
    known = KNOWN.joined(Noisy({("a", "b"): np.zeros((2, 2))}, {("a", "b"): SIGMA}, frozenset([("a", "b")])))
    assert slacks(known)["a", "b"] == SIGMA
    assert 0 < slacks(known)["a",] == FIRM * SIGMA < SIGMA / 2


def test_records_are_moved_close_to_a_single_column():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    raked = rake_to_tables(Points(COMPRESSION.domain, codes, np.full(4, 250.0)), KNOWN, RULES)
    assert raked.marginal(("a",))[0] == pytest.approx(600, abs=FIRM * SIGMA)


def test_the_tree_is_moved_close_to_a_single_column():
    counts = {name: np.array([500.0, 500.0]) for name in DOMAIN.names}
    columns = OneWay(1_000.0, 1.0, counts, dict.fromkeys(DOMAIN.names, SIGMA), COMPRESSION, {}, {})
    structure = join(DOMAIN.names, triangulate({"a": 2, "b": 2}, [("a", "b")]))
    pair = Noisy({("a", "b"): np.zeros((2, 2))}, {("a", "b"): SIGMA}, frozenset([("a", "b")]))
    fitted = fit_junction_tree(columns, structure, KNOWN.joined(pair), RULES)
    assert fitted.total * fitted.beliefs[0].sum(axis=1)[0] == pytest.approx(600, abs=1.01 * FIRM * SIGMA)
