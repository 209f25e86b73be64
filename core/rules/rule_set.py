"""All rules of one schema, read once: what they allow, and which records break them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from core.base.arrays import Codes, Columns, Flags
from core.base.errors import BadParameter, BadSchema, printable
from core.formulas.question import MOST_CELLS
from core.rules.bins import BinEnds
from core.rules.grammar import read_rule
from core.rules.kinds import ConditionRule, KeyRule, LinearRule, RecordRule, Rule, TableRule, TotalRule
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class RuleSet:
    """The rules of a schema in the order in which they are written."""

    domain: Domain
    rules: tuple[Rule, ...]

    def __bool__(self) -> bool:
        return bool(self.rules)

    @cached_property
    def single(self) -> tuple[RecordRule, ...]:
        """Rules that a record breaks or keeps on its own."""
        return tuple(rule for rule in self.rules if isinstance(rule, ConditionRule | LinearRule | TableRule))

    @cached_property
    def linear(self) -> tuple[LinearRule, ...]:
        return tuple(rule for rule in self.rules if isinstance(rule, LinearRule))

    @cached_property
    def keys(self) -> tuple[KeyRule, ...]:
        return tuple(rule for rule in self.rules if isinstance(rule, KeyRule))

    @cached_property
    def totals(self) -> tuple[TotalRule, ...]:
        return tuple(rule for rule in self.rules if isinstance(rule, TotalRule))

    @cached_property
    def _masks(self) -> dict[RecordRule, Flags]:
        return {}

    def only(self, rules: Iterable[Rule]) -> RuleSet:
        """The same schema with some of its rules."""
        kept = RuleSet(self.domain, tuple(rules))
        kept._masks.update(self._masks)
        return kept

    def mask(self, rule: RecordRule) -> Flags | None:
        """Whether each combination of a rule's columns is allowed; None where there are too many to lay them out."""
        if rule not in self._masks:
            if self.domain.cells(rule.columns) > MOST_CELLS:
                return None
            self._masks[rule] = np.ascontiguousarray(rule.allowed(self.domain))
        return self._masks[rule]

    def inside(self, columns: Sequence[str]) -> Flags | None:
        """Whether each combination of these columns is allowed by the rules that name no others; None if all are."""
        shape = [self.domain[name].size for name in columns]
        found: Flags | None = None
        for rule in self.single:
            if set(rule.columns) <= set(columns) and (mask := self.mask(rule)) is not None:
                order = [rule.columns.index(name) for name in columns if name in rule.columns]
                sizes = [self.domain[name].size if name in rule.columns else 1 for name in columns]
                here = np.broadcast_to(mask.transpose(order).reshape(sizes), shape)
                found = here.copy() if found is None else found & here
        return found

    def kept(self, rule: RecordRule, codes: Codes) -> Flags:
        """Which of these records keep a rule."""
        places = [codes[:, self.domain.names.index(name)] for name in rule.columns]
        mask = self.mask(rule)
        if mask is not None:
            return np.asarray(mask.ravel()[np.ravel_multi_index(tuple(places), mask.shape)])
        assert isinstance(rule, LinearRule)
        ends = rule.ends(self.domain)
        lows = [each.lows[place] for each, place in zip(ends, places, strict=True)]
        highs = [each.highs[place] for each, place in zip(ends, places, strict=True)]
        return rule.fits(self.domain, lows, highs)

    def lawful(self, codes: Codes) -> Flags:
        """Which records keep every rule that a record keeps on its own."""
        found = np.ones(len(codes), dtype=np.bool_)
        for rule in self.single:
            found &= self.kept(rule, codes)
        return found

    def broken(self, codes: Codes) -> dict[str, int]:
        """How many records break each rule that any breaks: of a count, by how many records it is off."""
        found: dict[str, int] = {}
        for rule in self.rules:
            if isinstance(rule, KeyRule):
                number = int(np.count_nonzero(~self.following(rule, codes)))
            elif isinstance(rule, TotalRule):
                number = abs(self.counted(rule, codes) - rule.number)
            else:
                number = int(np.count_nonzero(~self.kept(rule, codes)))
            if number:
                found[rule.text] = number
        return found

    def function(self, rule: KeyRule, codes: Codes, weights: Any = None, needed: Flags | None = None) -> Codes:
        """For each value of a key the allowed value of the other column that most records have with it.

        A needed value stays the one of at least one key, of that which has it most.
        """
        joint = self._joint(rule, codes, weights).astype(np.float64)
        own = self.inside(rule.columns)
        joint = joint if own is None else np.where(own, joint, -1.0)
        found = joint.argmax(axis=1)
        if needed is None:
            return found.astype(np.int64)
        for value in np.flatnonzero(needed & ~np.isin(np.arange(joint.shape[1]), found)):
            spare = (np.bincount(found, minlength=joint.shape[1])[found] > 1) | ~needed[found]
            share = np.where(spare, joint[:, value] / np.maximum(joint.sum(axis=1), 1.0), -1.0)
            if share.max() >= 0:
                found[share.argmax()] = value
        return found.astype(np.int64)

    def decided(self, functions: Mapping[KeyRule, Codes]) -> RuleSet:
        """The same rules with the functions that keys have turned out to be."""
        tables = []
        for rule, function in functions.items():
            sizes = self.domain.shape(rule.columns)
            table = np.arange(sizes[1])[None, :] == function[:, None]
            ordered = tuple(name for name in self.domain.names if name in rule.columns)
            tables.append(TableRule(rule.text, ordered, table if ordered == rule.columns else table.T))
        return self.only((*(rule for rule in self.rules if not isinstance(rule, KeyRule)), *tables))

    def following(self, rule: KeyRule, codes: Codes) -> Flags:
        """Which records have the value that most records with the same key have."""
        key, other = (codes[:, self.domain.names.index(name)] for name in rule.columns)
        return np.asarray(self._joint(rule, codes, None).argmax(axis=1)[key] == other)

    def counted(self, rule: TotalRule, codes: Codes) -> int:
        places = tuple(codes[:, self.domain.names.index(name)] for name in rule.columns)
        mask = rule.counted(self.domain)
        return int(np.count_nonzero(mask[places])) if places else len(codes)

    def _joint(self, rule: KeyRule, codes: Codes, weights: Any) -> Any:
        shape = self.domain.shape(rule.columns)
        flat = np.ravel_multi_index(tuple(codes[:, self.domain.names.index(name)] for name in rule.columns), shape)
        return np.bincount(flat, weights=weights, minlength=shape[0] * shape[1]).reshape(shape)

    def ends(self, columns: Iterable[str]) -> Mapping[str, BinEnds]:
        return {name: BinEnds.of(self.domain[name]) for name in columns}

    def sentences(self) -> list[tuple[str, str]]:
        """Each rule as it is written, and in plain words."""
        return [(rule.text, rule.words(self.domain)) for rule in self.rules]


