import pytest

from core import Desk, Unit
from core.base.errors import Failed
from core.sessions.counts_in_memory import counting_seconds
from core.sessions.pace import Pace
from tests.core.asker import Asker
from tests.core.people import DOMAIN, TOTAL, people
from tests.core.sessions.opened import ages, asker, opened

__all__ = ["asker"]


class Time:
    """A clock that moves only when told."""

    def __init__(self):
        self.now, self.slept = 100.0, []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.exhaustive
@pytest.mark.parametrize(("work", "wait"), [(0.0, 0.5), (0.1, 0.4), (0.5, 0.0), (0.6, 0.4), (1.7, 0.3)])
def test_an_answer_leaves_at_the_end_of_a_slot(tmp_path, monkeypatch, work, wait):
    time = Time()
    desk = Desk(tmp_path / "workspace", pace=Pace(clock=lambda: time.now, sleep=time.sleep))
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    monkeypatch.setattr("core.sessions.session.STORING", 0.0)
    monkeypatch.setattr("core.sessions.session.STORING_BYTE", 0.0)
    monkeypatch.setattr("core.sessions.counts_in_memory.CODE_SECONDS", 0.0)
    session = opened(desk, held, seconds=0.5)
    answer = Asker.answer

    def slow(self, *arguments):
        time.now += work
        return answer(self, *arguments)

    monkeypatch.setattr(Asker, "answer", slow)
    session.answer(ages(1))
    session.answer(ages(3))
    assert time.slept == pytest.approx([wait, wait]), "easy and hard alike"
    session.answer(ages(1))
    assert len(time.slept) == 2, "a stored reply reads nothing private"
    desk.close()


def test_the_wait_holds_no_lock(tmp_path):
    desk = None
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 1:
            assert session.answer(ages(3)).number == 2

    desk = Desk(tmp_path / "workspace", pace=Pace(clock=lambda: 0.0, sleep=sleep))
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    session = opened(desk, held, seconds=1.0)
    assert session.slot > 1
    assert session.answer(ages(1)).number == 1
    first = session.slot + counting_seconds(Asker.rows, session.domain)
    assert waits == [first, first], "both arrived before the rows were counted"
    session.answer(ages(4))
    assert waits[2:] == [session.slot]
    desk.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("held_in_memory", [True, False])
def test_slots_grow_with_the_released_number_of_rows_only(tmp_path, monkeypatch, held_in_memory):
    if not held_in_memory:
        monkeypatch.setattr("core.sessions.counts_in_memory.MOST_AT_HAND", 1)
    monkeypatch.setattr("core.sessions.session.STORING_BYTE", 0.0)
    found = []
    for number, rows in enumerate((100, 3_000)):
        time = Time()
        desk = Desk(tmp_path / str(number), pace=Pace(clock=lambda time=time: time.now, sleep=time.sleep))
        held = desk.add_table(people(rows), DOMAIN, unit=Unit.row(), budget=TOTAL)
        session = opened(desk, held, seconds=0.5, rows=50_000_000)
        session.answer(ages(1))
        session.answer(ages(3))
        found.append(tuple(time.slept))
        desk.close()
    assert found[0] == found[1], "private rows change nothing"
    [first, later] = found[0]
    counting = counting_seconds(50_000_000, DOMAIN)
    assert counting > 1
    assert first == pytest.approx(later + counting)
    assert (later > counting) is not held_in_memory


def test_a_broken_answer_waits_too(tmp_path):
    time = Time()
    desk = Desk(tmp_path / "workspace", pace=Pace(clock=lambda: time.now, sleep=time.sleep))
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    with pytest.raises(Failed):
        opened(desk, held, seconds=0.5, fails=True).answer(ages(1))
    assert len(time.slept) == 1
    assert time.slept[0] > 0.5
    desk.close()
