from __future__ import annotations

from decimal import Context, Decimal, localcontext

import pytest
from scipy.stats import norm

from core.privacy.normal import normal_density, normal_tail


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
