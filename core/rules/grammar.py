"""The grammar of rules, one to a line, over that of formulas (`core/formulas/grammar.py`).

    rule   = "never" [":"] formula                          no record fulfils it
           | "always" [":"] formula                         every record does; also a formula alone
           | "if" formula "then" formula
           | sum ( "=" | "<" | "<=" | ">" | ">=" ) sum      columns on both sides: an order or a sum
           | column "->" column                             a key: the second is a function of the first
           | "count" "(" formula ")" "=" number             a publicly known count

A column that is called like one of these words stands in double quotes. A missing value fulfils no comparison, so that
`if smoker = false then cigarettes = 0` also says that cigarettes are not missing then; a comparison of columns says
nothing where one of them is missing.
"""

from __future__ import annotations

import re
from dataclasses import replace

from core.base.errors import BadParameter, printable
from core.formulas.grammar import ConditionReader
from core.formulas.question import laid_out
from core.formulas.syntax import Node, joined, negated
from core.formulas.tokens import read, wrong
from core.rules.kinds import ConditionKind, ConditionRule, KeyRule, LinearRule, Rule, TotalRule
from core.schema.domain import Dates, Domain

MOST_COUNTED = 10**12
"""A publicly known count; more records than this cannot be released."""
_COMPARED = ("=", "<", "<=", ">", ">=")
_FIRST = re.compile(r"^(\s*(?:never|always)\s*):", re.IGNORECASE)


def read_rule(text: str, domain: Domain) -> Rule:
    """The meaning of a rule; whatever is wrong with it is one sentence.

    >>> from core.schema.domain import Booleans, Integers
    >>> people = Domain((Integers(name="age", low=0, high=99), Booleans(name="married")))
    >>> read_rule("never: age < 15 and married", people).words(people)
    'No record has age at most 14 and married = true'
    """
    try:
        # the colon keeps its place: mistakes are told by the character at which they stand
        return RuleReader(read(_FIRST.sub(r"\1 ", text).replace("→", "->")), domain).rule(text.strip())
    except BadParameter as problem:
        raise BadParameter("rule", str(problem).removeprefix("question: ")) from None


class RuleReader(ConditionReader):
    """Reads one rule."""

    def rule(self, text: str) -> Rule:
        if self.named("count") and self.tokens[self.place + 1].is_sign("("):
            return self.total(text)
        if self.word("never"):
            return self.condition_rule(text, "impossible", negated(self.formula()))
        if self.word("always"):
            return self.condition_rule(text, "always", self.formula())
        if self.word("if"):
            premise = self.either()
            if not self.word("then"):
                raise self.expected("write 'then' and what follows")
            conclusion = self.formula()
            return replace(
                self.condition_rule(text, "implied", joined("or", [negated(premise), conclusion])),
                parts=(premise, conclusion),
            )
        return self.key(text) or self.comparison_of_columns(text) or self.condition_rule(text, "always", self.formula())

    def condition_rule(self, text: str, kind: ConditionKind, node: Node) -> ConditionRule:
        columns, allowed = laid_out(node, self.domain)
        if allowed.all():
            raise wrong("says nothing: every possible record fulfils it.")
        return ConditionRule(text, columns, kind, node)

    def key(self, text: str) -> KeyRule | None:
        first, *signs = self.tokens[self.place : self.place + 3]
        named = first.kind in ("word", "column")
        if not named or len(signs) < 2 or not signs[0].is_sign("-") or not signs[1].is_sign(">"):
            return None
        source = self.column()
        self.place += 2
        target = self.column()
        if source == target:
            raise wrong(f"column '{printable(source)}' follows from itself; name another one after ->.")
        if self.next.kind != "end":
            raise self.expected("a key names two columns, such as postcode -> region")
        return KeyRule(text, (source, target))

    def comparison_of_columns(self, text: str) -> LinearRule | None:
        """Sums with columns on both sides of one comparison; None where this is something else."""
        start = self.place
        left = self.side()
        if left is None or not left[0] or not self.next.is_sign(*_COMPARED):
            self.place = start
            return None
        operator = self.take().text
        right = self.side()
        if right is None or not right[0] or self.next.kind != "end":
            self.place = start
            return None
        weights = dict(left[0])
        for name, weight in right[0].items():
            weights[name] = weights.get(name, 0.0) - weight
        weights = {name: weights[name] for name in self.domain.names if weights.get(name)}
        if not weights:
            raise wrong("compares a column with itself.")
        dated = [weight for name, weight in weights.items() if isinstance(self.domain[name], Dates)]
        if dated and sum(dated):
            raise wrong("a date can be compared with a date, or with a date and a number of days.")
        return LinearRule(text, tuple(weights), tuple(weights.values()), operator, right[1] - left[1])

    def side(self) -> tuple[dict[str, float], float] | None:
        """Weights of ordered columns and a number; None where anything else stands there."""
        weights: dict[str, float] = {}
        number, direction = 0.0, -1.0 if self.sign("-") else 1.0
        while True:
            factor, named = direction, False
            if self.next.kind == "number":
                factor, named = direction * self.number(), True
                if not self.sign("*"):
                    number += factor
                    factor = 0.0
            if factor or not named:
                token = self.next
                name = self.called(token) if token.kind in ("word", "column") else None
                if name is None or not self.domain[name].ordered:
                    if not weights or token.kind not in ("word", "column"):
                        return None
                    # a sum has begun: what follows was meant to be one of its columns
                    raise wrong(f"column '{printable(self.column())}' has no order, so it cannot stand in a sum.")
                self.take()
                if self.sign("*"):
                    if self.next.kind != "number":
                        return None
                    factor *= self.number()
                weights[name] = weights.get(name, 0.0) + factor
            if not self.next.is_sign("+", "-"):
                return weights, number
            direction = -1.0 if self.take().text == "-" else 1.0

    def total(self, text: str) -> TotalRule:
        self.take()
        node = self.group()
        if not self.sign("="):
            raise self.expected("write = and the number of records")
        number = self.number()
        if self.next.kind != "end":
            raise self.expected("a count ends with its number, such as count(region = north) = 1200")
        if number != int(number) or number > MOST_COUNTED:
            raise wrong(f"a count must be a whole number from 0 to {MOST_COUNTED:,}.")
        columns, counted = laid_out(node, self.domain)
        if not counted.any() and number:
            raise wrong("no possible record fulfils what is counted.")
        return TotalRule(text, columns, node, int(number))
