"""What a plan reserved and never used, given back to its account.

**Privacy** A reservation is only a bound: what counts is what was drawn. Look at everything that an account pays for
event by event, in the order in which noise was drawn, whichever plans the events belong to and however these take
turns. Each event is then one step of an adaptive composition, at a price that may depend on everything seen before: a
measurement and a choice are drawn in one step, and a run of comparisons counts in full where it begins, because for any
two neighbours it can be played from one randomised response drawn there (`kernel/sparse_vector.py`). This is what the
theorem of `privacy/privacy_filter.py` is about, if at the end one way covers the events drawn until then; their sum
never falls, so this way has covered them all along.

One does. Let the account hold, for each plan, its reservation, or what it used once that is all it can ever use. Then
at every moment each way holds at least the sum of the events drawn: a plan draws no more than it reserved, and one that
gave back draws no more at all. At every reservation one way covers what the account holds, and between reservations
what it holds only falls; so at the end one way covers what it holds, and hence the events.

Three things are needed, and are checked elsewhere: that `used` is no less than the prices of all events of the plan
that may have been seen, those of a run that ended in an error included (`Allowance.used`); that the plan draws nothing
afterwards, wherever a copy of it lies (`sessions/settlement.py`); and that this happens once (the tables of the file).
"""

from __future__ import annotations

import json

from core.base.errors import BadParameter, Refused
from core.ledger import rows
from core.ledger.database import Connection
from core.privacy.privacy_filter import Amounts, amounts_text


def give_back(connection: Connection, entry: rows.Entry, used: Amounts, now: str) -> None:
    """Lower the sums of the account by what was not used; a plan that gave back before stays as it is."""
    if entry.used is not None:
        return
    if entry.status != "stored":
        raise Refused("Only a plan that has ended gives back what it did not use.")
    paid = json.loads(entry.amounts)
    if paid.keys() != used.keys() or any(_more(amount, paid[way]) for way, amount in used.items()):
        raise BadParameter("used", "must be what was paid or less, in every way of the account.")
    account = rows.account_of(connection, entry.dataset_id)
    sums = lowered(json.loads(account.sums), paid, used)
    parts = account.filters.parts(sums)
    spent = account.spent if parts is None else min(parts, account.total)
    connection.execute("INSERT INTO refund VALUES (?, ?, ?)", (entry.plan_id, amounts_text(used), now))
    connection.execute(
        "UPDATE account SET sums = ?, spent = ?, refunds = refunds + 1 WHERE fingerprint = ?",
        (amounts_text(sums), spent, account.fingerprint),
    )


def lowered(sums: Amounts, paid: Amounts, used: Amounts) -> dict[str, int | None]:
    """The sums with `used` in the place of `paid`; a way that could not count something once still cannot."""
    return {way: None if held is None else held - _difference(paid[way], used[way]) for way, held in sums.items()}


def _difference(paid: int | None, used: int | None) -> int:
    assert paid is not None and used is not None, "what a way cannot count makes its sum uncountable"
    return paid - used


def _more(used: int | None, paid: int | None) -> bool:
    """Whether it is more, or counted in a way in which the other is not."""
    return (used is None) != (paid is None) or (used is not None and paid is not None and used > paid)
