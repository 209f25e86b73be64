from threading import Event

from core.base.errors import DeskError
from core.desk.running.take_over import TakeOver


def test_it_looks_again_whatever_it_found_until_it_is_closed():
    looks, enough = [], Event()

    def look():
        looks.append(1)
        if len(looks) == 3:
            enough.set()
        raise DeskError("The database cannot be reached.")

    watching = TakeOver(look, 0.01)
    assert enough.wait(60)
    watching.close()
    seen = len(looks)
    assert not Event().wait(0.05)
    assert len(looks) == seen
