"""Licences of data sets by the names that people write, with the identifier and the address that catalogues ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Licence:
    """A licence that is known everywhere."""

    spdx: str
    """Its identifier in the list of SPDX."""
    url: str


_CREATIVE_COMMONS = "https://creativecommons.org"
_OPEN_DATA_COMMONS = "https://opendatacommons.org/licenses"
KNOWN = (
    Licence("CC0-1.0", f"{_CREATIVE_COMMONS}/publicdomain/zero/1.0/"),
    *(
        Licence(f"CC-{kind.upper()}-4.0", f"{_CREATIVE_COMMONS}/licenses/{kind}/4.0/")
        for kind in ("by", "by-sa", "by-nd", "by-nc", "by-nc-sa", "by-nc-nd")
    ),
    Licence("ODbL-1.0", f"{_OPEN_DATA_COMMONS}/odbl/1-0/"),
    Licence("ODC-By-1.0", f"{_OPEN_DATA_COMMONS}/by/1-0/"),
    Licence("PDDL-1.0", f"{_OPEN_DATA_COMMONS}/pddl/1-0/"),
    Licence("OGL-UK-3.0", "https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/"),
)
ONLY_VERSION = {"cc0": "cc010"}
"""Names that need no version, because there is one only."""


def licence(written: str) -> Licence | None:
    """The licence of a name, however its signs are set; None where it is not known for certain, as without a version.

    >>> licence("CC BY 4.0").spdx, licence("cc-by-nc-4.0").spdx, licence("CC0").spdx
    ('CC-BY-4.0', 'CC-BY-NC-4.0', 'CC0-1.0')
    >>> licence("CC BY") is licence("our own terms") is None
    True
    """
    plain = _plain(written)
    return next((each for each in KNOWN if _plain(each.spdx) == ONLY_VERSION.get(plain, plain)), None)


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())
