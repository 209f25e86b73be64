"""Who publishes: what visitors read above everything that is shared. Public, written by the curator."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from core.base.errors import BadParameter, printable
from core.desk.kept.shared import SharedItem
from core.desk.kept.small_files import SmallItems
from core.release.certificate import Certificate
from core.release.reports.content import cite
from core.release.reports.imprint import Imprint

LONGEST_LINE, LONGEST_ABOUT, LONGEST_LOGO = 200, 2_000, 12
MOST = {"about": LONGEST_ABOUT, "logo": LONGEST_LOGO}
KEPT_UNDER = "publisher"


@dataclass(frozen=True, kw_only=True)
class Publisher:
    """An organisation, and how to reach it; all of it may be empty."""

    title: str = ""
    """Of the page; otherwise it is called after what it does."""
    logo: str = ""
    """A few letters that stand above the title as a sign."""
    organisation: str = ""
    contact: str = ""
    """An address or a page where questions are answered."""
    licence: str = ""
    """What may be done with the releases, by its usual name."""
    about: str = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            text, most = getattr(self, field.name), MOST.get(field.name, LONGEST_LINE)
            if not isinstance(text, str) or len(text) > most:
                raise BadParameter(field.name, f"must be a text of at most {most:,} characters.")
            object.__setattr__(self, field.name, printable(text.strip(), most))


class PublisherFile:
    """What a workspace says about its publisher."""

    def __init__(self, items: SmallItems) -> None:
        self._items = items

    def read(self) -> Publisher:
        try:
            return Publisher(**(self._items.read(KEPT_UNDER) or {}))
        except (TypeError, BadParameter):
            return Publisher()

    def write(self, publisher: Publisher) -> None:
        self._items.write(KEPT_UNDER, asdict(publisher))


def citation(item: SharedItem, certificate: Certificate, publisher: Publisher, link: str = "") -> str:
    """How to name a release in a text: who, when, what, what it promises, and where it is."""
    return cite(imprint(item, publisher, link), certificate)


def imprint(item: SharedItem | None, publisher: Publisher, link: str = "") -> Imprint:
    """What a report and a catalogue say beside the promise; without a title where nothing is shared yet."""
    return Imprint(
        title=item.title if item else "",
        note=item.note if item else "",
        organisation=publisher.organisation,
        contact=publisher.contact,
        licence=publisher.licence,
        about=publisher.about,
        published=item.since[:10] if item else "",
        link=link,
    )
