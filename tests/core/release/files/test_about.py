"""The text beside the files names what lies there, and what does not."""

from __future__ import annotations

import zipfile
from io import BytesIO

from core.models.histogram import Histogram
from core.release.files.about import about
from tests.core.release.sealed import sealed
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.samples import SMALL, small_cells


def test_every_file_of_a_release_is_explained():
    release = sealed(Histogram(SMALL, small_cells(900)), CERTIFICATE, SMALL.names)
    with zipfile.ZipFile(BytesIO(release.zip())) as archive:
        text = archive.read("README.txt").decode()
        for name in archive.namelist():
            assert name == "README.txt" or name in text
    assert text == about(release.certificate, SMALL)


def test_what_is_left_out_or_in_doubt_is_named():
    plain = about(CERTIFICATE, SMALL)
    assert "Not in the lists" not in plain and "Mostly noise" not in plain and "copies/" not in plain
    without = about(CERTIFICATE.without_tables([("colour", "size")]), SMALL)
    assert "Not in the lists of tables" in without
    assert f"({SMALL.cells(('colour', 'size'))} cells)" in without
    assert "Mostly noise" in about(CERTIFICATE.with_doubtful([("colour", "old")]), SMALL)
    assert "copies/                           10 tables" in about(CERTIFICATE.with_copies(10), SMALL)
