"""A draft record for the OpenDP registry of deployments of differential privacy, in its YAML layout.

Everything that a release knows of itself is filled in; what only the publisher can say (region, sector, reasons) is
a text that begins with TODO. The record says 'Draft', and a person has to read it before it is sent.
"""

from __future__ import annotations

import json
import re
from typing import Any

from core.base.wording import amount
from core.registry import query_from_json
from core.release.certificate import Certificate
from core.release.reports.imprint import Imprint
from core.schema.domain import Domain

TODO = "TODO"


def registry_record(certificate: Certificate, domain: Domain, imprint: Imprint) -> str:
    """YAML that any reader of YAML 1.2 understands: texts are JSON strings, which are YAML strings too."""
    who = imprint.organisation or f"{TODO}: name of the organisation"
    title = imprint.title or f"{TODO}: title of the data"
    return "\n".join(_lines(_record(certificate, domain, imprint, title, who))) + "\n"


def _record(certificate: Certificate, domain: Domain, imprint: Imprint, title: str, who: str) -> dict[str, Any]:
    asked = "; ".join(query_from_json(query).sentence(domain) for query in certificate.queries)
    by_id = certificate.unit.get("column") is not None
    parameters = {"epsilon": certificate.epsilon, **({"delta": certificate.delta} if certificate.delta else {})}
    columns = ", ".join(attribute.name for attribute in domain)
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", f"{title} {who} {certificate.created[:4]}".lower()).strip("-"),
        "deployment": {
            "basic": {
                "name": title,
                "data_curators": [
                    {"data_curator_name": who, "data_curator_type": f"{TODO}: Industry, Government, ..."}
                ],
                "description": imprint.note or f"Synthetic records and tables of counts: {asked}.",
                "intended_use": f"{TODO}: what the data are published for",
                "data_product_type": "Synthetic data",
                "data_product_region": f"{TODO}: region",
                "data_product_sector": f"{TODO}: sector",
                "publication_date": imprint.published or certificate.created,
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if certificate.delta else "Pure DP",
                "data_domain": f"{amount(certificate.synthetic_rows)} synthetic records with the columns {columns}.",
                "unprotected_quantities": "The schema: bounds, bins and lists of values are public and not computed "
                "from the data, or were paid for." + _rows(certificate),
            },
            "privacy_loss": {
                "privacy_unit": "User-level" if by_id else "Event-level",
                "privacy_unit_details": certificate.neighbours,
                "privacy_parameters": parameters,
                "privacy_parameters_details": "Of this release alone; its certificate says which spend it was.",
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "implementation": {
                "mechanisms": f"{certificate.parameters.get('title', certificate.mechanism)} "
                f"({certificate.mechanism}), asked for {asked}.",
                "justification": f"{TODO}: why this budget",
            },
            "administrative": {
                "evidence_sources": {
                    "certificate": {
                        "evidence_source_type": "Formal publication by the deploying organization",
                        "misc": {
                            "title": f"Certificate of release {certificate.plan[:16]}, made by {certificate.software}",
                            "url": imprint.link or f"{TODO}: where the release can be downloaded",
                        },
                    }
                },
                "status": "Draft",
                "registry_authors": [f"{TODO}: your name"],
                "tier": 2,
            },
        },
    }


def _rows(certificate: Certificate) -> str:
    return " The number of rows." if certificate.unit.get("neighbours") == "replace" else ""


def _lines(value: dict[str, Any], depth: int = 0) -> list[str]:
    """Mappings and lists in YAML's block style."""
    found, space = [], "  " * depth
    for name, each in value.items():
        if isinstance(each, dict):
            found += [f"{space}{name}:", *_lines(each, depth + 1)]
        elif isinstance(each, list):
            found.append(f"{space}{name}:")
            for item in each:
                inner = _lines(item, depth + 2) if isinstance(item, dict) else [f"{space}    {_scalar(item)}"]
                found += [f"{space}  - {inner[0].lstrip()}", *inner[1:]]
        else:
            found.append(f"{space}{name}: {_scalar(each)}")
    return found


def _scalar(value: object) -> str:
    # YAML's own reader of floats wants a point: 1e-09 would be a text.
    return (
        repr(value).replace("e-", ".0e-") if isinstance(value, float) and "." not in repr(value) else json.dumps(value)
    )