@lru_cache(maxsize=64)
def rules_of(domain: Domain) -> RuleSet:
    """The rules of a schema; the first one that cannot be read is refused in a sentence that says which it is."""
    return RuleSet(domain, tuple(_read(place, text, domain) for place, text in enumerate(domain.rules, start=1)))


def mistakes(domain: Domain, lines: Sequence[str]) -> list[str]:
    """What is wrong with each line that cannot be read as a rule, in one sentence that begins with its place.

    Blank lines are passed over.
    """
    found = []
    for place, text in enumerate(lines, start=1):
        try:
            for rule in domain.obeying([text]).rules:
                _read(place, rule, domain)
        except BadSchema as problem:
            found.append(str(problem).replace("Rule number 1 of the schema", f"Rule {place}"))
    return found


def _read(place: int, text: str, domain: Domain) -> Rule:
    try:
        rule = read_rule(text, domain)
    except BadParameter as problem:
        said = str(problem).removeprefix("rule: ")
        raise BadSchema(f"Rule {place} ('{printable(text, 80)}'): {said}") from None
    if isinstance(rule, KeyRule) and domain.cells(rule.columns) > MOST_CELLS:
        raise BadSchema(f"Rule {place} ('{printable(text, 80)}'): its columns have too many combinations; use bins.")
    return rule


def involved(rules: Iterable[Rule]) -> Columns:
    """The columns that some rules name."""
    return tuple(dict.fromkeys(name for rule in rules for name in rule.columns))
