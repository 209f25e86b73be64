"""Who is alone with some facts, against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from core.attacks.linkage import singled_out
from core.base.errors import BadParameter


def test_the_alone_are_counted_as_by_hand():
    generator = np.random.default_rng()
    frame = pd.DataFrame(
        {"age": generator.integers(0, 30, 300), "town": generator.choice(["a", "b", None], 300), "ill": True}
    )
    facts = list(zip(frame["age"], frame["town"].astype(str), strict=True))
    times = Counter(facts)
    found = singled_out(frame, ["age", "town"])
    assert found.people == 300
    assert found.alone == sum(times[each] == 1 for each in facts)
    assert found.among_few == sum(times[each] < 5 for each in facts)
    assert found.share == found.alone / 300
    assert singled_out(frame, ["ill"]).alone == 0


@pytest.mark.parametrize(("columns", "said"), [([], "choose one"), (["age", "height"], "'height' is not in the table")])
def test_columns_must_be_there(columns, said):
    with pytest.raises(BadParameter, match=said):
        singled_out(pd.DataFrame({"age": [1]}), columns)
