"""A recorder for mechanisms whose next question depends on the last answer.

The privacy proof of an adaptive mechanism compares the two tables step by step *given the same answers so far*. So the
neighbour is given the recorded answers, not the recorded noise: with the same noise its answers would differ by up to
the sensitivity, and from then on it would rightly ask something else.
"""

from __future__ import annotations

from tests.core.recorder import Recorder


class Repeater(Recorder):
    """Records calls; with a script it repeats the script's answers."""

    def laplace(self, values, *, epsilon, sensitivity):
        return self._again(super().laplace(values, epsilon=epsilon, sensitivity=sensitivity))

    def gaussian(self, values, *, rho, sensitivity_squared):
        return self._again(super().gaussian(values, rho=rho, sensitivity_squared=sensitivity_squared))

    def _again(self, answer):
        if not self._script:
            return answer
        recorded = self._script[len(self.calls) - 1]
        return recorded.hidden + recorded.frozen
