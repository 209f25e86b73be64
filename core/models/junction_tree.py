"""A junction tree: a model of a whole table with any number of columns that never holds more than its cliques.

The records' distribution is the product of the cliques' tables divided by the product of their overlaps; it is the
distribution of maximum entropy among all that agree with the cliques. Everything here is public.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Columns, Floats
from core.base.axes import summed
from core.base.errors import BadFile, DeskError
from core.models.drawing.rounding import systematic
from core.models.fitting.triangulation import Structure
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Probabilities of the cells of every clique; neighbouring cliques agree on what they share.

    **Runtime** O(cells of all cliques) for a table inside a clique; a table across cliques is eliminated along the
    path between them; sampling O(rows x cliques).
    """

    domain: Domain
    total: float
    structure: Structure
    beliefs: tuple[Floats, ...]
    """One array per clique, axes in the order of its columns, each summing to 1."""

    @classmethod
    def independent(
        cls, domain: Domain, total: float, structure: Structure, ones: Mapping[str, Floats]
    ) -> JunctionTree:
        """Independent columns with the given shares, held in this structure."""
        beliefs = []
        for clique in structure.cliques:
            belief = np.ones(())
            for column in clique:
                belief = np.multiply.outer(belief, ones[column])
            beliefs.append(belief)
        return cls(domain, total, structure, tuple(beliefs))

    def marginal(self, columns: Sequence[str]) -> Floats:
        wanted = [column for column in self.domain.names if column in columns]
        share = np.ones(())
        found: list[str] = []
        for root, parent in enumerate(self.structure.parents):
            if parent < 0 and (part := self._tree(root) & set(wanted)):
                own, names = self._upwards(root, part)
                share = np.multiply.outer(share, own)
                found += names
        return self.total * summed(share, found, columns)

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Records whose clique tables are exact to within rounding.

        Rows that agree on a clique's overlap get its remaining columns by systematic rounding. Within such a group the
        cells follow each other in equal steps round the circle along the order of earlier columns, so that every
        stretch of rows gets its share too; each clique has a step of its own, or siblings would go in lock-step.
        """
        codes = np.zeros((rows, len(self.domain)), dtype=np.int64, order="F")  # written and read column by column
        place = {name: axis for axis, name in enumerate(self.domain.names)}
        history = np.zeros(rows, dtype=np.int64)
        for index, clique in enumerate(self.structure.cliques):
            shared = self.structure.separator(index)
            rest = tuple(column for column in clique if column not in shared)
            lines = summed(self.beliefs[index], clique, shared + rest).reshape(self.domain.cells(shared), -1)
            groups = _flat(codes, [place[name] for name in shared], self.domain.shape(shared))
            drawn = _continued(groups, history, lines, math.sqrt(_prime(index)), generator)
            for column, part in zip(rest, np.unravel_index(drawn, self.domain.shape(rest)), strict=True):
                codes[:, place[column]] = part
            history = np.unique(history * lines.shape[1] + drawn, return_inverse=True)[1]
        return codes

    def tables(self) -> dict[Columns, Floats]:
        cliques = zip(self.structure.cliques, self.beliefs, strict=True)
        return {clique: self.total * belief for clique, belief in cliques}

    def save(self, path: Path) -> None:
        """One NPZ file: an array per clique, and the structure as JSON text."""
        facts = {
            "total": self.total,
            "cliques": self.structure.cliques,
            "parents": self.structure.parents,
            "domain": self.domain.to_json(),
        }
        arrays = {f"clique{place}": belief for place, belief in enumerate(self.beliefs)}
        np.savez_compressed(path, allow_pickle=False, facts=np.array(json.dumps(facts)), **arrays)

    @classmethod
    def load(cls, path: Path) -> JunctionTree:
        try:
            with Path(path).open("rb") as stored, np.load(stored, allow_pickle=False) as file:
                facts = json.loads(str(file["facts"]))
                structure = Structure(tuple(map(tuple, facts["cliques"])), tuple(map(int, facts["parents"])))
                beliefs = tuple(file[f"clique{place}"] for place in range(len(structure.cliques)))
            domain = Domain.from_json(facts["domain"])
            shapes = [domain.shape(clique) for clique in structure.cliques]
            fits = [belief.shape for belief in beliefs] == shapes and len(structure.parents) == len(shapes)
            placed = all(-1 <= parent < place for place, parent in enumerate(structure.parents))
            if not fits or not placed or not all(np.isfinite(belief).all() for belief in beliefs):
                raise ValueError
            return cls(domain, float(facts["total"]), structure, beliefs)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, DeskError):
            raise BadFile("The stored model is damaged or incomplete; run the release again.") from None

    def _tree(self, root: int) -> set[str]:
        """All columns of the tree that starts at this clique."""
        inside = {root}
        for place, parent in enumerate(self.structure.parents):
            if parent in inside:
                inside.add(place)
        return {column for place in inside for column in self.structure.cliques[place]}

    def _upwards(self, place: int, wanted: set[str]) -> tuple[Floats, list[str]]:
        """Joint shares of the wanted columns at or below a clique, and of what it shares with its parent."""
        clique = self.structure.cliques[place]
        above = self.structure.separator(place)
        belief = self.beliefs[place]
        if above:
            given = belief.sum(axis=tuple(axis for axis, name in enumerate(clique) if name not in above), keepdims=True)
            belief = np.divide(belief, given, out=np.zeros_like(belief), where=given > 0)
        factors: list[tuple[Floats, list[str]]] = [(belief, list(clique))]
        for child, parent in enumerate(self.structure.parents):
            if parent == place and (below := self._tree(child) & wanted - set(clique)):
                factors.append(self._upwards(child, below))
        kept = list(above) + [name for _, names in factors for name in names if name in wanted and name not in above]
        kept = list(dict.fromkeys(kept))
        return _contracted(factors, kept), kept


def _contracted(factors: Sequence[tuple[Floats, list[str]]], kept: Sequence[str]) -> Floats:
    """The product of factors over named axes, summed down to the kept names."""
    names = list(dict.fromkeys(name for _, own in factors for name in own))
    operands: list[Any] = []
    for table, own in factors:
        operands += [table, [names.index(name) for name in own]]
    operands.append([names.index(name) for name in kept])
    return np.asarray(np.einsum(*operands, optimize=len(factors) > 1))


def _prime(index: int) -> int:
    """The prime at a place: square roots of primes are irrational steps that no two cliques share."""
    found: list[int] = []
    number = 1
    while len(found) <= index:
        number += 1
        if all(number % prime for prime in found):
            found.append(number)
    return found[index]


def _flat(codes: Codes, axes: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
    flat = np.zeros(len(codes), dtype=np.int64)
    for axis, size in zip(axes, sizes, strict=True):
        flat = flat * size + codes[:, axis]
    return flat


def _continued(
    groups: NDArray[np.int64], history: NDArray[np.int64], lines: Floats, step: float, generator: np.random.Generator
) -> NDArray[np.int64]:
    """One cell per row, from the line of its group, by systematic rounding inside each group."""
    if lines.shape[0] == 1 and not history.any():
        return np.repeat(np.arange(lines.shape[1]), systematic(lines[0], groups.size, generator))
    # shuffled first, rows that agree stay in random order: five times faster than sorting by three keys
    shuffled = generator.permutation(groups.size)
    order = shuffled[np.argsort((groups * (int(history.max(initial=0)) + 1) + history)[shuffled])]
    sorted_groups = groups[order]
    sizes = np.bincount(groups, minlength=lines.shape[0])
    starts = np.cumsum(sizes) - sizes
    ranks = np.arange(groups.size) - starts[sorted_groups]
    # a group's steps are the first of the same sequence, so its order follows from the order of the whole sequence
    longest = int(sizes.max(initial=1))
    turns = np.empty(longest, dtype=np.int64)
    turns[np.argsort((np.arange(longest) * step) % 1.0, kind="stable")] = np.arange(longest)
    place = np.empty(groups.size)
    place[np.argsort(sorted_groups * longest + turns[ranks])] = ranks
    shares = np.where(lines.sum(axis=1, keepdims=True) > 0, lines, lines.sum(axis=0, keepdims=True))
    heights = np.cumsum(shares, axis=1) / shares.sum(axis=1, keepdims=True)
    shift = generator.random((lines.shape[0],))
    asked = sorted_groups + (place + shift[sorted_groups]) / sizes[sorted_groups]
    line = (heights + np.arange(lines.shape[0])[:, None]).ravel()
    found = np.searchsorted(line, asked, side="right") - sorted_groups * lines.shape[1]
    drawn = np.empty(groups.size, dtype=np.int64)
    drawn[order] = np.clip(found, 0, lines.shape[1] - 1)
    return drawn
