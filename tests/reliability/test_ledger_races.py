"""Races between threads and processes for one budget, with a ledger that shows that the test can fail."""

from __future__ import annotations

import os
import random
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from core.base.errors import DeskError, OutOfBudget
from core.ledger.ledger import Account, Entry, Ledger
from core.privacy.privacy_filter import PURE, Amounts, Filters, Way
from tests.databases import BOTH, StartedServer
from tests.forked import processes

PROCESSES, THREADS = 4, 8
Outcome = tuple[int, str, bytes | None]
"""Round, plan id, and the answer; None where the budget said no."""


def opened(ledger: Ledger, name: str, total: int) -> Account:
    """An account and a dataset of the same (hexadecimal) name."""
    filters = Filters({PURE: Way(Fraction(0), total)})
    account = ledger.open_account(fingerprint=name, unit_json="{}", budget_json="{}", filters=filters)
    ledger.add_dataset(id=name, fingerprint=name, name=name, schema_json="{}", details_json="{}")
    return account


def in_processes(target: Callable[..., object], *arguments: Any) -> list[Any]:
    """What `target` returns in each of the processes."""
    barrier, queue = processes.Barrier(PROCESSES * THREADS), processes.Queue()
    running = [
        processes.Process(target=report, args=(queue, target, number, barrier, *arguments))
        for number in range(PROCESSES)
    ]
    for process in running:
        process.start()
    answers = [queue.get(timeout=120) for _ in running]
    for process in running:
        process.join()
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


def report(queue: Any, target: Callable[..., object], *arguments: Any) -> None:
    try:
        queue.put(target(*arguments))
    except Exception as error:
        queue.put(error)


def in_threads(barrier: Any, work: Callable[[int], None]) -> None:
    """Runs `work` in all threads; the first that fails frees those that wait for it."""

    def guarded(number: int) -> None:
        try:
            work(number)
        except threading.BrokenBarrierError:
            return
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(guarded, range(THREADS)))


# races


@dataclass(frozen=True, kw_only=True)
class Round:
    """A budget that pays for `winners` plans of `units` each, and a rest that pays for none."""

    account: Account
    units: int
    winners: int


class Careless(Ledger):
    """The mutant: it looks first and writes later, so two may see the same budget."""

    def reserve(self, *, plan_id: str, dataset_id: str, plan_json: str, amounts: Amounts, account: Account) -> Entry:
        seen, units = self.account(account.fingerprint), amounts[PURE] or 0
        if self.entry(plan_id) is None:
            if seen.left < units:
                raise OutOfBudget("The careless ledger saw no budget.")
            with self.database.read() as connection:
                connection.execute(
                    "UPDATE account SET spent = ? WHERE fingerprint = ?", (seen.spent + units, account.fingerprint)
                )
                connection.execute(
                    """INSERT INTO plan (id, dataset_id, plan_json, amounts, units, status, reserved_at)
                    VALUES (?, ?, ?, '{}', ?, 'reserved', '')""",
                    (plan_id, dataset_id, plan_json, units),
                )
        entry = self.entry(plan_id)
        assert entry is not None
        return entry


def contend(number: int, barrier: Any, kind: type[Ledger], place: Path | str, rounds: list[Round]) -> list[Outcome]:
    """Every thread of every process asks in every round at the same moment; two share each plan."""
    outcomes: list[Outcome] = []

    def work(thread: int) -> None:
        ledger = kind(place)
        contender = number * THREADS + thread
        # Partners sit in different processes, so that the same plan id is raced for across processes too.
        plan = contender % (PROCESSES * THREADS // 2)
        for index, race in enumerate(rounds):
            plan_id, name = f"{index}-{plan}", race.account.fingerprint
            barrier.wait(60)
            try:
                amounts = {PURE: race.units}
                ledger.reserve(plan_id=plan_id, dataset_id=name, plan_json="{}", amounts=amounts, account=race.account)
                outcomes.append((index, plan_id, ledger.store(plan_id, os.urandom(8))))
            except DeskError as error:
                outcomes.append((index, plan_id, None))
                if kind is Ledger:
                    assert isinstance(error, OutOfBudget), error

    in_threads(barrier, work)
    return outcomes


def race(place: Path | str, kind: type[Ledger], count: int) -> tuple[list[Round], list[Outcome]]:
    rounds, ledger = [], Ledger(place)
    for index in range(count):
        units, winners = random.randint(1, 2**40), index % 5
        total = winners * units + random.randrange(units)
        rounds.append(Round(account=opened(ledger, f"{index:04x}", total), units=units, winners=winners))
    return rounds, [outcome for outcomes in in_processes(contend, kind, place, rounds) for outcome in outcomes]


def sold(place: Path | str, rounds: list[Round]) -> list[int]:
    """What the plans of each round cost together."""
    ledger = Ledger(place)
    return [sum(entry.units for entry in ledger.entries(fingerprint=race.account.fingerprint)) for race in rounds]


def overspends(place: Path | str, rounds: list[Round]) -> int:
    return sum(amount > race.account.total for race, amount in zip(rounds, sold(place, rounds), strict=True))


@pytest.mark.parametrize(
    ("books", "count"),
    [("file", 10), *(pytest.param(*each, marks=pytest.mark.slow) for each in (("file", 200), ("server", 30)))],
    indirect=["books"],
)
def test_many_contenders_never_overspend(books: Path | str, count: int) -> None:
    rounds, outcomes = race(books, Ledger, count)
    assert len(outcomes) == count * PROCESSES * THREADS
    assert overspends(books, rounds) == 0
    given: dict[int, dict[str, list[bytes | None]]] = defaultdict(lambda: defaultdict(list))
    for index, plan_id, answer in outcomes:
        given[index][plan_id].append(answer)
    ledger = Ledger(books)
    assert sold(books, rounds) == [ledger.account(race_.account.fingerprint).spent for race_ in rounds]
    for index, race_ in enumerate(rounds):
        winners = {plan_id for plan_id, answers in given[index].items() if answers != [None, None]}
        assert len(winners) == race_.winners
        assert winners == {entry.plan_id for entry in ledger.entries(fingerprint=race_.account.fingerprint)}
        for plan_id in winners:
            assert given[index][plan_id] == [ledger.result(plan_id)] * 2


@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_the_race_catches_a_ledger_that_looks_before_it_writes(books: Path | str) -> None:
    rounds, _ = race(books, Careless, 20)
    assert overspends(books, rounds) > 0


def create(number: int, barrier: Any, places: list[Path | str]) -> None:
    def work(thread: int) -> None:
        for place in places:
            barrier.wait(60)
            ledger = Ledger(place)
            account = opened(ledger, "ab", 1000)
            amounts: Amounts = {PURE: 1}
            ledger.reserve(
                plan_id=f"{number}-{thread}", dataset_id="ab", plan_json="{}", amounts=amounts, account=account
            )

    in_threads(barrier, work)


def check_created_by_many(places: list[Path | str]) -> None:
    in_processes(create, places)
    for place in places:
        ledger = Ledger(place)
        assert ledger.account("ab").spent == len(ledger.entries()) == PROCESSES * THREADS
        assert len(ledger.datasets()) == 1


def test_many_may_create_the_same_ledger(tmp_path: Path) -> None:
    check_created_by_many([tmp_path / str(index) for index in range(4)])


@pytest.mark.slow
def test_many_may_create_the_same_ledger_on_a_server(postgres: StartedServer) -> None:
    check_created_by_many([postgres.new(), postgres.new()])
