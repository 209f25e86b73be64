"""What each sampler makes of given words: known answers, as ciphers have them, and every edge by exact arithmetic.

The laws are looked at elsewhere, with chance; here a small mistake cannot hide in it. Whoever changes a sampler on
purpose writes the new answers down after the tests of its law have passed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from core.privacy import samplers
from core.privacy.normal import normal_tail


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> np.random.PCG64:
    """The same words for every test."""
    source = np.random.PCG64(20)
    monkeypatch.setattr(samplers, "words", lambda count: source.random_raw(count))
    return source


def scripted(monkeypatch: pytest.MonkeyPatch, *answers: int) -> Iterator[int]:
    queue = iter(answers)
    monkeypatch.setattr(samplers, "words", lambda count: np.array([next(queue) for _ in range(count)], dtype=np.uint64))
    return queue


def halves(*numbers: int) -> list[int]:
    """Words whose halves are these numbers, in the order in which they are read."""
    padded = np.array([*numbers, *[0] * (len(numbers) % 2)], dtype=np.uint32)
    return padded.view(np.uint64).tolist()


SCORES = np.array([5, -3, 17, 17, 2, 16, -(2**62), 2**62], dtype=np.int64)
MANY = np.arange(300, dtype=np.int64) % 41
CALLS: dict[str, Callable[[], object]] = {
    "below 3": lambda: samplers.below(3, 4_000),
    "below 2^24": lambda: samplers.below(2**24, 1_000),
    "below 2^24 + 1": lambda: samplers.below(2**24 + 1, 1_000),
    "below 3 2^60": lambda: samplers.below(3 * 2**60, 1_000),
    "below 2^62": lambda: samplers.below(2**62, 300),
    "below 2^62 + 1": lambda: samplers.below(2**62 + 1, 300),
    "below 10^30": lambda: samplers.below(10**30, 300),
    "geometric": lambda: samplers.geometric(5_000),
    "coins": lambda: samplers.bernoulli_exp(np.arange(3_000, dtype=np.int64), 700),
    "wide coins": lambda: samplers.bernoulli_exp(np.arange(500).astype(object) * 10**28, 10**30),
    "laplace 1/3": lambda: samplers.laplace(3_000, 1, 3),
    "laplace 22/7": lambda: samplers.laplace(3_000, 22, 7),
    "laplace 10^6": lambda: samplers.laplace(70_000, 10**6, 1),
    "laplace 2^61": lambda: samplers.laplace(300, 2**61, 1),
    "laplace 2^39": lambda: samplers.laplace(300, 2**59 + 3, 2**20),
    "laplace 10^40": lambda: samplers.laplace(200, 10**40 + 1, 3),
    "gaussian 1/50": lambda: samplers.gaussian(3_000, 1, 50),
    "gaussian 7/3": lambda: samplers.gaussian(70_000, 7, 3),
    "gaussian 10^36": lambda: samplers.gaussian(40, 10**36, 1),
    "gaussian 10^50": lambda: samplers.gaussian(20, 10**50, 7),
    "choice": lambda: [samplers.select(SCORES[:6], Fraction(1, 4)) for _ in range(200)],
    "far choice": lambda: [samplers.select(SCORES, Fraction(1, 2**60)) for _ in range(200)],
    "choice among many": lambda: [samplers.select(MANY, Fraction(1, 7)) for _ in range(200)],
}
KNOWN = {
    "below 3": "3126f0f635de3210",
    "below 2^24": "ce9cfd64478db308",
    "below 2^24 + 1": "7b14850d7ce6c03e",
    "below 3 2^60": "6909a3850b6af4be",
    "below 2^62": "253ce5a589e44ef7",
    "below 2^62 + 1": "5a026e050586707b",
    "below 10^30": "bc1889af9890b3c8",
    "geometric": "92fb309f30d673d3",
    "coins": "c4cc81e9552e6bc2",
    "wide coins": "5a132458dc82f5ba",
    "laplace 1/3": "9c4830cfab1c8bcf",
    "laplace 22/7": "c1fefc5068bf37cf",
    "laplace 10^6": "1ef8ac99da042717",
    "laplace 2^61": "6f49c09647883e2a",
    "laplace 2^39": "ea6722dfe0e617bf",
    "laplace 10^40": "b2b7dad8445f9722",
    "gaussian 1/50": "712f988ca1f70f8d",
    "gaussian 7/3": "4ed8eb80afb3655a",
    "gaussian 10^36": "aa013b97987b4d72",
    "gaussian 10^50": "f861e8cc6f0dc76b",
    "choice": "cbc585f44681ade6",
    "far choice": "b065b5add3270b4b",
    "choice among many": "f5c231ce01280fad",
}


@pytest.mark.parametrize("call", CALLS)
def test_known_answers(call: str, stream: np.random.PCG64) -> None:
    told = ",".join(str(int(number)) for number in CALLS[call]())  # type: ignore[attr-defined]
    # The next word belongs to the answer: no call reads more or fewer than it should.
    told += f";{stream.random_raw()}"
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == KNOWN[call]


def test_half_words_that_favour_small_remainders_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2^32 is 1 modulo 3, so the last number of 32 bits is one too many; the one before it is the last that counts.
    rest = scripted(monkeypatch, *halves(2**32 - 1, 2**32 - 2, 7, 1), *halves(5, 0))
    assert samplers.below(3, 3).tolist() == [2, 1, 2]
    assert next(rest, None) is None
    surplus = 2**64 % (3 * 2**60)
    rest = scripted(monkeypatch, 2**64 - surplus, 2**64 - surplus - 1)
    assert samplers.below(3 * 2**60, 1).tolist() == [3 * 2**60 - 1]
    assert next(rest, None) is None


def test_wide_numbers_take_the_first_bits_and_none_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = 2**62 + 1  # 63 bits of one word
    rest = scripted(monkeypatch, bound << 1, (bound - 1) << 1 | 1)
    assert samplers.below(bound, 1).tolist() == [bound - 1]
    assert next(rest, None) is None
    rest = scripted(monkeypatch, 5 << 58, 3)  # a bound of 70 bits: the first 70 of two words
    assert samplers.below(2**70, 1).tolist() == [((5 << 58 << 64) | 3) >> 58]
    assert next(rest, None) is None


def test_nothing_is_drawn_for_one_value_or_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch)
    assert samplers.below(1, 3).tolist() == [0, 0, 0]
    for nothing in (samplers.below(5, 0), samplers.laplace(0, 1, 1), samplers.gaussian(0, 1, 1)):
        assert nothing.dtype == np.int64 and not nothing.size


@pytest.mark.parametrize("power", [1, 2, 17, 43, 44])
def test_a_geometric_word_beside_an_edge_decides_at_once(power: int, monkeypatch: pytest.MonkeyPatch) -> None:
    edge = samplers.exp_floor(power, 64)
    rest = scripted(monkeypatch, edge + 1)
    assert samplers.geometric(1).tolist() == [power - 1]
    if power < 44:
        rest = scripted(monkeypatch, edge - 1)
        assert samplers.geometric(1).tolist() == [power]
    assert next(rest, None) is None


@pytest.mark.parametrize("power", [1, 5, 44])
def test_a_word_on_an_edge_is_compared_with_all_of_its_digits(power: int, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = divmod(samplers.exp_floor(power, 128), 2**64)
    third = samplers.exp_floor(power, 192) % 2**64
    for words, lower in (
        ([second - 1], True), ([second + 1], False), ([second, third - 1], True), ([second, third + 1], False)
    ):  # fmt: skip
        rest = scripted(monkeypatch, *words)
        assert samplers._continues_below(power, first) is lower
        assert next(rest, None) is None


@pytest.mark.parametrize("guess", [0, 1, 2, 5, 6, 7, 8, 40])
@pytest.mark.parametrize("least", [0, 1, 2, 5, 6, 7, 9, 33])
def test_the_least_reached_number_is_found_from_any_guess(least: int, guess: int) -> None:
    asked: list[int] = []

    def reached(number: int) -> bool:
        asked.append(number)
        return number >= least

    assert samplers._least(reached, guess) == least
    assert min(asked) >= 0
    assert len(set(asked)) == len(asked) <= 4 + 2 * max(1, abs(least - guess)).bit_length()
    for open_ in asked:
        assert samplers._least(lambda number, open_=open_: None if number == open_ else number >= least, guess) is None


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1), Fraction(25, 2)])
@pytest.mark.parametrize("size", [0, 1, 4])
def test_a_number_reaches_an_edge_only_if_all_its_continuations_do(variance: Fraction, size: int) -> None:
    with localcontext(Context(prec=120)):
        x = (Decimal(2 * size + 1) ** 2 / 4 * variance.denominator / variance.numerator).sqrt()
        for bits in (64, 128):
            edge = int(normal_tail(x) * 2**bits)
            found = [samplers._reached(edge + step, bits, variance, size) for step in (-1, 0, 1)]
            assert found == [False, None, True]


def test_far_edges_are_reached_by_every_number_but_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # (size + 1/2)^2 > 4 bits: the tail is below e^-128 < 2^-64, whatever the number is.
    assert samplers._reached(1, 64, Fraction(1), 16) is True
    assert samplers._reached(0, 64, Fraction(1), 16) is None
    assert samplers._reached(1, 64, Fraction(1, 4), 8) is True


@pytest.mark.parametrize("sizes", [[1, 1], [3, 0, 5], [0, 2, 1, 900], [1, 0, 0, 7, 0], [4]])
def test_a_layer_is_where_the_number_falls_among_the_weights(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with localcontext(Context(prec=120)):
        weights = [size * Decimal(-place).exp() for place, size in enumerate(sizes)]
        ends = [sum(weights[: place + 1], Decimal(0)) / sum(weights) for place in range(len(sizes))]
        for place, size in enumerate(sizes):
            low, high = ends[place - 1] if place else Decimal(0), ends[place]
            if size:
                for share in ("0.000001", "0.5", "0.999999"):
                    rest = scripted(monkeypatch, int((low + Decimal(share) * (high - low)) * 2**64))
                    assert samplers._layer(sizes) == place
                    assert next(rest, None) is None


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9), Fraction(10**5 + 1, 7)], ids=str)
def test_words_beside_an_edge_of_the_normal_law_are_settled_exactly(
    variance: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Floating point proposes the same size for words on both sides of an edge: one proposal is wrong, and noticed."""
    for size in (0, 1, 3):
        with localcontext(Context(prec=80)):
            edge = Fraction(2 * size + 1, 2) ** 2 / variance
            number = int(normal_tail((Decimal(edge.numerator) / Decimal(edge.denominator)).sqrt()) * 2**64)
        near = [number - 50, number - 1, number + 1, number + 50]
        scripted(monkeypatch, *(2 * each for each in near), *(2 * each + 1 for each in near))
        found = samplers.gaussian(8, variance.numerator, variance.denominator).tolist()
        assert found == [size + 1, size + 1, size, size, -size - 1, -size - 1, -size, -size]


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("second", [2**20, 2**40 + 1, 2**64 - 1])
def test_a_word_without_a_bit_is_settled_by_the_next(second: int, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rest = scripted(monkeypatch, sign, second)
    size = abs(int(samplers.gaussian(1, 10**6, 1)[0]))
    assert next(rest, None) is None
    with localcontext(Context(prec=80)):
        low, high = (normal_tail(Decimal(2 * size + step) / 2000) * 2**128 for step in (1, -1))
    assert low <= second and second + 1 <= high
