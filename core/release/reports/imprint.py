"""Who publishes a release and under what title: what a report, a citation and a catalogue say beside the promise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Imprint:
    """Written by the curator and public; all of it may be empty."""

    title: str = ""
    note: str = ""
    """What the data are about, in a few sentences."""
    organisation: str = ""
    contact: str = ""
    licence: str = ""
    about: str = ""
    """What the organisation says of itself."""
    published: str = ""
    """The day, as 2024-12-31; empty where it was not published yet."""
    link: str = ""
    """The address where it is published; empty where that leads to one machine only."""

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Who publishes, with a name for each line; without those that are empty."""
        said = {"Published by": self.organisation, "Contact": self.contact, "Licence": self.licence}
        return tuple((name, text) for name, text in said.items() if text)

    @property
    def heading(self) -> str:
        return self.title or "Release report"
