from __future__ import annotations

from decimal import Context, Decimal, localcontext

import pytest
from scipy.stats import norm

from core.privacy.normal import _pi, normal_density, normal_tail

PI = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651"


@pytest.mark.parametrize("x", ["0", "0.001", "0.5", "1", "3.7", "8", "30"])
def test_beside_scipy(x: str) -> None:
    with localcontext(Context(prec=300)):
        assert float(normal_tail(Decimal(x))) == pytest.approx(norm.sf(float(x)), rel=1e-12)
        assert float(normal_density(Decimal(x))) == pytest.approx(norm.pdf(float(x)), rel=1e-12)


def test_more_digits_agree_with_fewer() -> None:
    found = []
    for digits in (60, 400):
        with localcontext(Context(prec=digits)):
            found.append(normal_tail(Decimal("2.25")))
    assert abs(found[0] - found[1]) < Decimal("1e-55")
    assert str(found[1]).startswith("0.0122244726550447")


@pytest.mark.parametrize("digits", [1, 28, 100])
def test_pi_has_more_digits_than_are_used(digits: int) -> None:
    with localcontext(Context(prec=200)):
        assert abs(_pi(digits) - Decimal(PI)) < Decimal(10) ** -(digits + 6)
