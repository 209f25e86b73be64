from pathlib import Path

import pytest

from core.base.errors import BadParameter
from core.desk.kept.publisher import LONGEST_LINE, LONGEST_LOGO, Publisher, PublisherFile, imprint
from core.desk.kept.small_files import SmallFiles
from core.release.reports.imprint import Imprint


def test_what_is_written_is_read_and_nothing_is_fine(tmp_path: Path) -> None:
    kept = PublisherFile(SmallFiles(tmp_path / "publisher"))
    assert kept.read() == Publisher()
    kept.write(Publisher(organisation=" Office ", contact="a@b", licence="CC0", about="x"))
    assert PublisherFile(SmallFiles(tmp_path / "publisher")).read() == Publisher(
        organisation="Office", contact="a@b", licence="CC0", about="x"
    )
    (tmp_path / "publisher" / "publisher.json").write_text('{"organisation": 3}', encoding="utf-8")
    assert kept.read() == Publisher()


def test_who_publishes_is_said_before_anything_is_shared() -> None:
    said = imprint(None, Publisher(organisation="Office", licence="CC0"))
    assert (said.organisation, said.licence, said.title, said.published) == ("Office", "CC0", "", "")
    assert imprint(None, Publisher()) == Imprint()


def test_what_is_too_long_is_named() -> None:
    with pytest.raises(BadParameter, match="contact"):
        Publisher(contact="x" * (LONGEST_LINE + 1))
    with pytest.raises(BadParameter, match="logo"):
        Publisher(logo="x" * (LONGEST_LOGO + 1))
