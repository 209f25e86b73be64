"""What a spreadsheet would run is neutralised, and comes back."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from core.models.histogram import Histogram
from core.release.files.spreadsheet import neutral, plain, to_csv
from core.schema.domain import Categories, Domain, Integers
from tests.core.release.sealed import sealed
from tests.core.release.test_certificate import CERTIFICATE


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'quoted", "''", "=cmd|' /C calc'!A0"])
def test_formulas_are_neutralised_and_come_back(text):
    assert neutral(text)[0] == "'"
    assert plain(neutral(text)) == text


def test_harmless_text_and_numbers_stay():
    for value in ("north", "", "a=b", 3, -3, None):
        assert neutral(value) == value


def test_no_text_cell_of_a_download_can_start_a_formula():
    domain = Domain(
        (
            Categories(name="=HYPERLINK()", values=("=1", "@x", "-y", "ok", "+1", "'q")),
            Integers(name="debt", low=-5, high=0),
        )
    )
    cells = np.ones(domain.shape())
    certificate = CERTIFICATE.model_copy(update={"schema_digest": domain.digest, "synthetic_rows": 36})
    packed = sealed(Histogram(domain, cells), certificate, domain.names)
    read = pd.read_csv(io.BytesIO(packed.csv()))
    text = read.iloc[:, 0].astype(str)
    assert not text.str.startswith(("=", "+", "-", "@", "\t", "\r")).any()
    assert read.columns[0] == "'=HYPERLINK()"
    assert sorted(set(text.map(plain))) == sorted(domain["=HYPERLINK()"].values)
    assert read["debt"].min() == -5
    assert set(packed.records()["=HYPERLINK()"]) == set(domain["=HYPERLINK()"].values)


def test_csv_of_text_with_missing_values():
    frame = pd.DataFrame({"a": ["=x", None], "b": [1.5, np.nan]})
    assert to_csv(frame) == b"a,b\n'=x,1.5\n,\n"
