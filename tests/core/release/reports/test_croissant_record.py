"""Croissant's metadata with who publishes, from what was sealed with the release."""

from __future__ import annotations

import json

from core.release.files.catalogue import croissant
from core.release.reports.content import cite
from core.release.reports.croissant_record import croissant_record
from core.release.reports.imprint import Imprint
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.samples import SMALL

SEALED = croissant(CERTIFICATE, SMALL, {"synthetic.csv": b"a\n1\n", "synthetic.parquet": b"PAR1"}).encode()


def test_the_publisher_is_named() -> None:
    said = Imprint(title="People", organisation="Town", licence="CC0", note="All.", published="2027-01-02")
    found = json.loads(croissant_record(SEALED, CERTIFICATE, said))
    assert (found["name"], found["license"], found["datePublished"]) == ("People", "CC0", "2027-01-02")
    assert found["creator"] == found["publisher"] == {"@type": "sc:Organization", "name": "Town"}
    assert found["description"].startswith("All. ") and f"epsilon = {CERTIFICATE.epsilon:g}" in found["description"]
    assert found["citeAs"] == cite(said, CERTIFICATE)
    assert found["@context"]["citeAs"] == "cr:citeAs"


def test_what_is_not_known_stays_as_it_was_sealed() -> None:
    sealed, found = json.loads(SEALED), json.loads(croissant_record(SEALED, CERTIFICATE, Imprint()))
    assert {name: found[name] for name in ("name", "description", "datePublished", "distribution", "recordSet")} == {
        name: sealed[name] for name in ("name", "description", "datePublished", "distribution", "recordSet")
    }
    assert "license" not in found and "publisher" not in found


def test_nobody_but_an_organisation_or_a_person_creates() -> None:
    """A program as the creator is refused by Croissant's own validator."""
    older = json.loads(SEALED) | {"creator": {"@type": "sc:SoftwareApplication", "name": "x"}}
    for sealed in (SEALED, json.dumps(older).encode()):
        found = json.loads(croissant_record(sealed, CERTIFICATE, Imprint()))
        assert found["creator"]["@type"] == "sc:Organization"
    assert json.loads(SEALED)["creator"]["@type"] == "sc:Organization"
