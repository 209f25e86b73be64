"""DataCite's required properties, from the release and its publisher."""

from __future__ import annotations

import json

from core.release.reports.datacite import datacite
from core.release.reports.imprint import Imprint
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.samples import SMALL


def test_the_required_properties_are_there():
    said = Imprint(
        title="People", organisation="Town", licence="CC0", contact="a@b.example", note="All.", published="2027-01-02"
    )
    found = json.loads(datacite(CERTIFICATE, SMALL, said))
    assert found["creators"] == [{"name": "Town", "nameType": "Organizational"}]
    assert found["titles"][0]["title"] == "People"
    assert found["publisher"] == {"name": "Town"}
    assert found["publicationYear"] == "2027"
    assert found["types"]["resourceTypeGeneral"] == "Dataset"
    [rights] = found["rightsList"]
    assert (rights["rights"], rights["rightsIdentifier"]) == ("CC0", "CC0-1.0")
    assert rights["rightsUri"] == "https://creativecommons.org/publicdomain/zero/1.0/"
    assert found["contributors"][0]["name"] == "a@b.example"
    assert [each["descriptionType"] for each in found["descriptions"]] == ["Abstract", "Methods"]
    assert f"epsilon = {CERTIFICATE.epsilon:g}" in found["descriptions"][1]["description"]


def test_what_is_not_known_is_left_out():
    found = json.loads(datacite(CERTIFICATE, SMALL, Imprint()))
    assert not {"rightsList", "contributors", "url"} & found.keys()
    own = json.loads(datacite(CERTIFICATE, SMALL, Imprint(licence="our terms", link="https://desk.example")))
    assert own["rightsList"] == [{"rights": "our terms"}] and own["url"] == "https://desk.example"
    assert found["publicationYear"] == CERTIFICATE.created[:4]
