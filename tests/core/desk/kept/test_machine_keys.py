import json
import os
import stat

import pytest

from core import Budget, Desk, Unit
from core.base.errors import BadParameter, Refused, Unknown
from core.desk.kept.machine_keys import NO_KEY, MachineKeys
from core.desk.kept.small_files import SmallFiles
from tests.core.people import DOMAIN, ONE, people


@pytest.fixture
def keys(tmp_path):
    return MachineKeys(SmallFiles(tmp_path / "machines"))


def test_only_the_newest_token_opens_its_session(keys):
    first = keys.make("abc", per_minute=5)
    assert keys.opened("abc", first).per_minute == 5
    second = keys.make("abc", per_minute=7)
    assert first != second
    assert keys.opened("abc", first) is None
    assert keys.opened("abc", second).per_minute == 7
    for wrong in ("", "é\ud800", second[:-1], second + "x", keys.find("abc").digest):
        assert keys.opened("abc", wrong) is None
    keys.withdraw("abc")
    keys.withdraw("abc")
    assert keys.opened("abc", second) is None


def test_a_session_without_a_key_is_opened_by_nothing(keys, tmp_path):
    assert keys.opened("abc", "") is None
    assert not NO_KEY.opens(NO_KEY.digest)
    (tmp_path / "machines").mkdir()
    for damaged in ("", "[]", "{}", '{"digest": 1}', "\0"):
        (tmp_path / "machines" / "abc.json").write_text(damaged)
        assert keys.opened("abc", "") is None


def test_the_file_holds_no_token_and_is_the_owners_alone(keys, tmp_path):
    token = keys.make("abc", per_minute=5)
    [file] = (tmp_path / "machines").iterdir()
    assert token not in file.read_text()
    assert json.loads(file.read_text()).keys() == {"digest", "per_minute"}
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(tmp_path / "machines").st_mode) == 0o700


@pytest.mark.parametrize("rate", [0, -1, 601, 1.5, True, "5", None])
def test_a_rate_is_a_whole_number(keys, rate, tmp_path):
    with pytest.raises(BadParameter, match="per_minute: must be a whole number from 1 to 600"):
        keys.make("abc", per_minute=rate)
    assert not (tmp_path / "machines").exists()


@pytest.mark.parametrize("name", ["", "../ledger", "A", "a/b", "a" * 65, "a\n"])
def test_a_name_is_never_a_path(keys, name):
    with pytest.raises(Unknown):
        keys.make(name, per_minute=5)
    with pytest.raises(Unknown):
        keys.opened(name, "x")


def test_programs_ask_what_everybody_may_ask(tmp_path):
    desk = Desk(tmp_path / "workspace")
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=Budget(2, 1e-9), name="people")
    session = desk.ask(held, mechanism="online-laplace", budget=ONE, questions=5)
    with pytest.raises(Refused, match="Share the session first"):
        desk.admit_machines(session.id, per_minute=5)
    desk.share(session.id, title="Ask us")
    token = desk.admit_machines(session.id, per_minute=5)
    assert desk.machine_keys.opened(session.id, token).per_minute == 5
    desk.close()
