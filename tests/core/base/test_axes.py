import numpy as np
import pytest

from core.base.axes import summed

TABLE = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("columns", [(), ("a",), ("b", "c"), ("c", "a"), ("c", "b", "a")])
def test_agrees_with_einsum(columns):
    expected = np.einsum(TABLE, [0, 1, 2], ["abc".index(column) for column in columns])
    assert np.array_equal(summed(TABLE, ("a", "b", "c"), columns), expected)
