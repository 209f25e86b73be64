"""Rules that contradict each other, or that nothing can fulfil, are refused with a smallest set of them that does.

A set is found by a deletion filter (Chinneck and Dravnieks 1991): rules are left out one by one, and one that is needed
for the contradiction stays. What remains contradicts itself, and no part of it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from core.base.errors import BadSchema, Refused, printable
from core.base.wording import amount
from core.rules.kinds import ROUNDING, Rule, TotalRule
from core.rules.rule_set import RuleSet, involved, rules_of
from core.rules.search import find_record
from core.rules.strata import Strata
from core.rules.values import Values
from core.schema.domain import Domain


def consistent(rules: RuleSet) -> bool:
    """Whether some table of one record or more keeps all of them."""
    if rules.single and (not _compared(rules) or lawful_record(rules) is None):
        return False
    return not rules.totals or Strata.of(rules).rows() not in (None, (0, 0))


def lawful_record(
    rules: RuleSet, *, fixed: Mapping[str, int] | None = None, prefer: Mapping[str, int] | None = None
) -> dict[str, int] | None:
    """A record that keeps every rule of its own, with values inside its cells that fulfil comparisons of columns."""
    values = Values.of(rules)

    def accepts(record: dict[str, int]) -> bool:
        codes = np.zeros((1, len(rules.domain)), dtype=np.int64)
        for name, code in record.items():
            codes[0, rules.domain.names.index(name)] = code
        return bool(values.exist(codes)[0])

    return find_record(rules, fixed=fixed, prefer=prefer, accepts=accepts if values.columns else None)


def _compared(rules: RuleSet) -> bool:
    """Whether the comparisons of columns that are never missing leave any values, bins and other rules aside."""
    told = [rule for rule in rules.linear if not any(rules.domain[name].missing for name in rule.columns)]
    if not told:
        return True
    from scipy.optimize import linprog  # takes long to load, and few schemas compare columns

    names = involved(told)
    ends = rules.ends(names)
    lines, cuts = [], []
    for rule in told:
        line = np.zeros(len(names))
        line[[names.index(name) for name in rule.columns]] = rule.weights
        low, high = rule.bounds(rules.domain)
        for direction, cut in ((1.0, high), (-1.0, -low)):
            if np.isfinite(cut):
                lines.append(direction * line)
                cuts.append(cut + ROUNDING * max(1.0, abs(cut)))
    bounds = [(float(ends[name].lows.min()), float(ends[name].highs.max())) for name in names]
    return bool(linprog(np.zeros(len(names)), A_ub=np.array(lines), b_ub=cuts, bounds=bounds).status != 2)


def smallest_conflict(rules: RuleSet) -> tuple[Rule, ...]:
    """Rules that contradict each other, none of which can be left out; none where all agree.

    >>> from core.schema.domain import Integers
    >>> people = Domain(
    ...     (Integers(name="age", low=0, high=99), Integers(name="of", low=0, high=9)),
    ...     ("always: age >= 50", "never: of = 3", "never: age >= 40"),
    ... )
    >>> [rule.text for rule in smallest_conflict(rules_of(people))]
    ['always: age >= 50', 'never: age >= 40']
    """
    if consistent(rules):
        return ()
    for rule in rules.rules:
        if not consistent(rules.only([rule])):
            return (rule,)
    kept = list(rules.rules)
    # Halves first: of many rules most have nothing to do with it.
    size = len(kept) // 2
    while size:
        place = 0
        while place < len(kept):
            fewer = kept[:place] + kept[place + size :]
            if fewer and not consistent(rules.only(fewer)):
                kept = fewer
            else:
                place += size
        size //= 2
    return tuple(kept)


def check_rules(domain: Domain) -> RuleSet:
    """The rules of a schema, or one sentence that names those which cannot all hold."""
    rules = rules_of(domain)
    if (refusal := _refusal(rules)) is not None:
        raise type(refusal)(str(refusal))
    return rules


@lru_cache(maxsize=64)
def _refusal(rules: RuleSet) -> BadSchema | Refused | None:
    """Why rules cannot be used, found once: a page asks at every step, and the answer may take long."""
    try:
        conflict = smallest_conflict(rules) if rules else ()
    except Refused as problem:
        return problem.with_traceback(None)
    return BadSchema(_sentence(conflict)) if conflict else None


def check_rows(domain: Domain, rows: int | None, most_rows: int) -> None:
    """Refuse rules that cannot all hold, and numbers of records with which the known counts cannot be met."""
    rules = check_rules(domain)
    least, most = known_rows(rules)
    if least > most_rows:
        raise BadSchema(
            f"The counts that the rules declare need {amount(least)} records and at most {amount(most_rows)} are drawn."
        )
    if rows is not None and not least <= rows <= (rows if most is None else most):
        bounds = f"exactly {amount(least)}" if most == least else f"from {amount(least)} to {amount(most or 0)}"
        needed = f"at least {amount(least)}" if most is None else bounds
        raise BadSchema(f"The counts that the rules declare need {needed} records; leave the number of records open.")
    if rows is not None and records_near(rules, rows) != rows:
        raise BadSchema(
            f"The counts that the rules declare cannot be met by {amount(rows)} records; "
            "leave the number of records open."
        )


@lru_cache(maxsize=64)
def known_rows(rules: RuleSet) -> tuple[int, int | None]:
    """The least and the greatest number of records with which the known counts can be met."""
    found = Strata.of(rules).rows() if rules.totals else (0, None)
    assert found is not None, "rules that contradict each other were refused"
    return found


@lru_cache(maxsize=64)
def records_near(rules: RuleSet, rows: int) -> int:
    """The number of records nearest to this one, but at least one, with which the known counts can be met."""
    if not rules.totals:
        return max(rows, 1)
    found = Strata.of(rules).rows_near(max(rows, 1))
    assert found is not None, "rules that contradict each other were refused"
    return found


def _sentence(conflict: Sequence[Rule]) -> str:
    listed = "; ".join(f"'{printable(rule.text, 120)}'" for rule in conflict)
    if len(conflict) == 1:
        counted = isinstance(conflict[0], TotalRule) and conflict[0].number
        what = "counts records that cannot be" if counted else "leaves no possible record"
        return f"The rule {listed} {what}; correct or remove it."
    return f"These {len(conflict)} rules contradict each other, and would not without any one of them: {listed}."
