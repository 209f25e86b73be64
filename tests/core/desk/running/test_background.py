import threading

from core.base.errors import Failed
from core.desk.running.background import Background


def test_work_is_followed_by_its_plan_and_done_once():
    background, gate, done = Background(), threading.Event(), []

    def work(plan_id):
        gate.wait(30)
        background.report(plan_id, "Measuring", 0.5)
        done.append((plan_id, background.progress(plan_id).stage))

    for _ in range(3):
        background.start("p", work)
    background.start("behind", done.append)
    assert background.progress("p").state == "running"
    assert background.progress("behind").stage == "Waiting"
    background.report("q", "Nobody asked", 1.0)
    assert background.progress("q") is None
    gate.set()
    background.close()
    assert done == [("p", "Measuring"), "behind"]
    assert background.progress("p") is None


def test_what_is_done_never_goes_back():
    background, seen = Background(), []

    def work(plan_id):
        for share in (0.1, 0.5, 0.2, 0.6):
            background.report(plan_id, "Measuring", share)
            seen.append(background.progress(plan_id).share)

    background.start("p", work)
    background.close()
    assert seen == [0.1, 0.5, 0.5, 0.6]


def test_a_failure_frees_the_plan():
    background, started = Background(), []

    def fail(plan_id):
        started.append(plan_id)
        raise Failed("It stopped.")

    background.start("p", fail)
    background.start("q", started.append)
    background.close()
    assert started == ["p", "q"]
    assert background.progress("p") is background.progress("q") is None


def test_what_waits_for_nothing_is_starting():
    background, seen = Background(), []
    background.start("p", lambda plan_id: seen.append(background.progress(plan_id).stage))
    background.close()
    assert seen == ["Starting"]
