"""Metadata for data catalogues: the release described in Croissant's vocabulary (JSON-LD), from public facts only.

Croissant (MLCommons, version 1.0) extends schema.org's Dataset by the files of a data set, their columns and types.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from core.base.odds import budget_warnings
from core.base.wording import amount
from core.release.certificate import Certificate
from core.schema.domain import Attribute, Booleans, Categories, Dates, Domain, Integers
from core.schema.guesses import origin

TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet",
    "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
    "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField",
    "transform",
)  # fmt: skip
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "sc": "https://schema.org/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS},
}
"""Every term of version 1.0, used or not: its validator calls any other context not standard."""
FORMATS = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def croissant(certificate: Certificate, domain: Domain, files: Mapping[str, bytes]) -> str:
    """The description of a release whose record files are given by name."""
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"release-{certificate.plan}",
        "description": promise(certificate),
        "version": "1.0.0",
        "datePublished": certificate.created,
        "creator": creator(),
        "creditText": f"Made by {certificate.software}",
        "identifier": certificate.plan,
        "isAccessibleForFree": True,
        "rai:personalSensitiveInformation": promise(certificate),
        "distribution": [_file(name, content) for name, content in files.items()],
        "recordSet": [_records(domain, next(iter(files)))],
    }
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def creator(organisation: str = "") -> dict[str, str]:
    """Who answers for a data set: somebody, never a program."""
    return {"@type": "sc:Organization", "name": organisation or "Anonymous publisher"}


def promise(certificate: Certificate) -> str:
    """What a reader is promised, in two sentences, and more where the budget makes that little."""
    delta = f", delta = {certificate.delta:g}" if certificate.delta else " (pure)"
    little = " ".join(budget_warnings(certificate.epsilon, certificate.delta))
    return (
        f"{amount(certificate.synthetic_rows)} synthetic records, released with differential privacy: "
        f"epsilon = {certificate.epsilon:g}{delta}. "
        f"{certificate.neighbours} No record belongs to a person. {little}"
    ).rstrip()


def _file(name: str, content: bytes) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{len(content)} B",
        "encodingFormat": FORMATS[name.rsplit(".", 1)[-1]],
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(domain: Domain, file: str) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "records",
        "name": "records",
        "description": "One synthetic record per line.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"records/{attribute.name}",
                "name": attribute.name,
                "description": origin(attribute.note) or "A column of the public schema.",
                "dataType": _type(attribute),
                "source": {"fileObject": {"@id": file}, "extract": {"column": attribute.name}},
            }
            for attribute in domain
        ],
    }


def _type(attribute: Attribute) -> str:
    if isinstance(attribute, Booleans):
        return "sc:Boolean"
    if isinstance(attribute, Dates):
        return "sc:DateTime" if attribute.storage == "timestamp" else "sc:Date"
    if isinstance(attribute, Categories):
        return "sc:Text" if any(isinstance(value, str) for value in attribute.values) else "sc:Integer"
    return "sc:Integer" if isinstance(attribute, Integers) else "sc:Float"
