import os
import stat
from threading import Thread

import pytest

from core.base.errors import BadParameter, DeskError
from core.ledger.attempts import LockedAttempts


def test_threads_and_desks_of_one_process_take_turns(tmp_path):
    at_it, most = [], []

    def attempt(attempts):
        for _ in range(50):
            with attempts.only("plan"):
                at_it.append(1)
                most.append(len(at_it))
                at_it.pop()

    threads = [Thread(target=attempt, args=(LockedAttempts(tmp_path / "attempts"),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 300
    assert max(most) == 1


def test_an_error_ends_an_attempt_and_other_plans_do_not_wait(tmp_path):
    attempts = LockedAttempts(tmp_path / "attempts")
    with pytest.raises(KeyError), attempts.only("one"), attempts.only("another"):
        assert attempts.under_way("one")
        assert not attempts.under_way("third")
        raise KeyError
    assert not attempts.under_way("one")
    with attempts.only("one"):
        pass


def test_locks_are_their_owners_alone(tmp_path):
    before = os.umask(0)
    try:
        with LockedAttempts(tmp_path / "attempts").only("plan"):
            modes = [stat.S_IMODE(place.stat().st_mode) for place in (tmp_path / "attempts").glob("**/*")]
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert stat.S_IMODE((tmp_path / "attempts").stat().st_mode) == 0o700


def test_a_file_that_a_killed_attempt_left_stops_nobody(tmp_path):
    (tmp_path / "attempts").mkdir()
    (tmp_path / "attempts" / "plan").touch()
    attempts = LockedAttempts(tmp_path / "attempts")
    assert not attempts.under_way("plan")
    with attempts.only("plan"):
        assert attempts.under_way("plan")
    assert list((tmp_path / "attempts").iterdir()) == []


def test_no_id_leaves_the_folder_and_an_unusable_one_is_a_sentence(tmp_path):
    with pytest.raises(BadParameter), LockedAttempts(tmp_path / "attempts").only("../plan"):
        raise AssertionError
    (tmp_path / "file").touch()
    with pytest.raises(DeskError, match="cannot be locked"), LockedAttempts(tmp_path / "file").only("plan"):
        raise AssertionError
