"""Every randomiser by the same checks: its law is private exactly, and it is what the code draws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.local.kinds import KINDS, randomiser_from
from core.local.randomisers import protocol
from core.local.randomisers.odds_ratio import ratio_below, within
from core.local.randomisers.protocol import Support, worst
from core.privacy.noise import Noise
from tests.core.local.draws import drawn_law

EPSILONS = [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(8)]
SIZES = [2, 3, 5, 8]


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_the_law_is_private_exactly(name, epsilon):
    for values in SIZES:
        law = randomiser_from(name, values, ratio_below(epsilon)).law()
        assert len(law) == values
        assert all(sum(line) == 1 and min(line) >= 0 for line in law)
        assert worst(law) <= ratio_below(epsilon)
        assert within(worst(law), epsilon)


@pytest.mark.parametrize("ratio", [Fraction(2), Fraction(7, 2)], ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_drawn_is_the_law(name, ratio):
    for values in (2, 3) if name == "unary" else (2, 3, 5):
        randomiser = randomiser_from(name, values, ratio)
        law = randomiser.law()
        for code in range(values):
            found = drawn_law(randomiser, code)
            assert [found.get(place, Fraction(0)) for place in range(len(law[code]))] == list(law[code])


@pytest.mark.parametrize("name", KINDS)
def test_reports_are_written_and_read_back(name):
    randomiser = randomiser_from(name, 6, ratio_below(Fraction(1)))
    reports = randomiser.randomise(np.arange(600) % 6, Noise())
    texts = [randomiser.write(report) for report in reports]
    again = randomiser.gather([randomiser.read(text) for text in texts])
    assert (randomiser.tally(again) == randomiser.tally(reports)).all()
    for text in ("", "zz", "-1", "999999", "1.5", "²", f"0{texts[0]}"):
        with pytest.raises(ValueError):
            randomiser.read(text)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if issubclass(kind, Support)])
def test_supports_are_counted_as_the_law_says(name):
    """hit and miss by the law, where a report supports the answers that it is likely from; and the tally."""
    for values in (2, 5, 7):
        randomiser = randomiser_from(name, values, Fraction(3))
        law = randomiser.law()
        outputs = range(len(law[0]))
        likely = max(max(line) for line in law)
        for one in range(values):
            if name == "unary":
                supports = {place for place in outputs if place >> one & 1}
            else:
                supports = {place for place in outputs if law[one][place] == likely}
            chances = [sum(line[place] for place in supports) for line in law]
            assert chances[one] == randomiser.hit
            assert {chances[other] for other in range(values) if other != one} == {randomiser.miss}
        codes = np.random.default_rng(1).integers(0, values, 4_000)
        shares = np.bincount(codes, minlength=values) / len(codes)
        reports = randomiser.randomise(codes, Noise())
        found = randomiser.unbiased(randomiser.tally(reports), len(codes))
        assert (np.abs(found - shares) < 6 * np.sqrt(randomiser.variance(shares, len(codes)))).all()


def test_collisions_of_hashes_are_exact():
    randomiser = randomiser_from("hashing", 11, Fraction(3))
    maps = np.arange(randomiser.maps)
    hashes = randomiser.hashed(maps[None, :], np.arange(11)[:, None])
    for one in range(11):
        for other in range(one):
            assert (hashes[one] == hashes[other]).sum() * randomiser.base == randomiser.maps


def test_a_window_that_moves_the_mean_is_inverted():
    randomiser = randomiser_from("piecewise", 9, Fraction(3))
    law = randomiser.law()
    for answer, line in enumerate(law):
        expected = np.array([float(chance) for chance in line])
        tally = np.round(expected * 10**9).astype(np.int64)
        mean, _ = randomiser.mean(tally)
        assert mean == pytest.approx(answer, abs=1e-6)


def test_a_wrong_probability_is_found():
    right = randomiser_from("k-ary", 4, Fraction(3))
    wrong = [list(line) for line in right.law()]
    wrong[0][0] += Fraction(1, 1000)
    wrong[0][1] -= Fraction(1, 1000)
    assert worst(tuple(map(tuple, wrong))) > right.ratio
    with pytest.raises(BadParameter):
        worst(((Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2))))


def test_e_to_the_epsilon_is_never_exceeded():
    for epsilon in [*EPSILONS, Fraction(1, 1000), Fraction(20), Fraction(355, 113)]:
        ratio = ratio_below(epsilon)
        assert within(ratio, epsilon)
        assert not within(ratio * (1 + Fraction(1, 10**8)), epsilon)
        assert ratio.numerator < 2**30
    with pytest.raises(BadParameter):
        ratio_below(Fraction(21))


def test_bad_sizes_are_refused(monkeypatch):
    for values in (1, True, 2.5):
        with pytest.raises(BadParameter):
            randomiser_from("k-ary", values, Fraction(2))
    with pytest.raises(BadParameter):
        replace(randomiser_from("k-ary", 2, Fraction(2)), ratio=Fraction(1))
    for name in ("subset", "unary"):
        with pytest.raises(BadParameter):
            randomiser_from(name, 257, Fraction(2))
    monkeypatch.setattr(protocol, "MOST_LISTED", 10)
    with pytest.raises(Refused):
        randomiser_from("k-ary", 4, Fraction(2)).law()
