"""A release's metadata in Croissant's words, with who publishes it: what a catalogue of data sets asks for."""

from __future__ import annotations

import json
from typing import Any

from core.release.certificate import Certificate
from core.release.files.catalogue import CONTEXT, creator
from core.release.reports.content import cite
from core.release.reports.imprint import Imprint
from core.release.reports.licences import licence


def croissant_record(sealed: bytes, certificate: Certificate, imprint: Imprint) -> str:
    """The description as it was sealed with the release, and what the publisher says in place of what was not known.

    Context and creator are written anew, also where older releases had a shorter one, and a program in its place.
    """
    described: dict[str, Any] = json.loads(sealed)
    described["@context"] = CONTEXT
    described["creator"] = creator(imprint.organisation)
    described["citeAs"] = cite(imprint, certificate)
    if imprint.title:
        described["name"] = imprint.title
    if imprint.note:
        described["description"] = f"{imprint.note} {described['description']}"
    if imprint.licence:
        known = licence(imprint.licence)
        described["license"] = imprint.licence if known is None else known.url
    if imprint.link:
        described["url"] = imprint.link
    if imprint.organisation:
        described["publisher"] = creator(imprint.organisation)
    if imprint.published:
        described["datePublished"] = imprint.published
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"
