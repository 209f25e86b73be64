"""A release's metadata in Croissant's words, with who publishes it: what a catalogue of data sets asks for."""

from __future__ import annotations

import json
from typing import Any

from core.release.certificate import Certificate
from core.release.files.catalogue import creator
from core.release.reports.content import cite
from core.release.reports.imprint import Imprint


def croissant_record(sealed: bytes, certificate: Certificate, imprint: Imprint) -> str:
    """The description as it was sealed with the release, and what the publisher says in place of what was not known.

    The creator is written anew, also where older releases named a program, which Croissant does not allow.
    """
    described: dict[str, Any] = json.loads(sealed)
    described["@context"] = {**described["@context"], "citeAs": "cr:citeAs"}
    described["creator"] = creator(imprint.organisation)
    described["citeAs"] = cite(imprint, certificate)
    if imprint.title:
        described["name"] = imprint.title
    if imprint.note:
        described["description"] = f"{imprint.note} {described['description']}"
    if imprint.licence:
        described["license"] = imprint.licence
    if imprint.organisation:
        described["publisher"] = creator(imprint.organisation)
    if imprint.published:
        described["datePublished"] = imprint.published
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"
