"""Every randomiser by its name: the one list that plans, the oracle and the registry go by."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from core.base.errors import Unknown, printable
from core.local.randomisers.hadamard import HadamardResponse
from core.local.randomisers.hashing import LocalHashing
from core.local.randomisers.hierarchy import Hierarchy
from core.local.randomisers.k_ary import KAryResponse
from core.local.randomisers.piecewise import Piecewise
from core.local.randomisers.protocol import Randomiser
from core.local.randomisers.square_wave import SquareWave
from core.local.randomisers.subset import SubsetSelection
from core.local.randomisers.unary import UnaryEncoding

KINDS: Mapping[str, type[Randomiser]] = MappingProxyType(
    {
        "k-ary": KAryResponse,
        "subset": SubsetSelection,
        "unary": UnaryEncoding,
        "hadamard": HadamardResponse,
        "hashing": LocalHashing,
        "square-wave": SquareWave,
        "hierarchy": Hierarchy,
        "piecewise": Piecewise,
    }
)
"""Each has a law whose privacy is checked exactly in the tests; a plan may name no other."""


def randomiser_from(name: str, values: int, ratio: Fraction) -> Randomiser:
    """The named randomiser for so many answers, or a sentence that names what is wrong."""
    if name not in KINDS:
        raise Unknown(f"There is no randomiser '{printable(name)}'; choose one of: {', '.join(KINDS)}.")
    return KINDS[name](values=values, ratio=ratio)  # type: ignore[call-arg]
