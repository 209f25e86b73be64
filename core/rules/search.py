"""Is there a record that keeps all rules, and which: a search over the cells of the columns that the rules name.

Values that no rule can still accept are taken away from every column until nothing changes (generalised arc
consistency, Mackworth 1977); then the column with the fewest values left is given one, and so on, going back where
none is left. Everything here is public: rules and schema only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from core.base.arrays import Columns, Flags
from core.base.errors import Refused
from core.rules.kinds import LinearRule, RecordRule
from core.rules.rule_set import RuleSet, involved

MOST_TRIED = 2_000
"""Values tried in a search; rules that people write need a few dozen."""
TOO_MANY = (
    "The rules depend on each other in too many ways to be checked; use fewer on the same columns, or coarser bins."
)

Open = dict[str, Flags]


Accepts = Callable[[dict[str, int]], bool]


def find_record(
    rules: RuleSet,
    *,
    fixed: Mapping[str, int] | None = None,
    prefer: Mapping[str, int] | None = None,
    accepts: Accepts | None = None,
) -> dict[str, int] | None:
    """Codes of the columns that the rules name, such that a record with them keeps every rule; None if there is none.

    `fixed` columns have these codes; `prefer` says which code is tried first; `accepts` may refuse a record that the
    cells allow.
    """
    names = [name for name in rules.domain.names if name in set(involved(rules.single)) | set(fixed or {})]
    values: Open = {name: np.ones(rules.domain[name].size, dtype=np.bool_) for name in names}
    for name, code in (fixed or {}).items():
        values[name] = np.arange(values[name].size) == code
    return _search(rules, values, prefer or {}, accepts or (lambda record: True), [0])


def _search(
    rules: RuleSet, values: Open, prefer: Mapping[str, int], accepts: Accepts, tried: list[int]
) -> dict[str, int] | None:
    if not _narrow(rules, values):
        return None
    left = {name: int(np.count_nonzero(each)) for name, each in values.items()}
    several = [name for name in left if left[name] > 1]
    if not several:
        record = {name: int(np.flatnonzero(each)[0]) for name, each in values.items()}
        return record if accepts(record) else None
    name = min(several, key=left.__getitem__)
    codes = np.flatnonzero(values[name])
    first = prefer.get(name, -1)
    for code in sorted(codes.tolist(), key=lambda each: each != first):
        tried[0] += 1
        if tried[0] > MOST_TRIED:
            raise Refused(TOO_MANY)
        found = _search(rules, {**values, name: np.arange(values[name].size) == code}, prefer, accepts, tried)
        if found is not None:
            return found
    return None


def _narrow(rules: RuleSet, values: Open) -> bool:
    """Take away what no rule can accept; False where a column has no value left."""
    waiting = list(rules.single)
    while waiting:
        rule = waiting.pop(0)
        before = {name: int(np.count_nonzero(values[name])) for name in rule.columns}
        _apply(rules, rule, values)
        changed = [name for name in rule.columns if np.count_nonzero(values[name]) < before[name]]
        if any(not values[name].any() for name in rule.columns):
            return False
        if changed:
            near = [each for each in rules.single if each is not rule and set(each.columns) & set(changed)]
            waiting += [each for each in near if each not in waiting]
    return True


def _apply(rules: RuleSet, rule: RecordRule, values: Open) -> None:
    mask = rules.mask(rule)
    if mask is None:
        assert isinstance(rule, LinearRule)
        _apply_bounds(rules, rule, values)
        return
    places = [np.flatnonzero(values[name]) for name in rule.columns]
    few = mask[np.ix_(*places)]
    for axis, name in enumerate(rule.columns):
        some = few.any(axis=tuple(other for other in range(few.ndim) if other != axis))
        kept = np.zeros_like(values[name])
        kept[places[axis][some]] = True
        values[name] = kept


def _apply_bounds(rules: RuleSet, rule: LinearRule, values: Open) -> None:
    """Each value of each column against the ends of what is left of the others; a missing one sets the rule aside."""
    ends = rule.ends(rules.domain)
    if any(values[name][np.isnan(each.lows)].any() for name, each in zip(rule.columns, ends, strict=True)):
        return
    open_ = [values[name] for name in rule.columns]
    for axis, name in enumerate(rule.columns):
        lows: list[np.ndarray] = [np.array(each.lows[some].min()) for each, some in zip(ends, open_, strict=True)]
        highs: list[np.ndarray] = [np.array(each.highs[some].max()) for each, some in zip(ends, open_, strict=True)]
        lows[axis], highs[axis] = ends[axis].lows, ends[axis].highs
        open_[axis] = open_[axis] & rule.fits(rules.domain, lows, highs)
        values[name] = open_[axis]
        if not values[name].any():
            return


def possible(rules: RuleSet, columns: Columns, most: int) -> Flags:
    """Whether each combination of these columns occurs in some record that keeps all rules.

    Rules that reach beyond the columns are joined with each other where they share further columns, as long as the
    joint table has at most `most` cells; beyond that each is looked at on its own, which may let too many pass.
    """
    found = np.ones(rules.domain.shape(columns), dtype=np.bool_)
    for group in _groups(rules, columns):
        together = tuple(name for name in rules.domain.names if name in involved(group))
        if not set(together) & set(columns):
            continue
        whole = rules.domain.cells(together) <= most
        for part in [group] if whole else [[rule] for rule in group]:
            found &= _projected(rules.only(part), part, columns)
    return found


def _projected(rules: RuleSet, group: Sequence[RecordRule], columns: Columns) -> Flags:
    names = tuple(name for name in rules.domain.names if name in involved(group))
    mask = rules.inside(names)
    if mask is None:
        return np.ones((), dtype=np.bool_)
    mask = np.asarray(mask.any(axis=tuple(axis for axis, name in enumerate(names) if name not in columns)))
    kept = [name for name in names if name in columns]
    order = [kept.index(name) for name in columns if name in kept]
    return mask.transpose(order).reshape([rules.domain[name].size if name in kept else 1 for name in columns])


def _groups(rules: RuleSet, columns: Columns) -> list[list[RecordRule]]:
    """Rules that hang together by columns other than these."""
    groups: list[tuple[set[str], list[RecordRule]]] = []
    for rule in rules.single:
        outside, own = set(rule.columns) - set(columns), [rule]
        rest = []
        for names, members in groups:
            if names & outside:
                outside, own = outside | names, members + own
            else:
                rest.append((names, members))
        groups = [*rest, (outside, own)]
    return [members for _, members in groups]
