"""Metadata in the words of DataCite (schema 4), as JSON: what a repository asks for when it gives out a DOI."""

from __future__ import annotations

import json
from typing import Any

from core.release.certificate import Certificate
from core.release.files.catalogue import promise
from core.release.reports.imprint import Imprint
from core.release.reports.licences import licence
from core.schema.domain import Domain


def datacite(certificate: Certificate, domain: Domain, imprint: Imprint) -> str:
    """The properties that DataCite requires, but the DOI, which its registrar gives, and those that are known."""
    who = imprint.organisation or "Anonymous publisher"
    day = imprint.published or certificate.created
    described: dict[str, Any] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "creators": [{"name": who, "nameType": "Organizational"}],
        "titles": [{"title": imprint.title or "Untitled release", "lang": "en"}],
        "publisher": {"name": who},
        "publicationYear": day[:4],
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Synthetic data with differential privacy"},
        "alternateIdentifiers": [
            {"alternateIdentifier": certificate.plan, "alternateIdentifierType": "Release Desk plan"}
        ],
        "dates": [{"date": certificate.created, "dateType": "Created"}, {"date": day, "dateType": "Issued"}],
        "language": "en",
        "subjects": [{"subject": "differential privacy"}, {"subject": "synthetic data"}],
        "formats": ["text/csv", "application/vnd.apache.parquet"],
        "sizes": [f"{certificate.synthetic_rows} records", f"{len(domain)} columns"],
        "version": "1",
        "descriptions": [
            *([{"description": imprint.note, "descriptionType": "Abstract"}] if imprint.note else []),
            {"description": promise(certificate), "descriptionType": "Methods"},
        ],
    }
    if imprint.licence:
        described["rightsList"] = [_rights(imprint.licence)]
    if imprint.link:
        described["url"] = imprint.link
    if imprint.contact:
        described["contributors"] = [
            {"name": imprint.contact, "nameType": "Organizational", "contributorType": "ContactPerson"}
        ]
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def _rights(written: str) -> dict[str, str]:
    known = licence(written)
    if known is None:
        return {"rights": written}
    return {
        "rights": written,
        "rightsUri": known.url,
        "rightsIdentifier": known.spdx,
        "rightsIdentifierScheme": "SPDX",
        "schemeUri": "https://spdx.org/licenses/",
    }
