"""What a mechanism may still do to the private table: the events that were reserved for it, less those that happened,
and the runs of comparisons that it has paid for and not used up.

**Privacy** Every event that is taken was reserved, or is a part of one that was:

- Gaussian events are taken in parts of the sum of all that were reserved: noise of rho_1 and then, chosen after seeing
  it, of rho_2 is as private as noise of rho_1 + rho_2, at every order (Feldman and Zrnic 2021);
- a `Pure(epsilon)` may be taken in parts, of any kind that is pure, whose epsilons sum to at most epsilon, each chosen
  after seeing those before (Rogers, Roth, Ullman and Vadhan 2016);
- a Laplace, Selection or Greedy event is taken as it was reserved.

Parts of one reserved event may lie between parts of others: each reserved event is then an interactive mechanism of its
own, and mechanisms that take turns are together as private as one after the other, pure, Rényi and Gaussian alike
(Vadhan and Wang 2021; Vadhan and Zhang 2023). So whatever an account proves of the reserved cost holds for what
happened. All amounts are exact fractions.

A run of comparisons is paid when it begins and then answers any number of questions, so it is kept here, where neither
its secret offset nor its count can be reached: a mechanism holds the number of its place and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from threading import RLock
from typing import Any

from core.base.errors import Undeclared
from core.kernel.sparse_vector import OpenRun, Watch
from core.privacy.events import Cost, Event, Gaussian, Greedy, Laplace, Pure, Selection

_KINDS: Mapping[str, Callable[..., Laplace | Selection | Greedy]] = {
    "laplace": Laplace,
    "selection": Selection,
    "greedy": Greedy,
}


class Allowance:
    """Reserved events that are left, and open runs; for the kernel and for whoever keeps it, never for a mechanism."""

    def __init__(self, reserved: Cost) -> None:
        self._rho = sum((each.rho for each in reserved.events if isinstance(each, Gaussian)), Fraction(0))
        self._pools = Counter(each.epsilon for each in reserved.events if isinstance(each, Pure))
        self._single = Counter(each for each in reserved.events if isinstance(each, Laplace | Selection | Greedy))
        self._runs: list[OpenRun] = []
        self._turn = RLock()
        """Threads take turns, and a comparison is one turn: two that ended the same run at once would be paid once."""

    def take(self, event: Event) -> None:
        """Take an event, or refuse it and change nothing; two threads never take the same one."""
        with self._turn:
            if isinstance(event, Gaussian):
                if event.rho > self._rho:
                    raise Undeclared()
                self._rho -= event.rho
            elif not isinstance(event, Pure) and self._single[event] > 0:
                self._single[event] -= 1
            else:
                self._take_part(event.epsilon * (event.choices if isinstance(event, Greedy) else 1))

    def _take_part(self, epsilon: Fraction) -> None:
        """From the smallest pool that has enough, so that one which was meant for many parts keeps them."""
        enough = [left for left in self._pools if left >= epsilon]
        if not enough:
            raise Undeclared()
        pool = min(enough)
        self._pools -= Counter((pool,))
        if pool > epsilon:
            self._pools[pool - epsilon] += 1

    def keep(self, run: OpenRun) -> Watch:
        """Keep a run that has begun; what is returned names it in public."""
        with self._turn:
            self._runs.append(run)
            return Watch(len(self._runs) - 1, run.left)

    def compare(self, watch: Watch, compare: Callable[[OpenRun], bool]) -> tuple[Watch, bool]:
        """Compare within the run that was kept under this name; of what else a handle says nothing is believed."""
        with self._turn:
            if not 0 <= watch.id < len(self._runs):
                raise Undeclared()
            run = self._runs[watch.id]
            above = compare(run)
            return Watch(watch.id, run.left), above

    def used(self, reserved: Cost) -> Cost:
        """What was taken of a reservation, or more, if this is what is left of it.

        **Privacy** in no way of adding up (`privacy_filter.py`) does it count less than the events that were taken.
        Gaussian noise adds up exactly, and single events are taken whole. Of the pools, those that are still there as
        they were reserved were not used; all others count whole. The parts taken fit into these: where the rest of one
        pool is mistaken for another pool of the same size, the parts of both fit into the first, and so on along a
        chain. And parts count no more than the whole they fit into: pure epsilons add up, and randomised responses of
        e_1 and e_2 are together (e_1 + e_2)-private, so at every order no further apart than one of e_1 + e_2. For
        mu-GDP with x = mu/2 and e = log Phi(x) - log Phi(-x), the slope 2x Phi(x) Phi(-x)/phi(x) of x^2 in e rises with
        x, because Phi(x) does and x Phi(-x)/phi(x) does (its derivative (1 + x^2) Phi(-x)/phi(x) - x is positive, by
        Gordon 1941), so x^2 is convex in e and 0 at 0.
        """
        whole = Allowance(reserved)
        with self._turn:
            rho, pools, single = whole._rho - self._rho, whole._pools - self._pools, whole._single - self._single
            known = sum(whole._pools.elements(), Fraction(0)) >= sum(self._pools.elements(), Fraction(0))
            if rho < 0 or self._single - whole._single or not known:
                raise Undeclared()
        gaussian = (Gaussian(rho),) if rho else ()
        return Cost((*gaussian, *map(Pure, pools.elements()), *single.elements()))

    def to_json(self) -> dict[str, Any]:
        """What is left, secrets included, for a session that goes on later."""
        names = {kind: name for name, kind in _KINDS.items()}
        with self._turn:
            single = [
                [names[type(each)], str(each.epsilon), count, *([each.choices] if isinstance(each, Greedy) else [])]
                for each, count in self._single.items()
                if count
            ]
            pools = [[str(left), count] for left, count in self._pools.items()]
            runs = [run.to_json() for run in self._runs]
            return {"rho": str(self._rho), "pools": pools, "single": single, "runs": runs}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Allowance:
        found = cls(Cost(()))
        found._rho = Fraction(data["rho"])
        found._pools = Counter({Fraction(left): count for left, count in data["pools"]})
        found._single = Counter(
            {_KINDS[kind](Fraction(epsilon), *more): count for kind, epsilon, count, *more in data["single"]}
        )
        found._runs = [OpenRun.from_json(run) for run in data["runs"]]
        return found
