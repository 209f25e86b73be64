"""The draft for the registry of deployments: YAML that reads back, with the layout of the registry's own records."""

from __future__ import annotations

import pytest
import yaml

from core.release.reports.imprint import Imprint
from core.release.reports.registry_record import registry_record
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.samples import SMALL

SAID = Imprint(
    title='Town: "people" & more\n- x', organisation="Town office", note="# not a comment", published="2026-02-03"
)
SECTIONS = {"basic", "dp_variant", "privacy_loss", "deployment_model", "implementation", "administrative"}


def read(imprint: Imprint, **changes: object) -> dict:
    return yaml.safe_load(registry_record(CERTIFICATE.model_copy(update=changes), SMALL, imprint))


def test_it_reads_back_with_every_section():
    found = read(SAID)
    assert set(found) == {"url_slug", "deployment"}
    assert found["url_slug"] == "town-people-more-x-town-office-2026"
    deployment = found["deployment"]
    assert set(deployment) == SECTIONS
    assert deployment["basic"]["name"] == SAID.title
    assert deployment["basic"]["description"] == SAID.note
    assert deployment["basic"]["data_curators"][0]["data_curator_name"] == "Town office"
    assert deployment["basic"]["publication_date"] == "2026-02-03"
    assert deployment["administrative"]["status"] == "Draft"


@pytest.mark.parametrize(
    ("delta", "variant"), [(0.0, "Pure DP"), (1e-9, "Approximate DP"), (2.5e-10, "Approximate DP")]
)
def test_the_promise_is_that_of_the_certificate(delta: float, variant: str):
    found = read(SAID, delta=delta)["deployment"]
    assert found["dp_variant"]["variant_name"] == variant
    assert found["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, **({"delta": delta} if delta else {})}
    assert found["privacy_loss"]["privacy_unit_details"] == CERTIFICATE.neighbours


def test_the_unit_is_that_of_the_table():
    assert read(SAID)["deployment"]["privacy_loss"]["privacy_unit"] == "Event-level"
    people = read(SAID, unit={"column": "person", "limit": 3, "neighbours": "add-remove"})
    assert people["deployment"]["privacy_loss"]["privacy_unit"] == "User-level"


def test_what_only_the_publisher_knows_is_left_to_do():
    assert registry_record(CERTIFICATE, SMALL, SAID).count("TODO") == 7
    assert registry_record(CERTIFICATE, SMALL, Imprint()).count("TODO") == 9
    assert registry_record(CERTIFICATE, SMALL, Imprint(link="https://desk.example")).count("TODO") == 8
