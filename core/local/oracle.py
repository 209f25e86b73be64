"""The oracle LR_D of the local model: an algorithm sees randomised answers and nothing else (thesis, section 6.2).

Definition 22: the oracle takes a person and a local randomiser, and returns a report drawn by the randomiser's law at
what that person holds. Definition 23: an algorithm is epsilon-local if, for every person, the epsilons of all calls add
up to at most epsilon. The calls may be chosen adaptively; by composition the whole algorithm is epsilon-private
(observation 33). Here the ratios e^epsilon_j are fractions and their product is compared with e^epsilon exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter, OutOfBudget, printable
from core.local.kinds import KINDS
from core.local.randomisers.odds_ratio import checked, within
from core.local.randomisers.protocol import Randomiser
from core.privacy.noise import Noise


class LocalOracle:
    """People with one code per column each, who answer through randomisers until their epsilon is used up.

    >>> from core.local.randomisers.k_ary import KAryResponse
    >>> people = LocalOracle({"ill": np.array([0, 1])}, epsilon=1)
    >>> people.ask(0, "ill", KAryResponse(values=2, ratio=Fraction(2))) in (0, 1)
    True
    """

    def __init__(self, answers: Mapping[str, IntArray], epsilon: object) -> None:
        if not answers:
            raise BadParameter("answers", "must hold at least one column.")
        self.__answers = {name: np.array(codes, dtype=np.int64) for name, codes in answers.items()}
        if len({codes.shape for codes in self.__answers.values()}) != 1:
            raise BadParameter("answers", "must hold one code per person in every column.")
        self.epsilon = checked(epsilon)
        self.people = len(next(iter(self.__answers.values())))
        self.__used: dict[int, Fraction] = {}
        self.__noise = Noise()

    def ask(self, person: int, column: str, randomiser: Randomiser) -> Any:
        """One report of one person; refused before anything is drawn where it would exceed the person's epsilon."""
        if type(randomiser) not in KINDS.values():
            raise BadParameter("randomiser", f"must be one of the registered ones: {', '.join(KINDS)}.")
        if column not in self.__answers:
            raise BadParameter("column", f"'{printable(column)}' is not asked about.")
        if isinstance(person, bool) or not 0 <= person < self.people:
            raise BadParameter("person", f"must be a number from 0 to {self.people - 1:,}.")
        used = self.used(person) * randomiser.ratio
        if not within(used, self.epsilon):
            raise OutOfBudget("This person's epsilon does not cover another report; nothing was drawn.")
        # Paid before it is drawn: whatever happens afterwards, the report may have been seen.
        self.__used[person] = used
        code = np.clip(self.__answers[column][person : person + 1], 0, randomiser.values - 1)
        return randomiser.randomise(code, self.__noise)[0]

    def used(self, person: int) -> Fraction:
        """The product of the ratios of all reports that a person gave so far; e to the epsilon used, as a bound."""
        return self.__used.get(person, Fraction(1))
