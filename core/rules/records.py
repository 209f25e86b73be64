"""Synthetic records that obey the rules: drawn again where they do not, and moved until known counts are met.

A record that breaks a rule is mended where it stands: one of the rule's columns is taken from a lawful record that
agrees with it in the rule's other columns, so that all its other columns stay and what changes follows the lawful
records' own distribution. What cannot be mended so becomes a copy of a lawful record: a draw under the condition that
the rules hold. Everything here is post-processing of what a mechanism has released; it sees no private data.
"""

from __future__ import annotations

import numpy as np

from core.base.arrays import Codes, Flags, IntArray
from core.base.errors import Refused
from core.rules.contradictions import lawful_record
from core.rules.functions import decide_keys
from core.rules.kinds import RecordRule
from core.rules.rule_set import RuleSet
from core.rules.strata import Strata
from core.rules.values import Values

PASSES = 3
"""Times that each broken rule is mended before records are replaced as a whole."""
MOST_SEARCHED = 20
"""Records of one kind that are made by a search, at some hundredths of a second each; more become copies."""


def obeying(rules: RuleSet, codes: Codes, generator: np.random.Generator) -> Codes:
    """As many records, near to these, none of which breaks a rule and which meet every known count."""
    if not rules or not len(codes):
        return codes
    decided = decide_keys(rules, codes)
    made = mended(decided, np.array(codes, dtype=np.int64), generator)
    if rules.totals:
        made = meeting_totals(decided, made, generator)
    assert not rules.broken(made), "a release is not stored unless its records keep every rule"
    return made


def mended(rules: RuleSet, codes: Codes, generator: np.random.Generator) -> Codes:
    """The same records with those that break a rule changed."""
    values = Values.of(rules)
    codes = np.array(codes, dtype=np.int64)
    good = _good(rules, values, codes)
    if good.all():
        return codes
    kept = codes[good]
    for _ in range(PASSES if len(kept) else 0):
        for rule in rules.single:
            broken = np.flatnonzero(~good)
            broken = broken[~rules.kept(rule, codes[broken])]
            if broken.size:
                _mend(rules, rule, codes, broken, kept, generator)
        good = _good(rules, values, codes)
        if good.all():
            return codes
    rest = np.flatnonzero(~good)
    if len(kept):
        codes[rest] = kept[generator.integers(0, len(kept), rest.size)]
        return codes
    _search_out(rules, codes, rest, {}, generator)
    return codes


def _good(rules: RuleSet, values: Values, codes: Codes) -> Flags:
    good = rules.lawful(codes)
    if values.columns:
        good[good] = values.exist(codes[good])
    return good


def _mend(
    rules: RuleSet, rule: RecordRule, codes: Codes, broken: IntArray, kept: Codes, generator: np.random.Generator
) -> None:
    """Give one column of the rule, chosen at random for each record, the value of a lawful one like it."""
    chosen = generator.integers(0, len(rule.columns), broken.size)
    for axis, name in enumerate(rule.columns):
        records = broken[chosen == axis]
        if not records.size:
            continue
        others = [other for other in rule.columns if other != name]
        place = rules.domain.names.index(name)
        both = _flat(rules, np.concatenate([codes[records], kept]), others)
        donors = _alike(both[: records.size], both[records.size :], generator)
        found = donors >= 0
        codes[records[found], place] = kept[donors[found], place]


def _alike(wanted: IntArray, kept: IntArray, generator: np.random.Generator) -> IntArray:
    """For each number the place of a random one of those kept that equals it; -1 where there is none."""
    shuffled = generator.permutation(kept.size)
    order = shuffled[np.argsort(kept[shuffled], kind="stable")]
    sorted_ = kept[order]
    first, end = np.searchsorted(sorted_, wanted), np.searchsorted(sorted_, wanted, side="right")
    drawn = first + np.floor(generator.random(wanted.size) * (end - first)).astype(np.int64)
    return np.where(end > first, order[np.minimum(drawn, kept.size - 1)], -1)


def _flat(rules: RuleSet, codes: Codes, columns: list[str]) -> IntArray:
    """One number for each combination of some columns."""
    flat = np.zeros(len(codes), dtype=np.int64)
    for name in columns:
        flat = flat * rules.domain[name].size + codes[:, rules.domain.names.index(name)]
        if rules.domain.cells(columns) >= 2**62:
            flat = np.unique(flat, return_inverse=True)[1]
    return flat


def _lawful_like(rules: RuleSet, record: IntArray, fixed: dict[str, int]) -> IntArray:
    """A lawful record near to this one, with some columns as they are given."""
    names = rules.domain.names
    prefer = {name: int(code) for name, code in zip(names, record, strict=True)}
    found = lawful_record(rules, fixed=fixed, prefer=prefer)
    if found is None:
        raise Refused("No record keeps every rule and the functions that keys have turned out to be.")
    return np.array([found.get(name, prefer[name]) for name in names], dtype=np.int64)


def meeting_totals(rules: RuleSet, codes: Codes, generator: np.random.Generator) -> Codes:
    """Lawful records with as few of them replaced as the known counts need."""
    strata = Strata.of(rules)
    own = strata.of_records(codes)
    held = np.bincount(own, minlength=strata.cells.size)
    wanted = strata.nearest(held, len(codes))
    free = [np.flatnonzero(own == stratum) for stratum in np.flatnonzero(held > wanted)]
    spare = [generator.permutation(each)[: each.size - int(wanted[own[each[0]]])] for each in free]
    open_ = generator.permutation(np.concatenate(spare)) if spare else np.zeros(0, dtype=np.int64)
    codes = codes.copy()
    for stratum in np.flatnonzero(wanted > held):
        number = int(wanted[stratum] - held[stratum])
        taken, open_ = open_[:number], open_[number:]
        _fill(rules, strata, int(stratum), own, codes, taken, generator)
    return codes


def _fill(
    rules: RuleSet,
    strata: Strata,
    stratum: int,
    own: IntArray,
    codes: Codes,
    taken: IntArray,
    generator: np.random.Generator,
) -> None:
    """Records that become ones of this stratum: copies of those that are there, else the nearest lawful ones."""
    there = np.flatnonzero(own == stratum)
    if there.size:
        codes[taken] = codes[there[_evenly(there.size, taken.size, generator)]]
        return
    fixed = dict(zip(strata.columns, map(int, strata.codes[stratum]), strict=True))
    _search_out(rules, codes, taken, fixed, generator)


def _search_out(
    rules: RuleSet, codes: Codes, records: IntArray, fixed: dict[str, int], generator: np.random.Generator
) -> None:
    """Give records the nearest lawful cells; of many, the first are searched and the others become copies of them."""
    first, others = records[:MOST_SEARCHED], records[MOST_SEARCHED:]
    for place in first:
        codes[place] = _lawful_like(rules, codes[place], fixed)
    codes[others] = codes[first[_evenly(first.size, others.size, generator)]]


def _evenly(size: int, number: int, generator: np.random.Generator) -> IntArray:
    """So many places below `size`, each as often as the others give or take one."""
    if not number:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([generator.permutation(size) for _ in range(-(-number // size))])[:number]
