"""Croissant's metadata with who publishes, from what was sealed with the release."""

from __future__ import annotations

import json

from core.release.files.catalogue import CONTEXT, croissant
from core.release.reports.content import cite
from core.release.reports.croissant_record import croissant_record
from core.release.reports.imprint import Imprint
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.samples import SMALL

SEALED = croissant(CERTIFICATE, SMALL, {"synthetic.csv": b"a\n1\n", "synthetic.parquet": b"PAR1"}).encode()


def test_the_publisher_is_named() -> None:
    said = Imprint(title="People", organisation="Town", licence="our terms", note="All.", published="2027-01-02")
    found = json.loads(croissant_record(SEALED, CERTIFICATE, said))
    assert (found["name"], found["license"], found["datePublished"]) == ("People", "our terms", "2027-01-02")
    assert found["creator"] == found["publisher"] == {"@type": "sc:Organization", "name": "Town"}
    assert found["description"].startswith("All. ") and f"epsilon = {CERTIFICATE.epsilon:g}" in found["description"]
    assert found["citeAs"] == cite(said, CERTIFICATE)
    assert found["@context"]["citeAs"] == "cr:citeAs" and "url" not in found


def test_a_known_licence_is_an_address_and_so_is_the_place() -> None:
    link = "https://desk.example/shared?item=1"
    found = json.loads(croissant_record(SEALED, CERTIFICATE, Imprint(licence="CC BY 4.0", link=link)))
    assert found["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert found["url"] == link and found["citeAs"].endswith(f". {link}")


def test_an_older_context_is_written_anew() -> None:
    """The validator of the format calls a context without all of its terms not standard."""
    older = json.loads(SEALED) | {"@context": {"@vocab": "https://schema.org/"}}
    found = json.loads(croissant_record(json.dumps(older).encode(), CERTIFICATE, Imprint()))
    assert found["@context"] == json.loads(SEALED)["@context"] == CONTEXT
    assert {"fileSet", "isLiveDataset", "samplingRate"} < CONTEXT.keys()


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
