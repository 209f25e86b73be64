"""The grammar of formulas, read from left to right over a public schema.

    formula    = all { "or" all }
    all        = fact { "and" fact }
    fact       = { "not" } ( "(" formula ")" | condition )
    condition  = column                                     a yes/no column: it is true
               | column ( "=" | "!=" ) value
               | column ( "<" | "<=" | ">" | ">=" ) value
               | column [ "not" ] "between" value "and" value
               | column [ "not" ] "in" "{" value { "," value } "}"      braces or parentheses
               | column "is" [ "not" ] ( "missing" | "null" | "other" )
               | sum comparison number | sum [ "not" ] "between" number "and" number
    sum        = [ sign ] term { sign term }                a lone column needs a weight, such as 1*age
    term       = number "*" column | column "*" number | column
    column     = word | "in double quotes"
    value      = word | number | date | 'in single quotes'

Keywords may be written in any case; a quotation mark inside quotes is doubled.
"""

from __future__ import annotations

import math

from core.base.errors import BadParameter, printable
from core.formulas import cells, spans
from core.formulas.sums import weighted
from core.formulas.syntax import Node, joined, negated
from core.formulas.tokens import Token, read, wrong
from core.formulas.writing import sum_text
from core.schema.attributes import Attribute, Booleans
from core.schema.domain import Domain

MOST_NESTED = 32
"""Parentheses inside each other: far below what the stack holds, far above what a person can follow."""
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_PATTERNS = ("like", "ilike", "similar", "glob", "regexp", "rlike")


def parse(text: str, domain: Domain) -> Node:
    """The meaning of a formula; whatever is wrong with it is one sentence."""
    return ConditionReader(read(text), domain).formula()


class ConditionReader:
    """A place in the list of words; each method reads one rule of the grammar.

    SQL (`sql/grammar.py`) reads its conditions by the same rules.
    """

    def __init__(self, tokens: tuple[Token, ...], domain: Domain) -> None:
        self.tokens, self.domain = tokens, domain
        self.place = self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.next
        self.place = min(self.place + 1, len(self.tokens) - 1)
        return token

    def sign(self, *signs: str) -> bool:
        """Whether one of these signs comes next, which is then read."""
        found = self.next.is_sign(*signs)
        self.place += found
        return found

    def keyword(self, *words: str) -> bool:
        found = self.next.is_keyword(*words)
        self.place += found
        return found

    def named(self, *words: str) -> bool:
        """Whether one of these words comes next, which may be a name elsewhere."""
        return self.next.kind == "word" and self.next.text.lower() in words

    def word(self, *words: str) -> bool:
        """The same, and it is then read."""
        found = self.named(*words)
        self.place += found
        return found

    def expected(self, advice: str) -> BadParameter:
        return wrong(f"{self.next} is not expected here; {advice}.")

    def formula(self) -> Node:
        node = self.either()
        if self.next.kind != "end":
            raise self.expected("join conditions by 'and' or 'or', and put a value with blanks or signs in quotes")
        return node

    def either(self) -> Node:
        parts = [self.all()]
        while self.keyword("or"):
            parts.append(self.all())
        return joined("or", parts)

    def all(self) -> Node:
        parts = [self.fact()]
        while self.keyword("and"):
            parts.append(self.fact())
        return joined("and", parts)

    def fact(self) -> Node:
        denied = False
        while self.keyword("not"):
            denied = not denied
        node = self.group() if self.next.is_sign("(") else self.condition()
        return negated(node) if denied else node

    def group(self) -> Node:
        self.take()
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise wrong(f"has more than {MOST_NESTED} parentheses inside each other; simplify it.")
        node = self.either()
        if not self.sign(")"):
            raise self.expected("close the parenthesis by )")
        self.depth -= 1
        return node

    def condition(self) -> Node:
        if self.next.kind == "number" or self.next.is_sign("+", "-"):
            return self.sum()
        start = self.place
        attribute = self.domain[self.column()]
        if self.next.is_sign("*", "+", "-"):
            self.place = start
            return self.sum()
        if self.next.is_sign(*_COMPARISONS):
            return self.comparison(attribute)
        if self.keyword("is"):
            return self.special(attribute)
        denied = self.keyword("not")
        if self.keyword("in"):
            node: Node = spans.equal(attribute, self.listed())
        elif self.keyword("between"):
            node = self.within(attribute, *self.bounds())
        elif self.named(*_PATTERNS):
            what = (
                f"{self.next} compares parts of a text, but column '{printable(attribute.name)}' has whole values only"
            )
            raise wrong(f"{what}; list those that fit, such as in (north, east).")
        elif isinstance(attribute, Booleans) and not denied:
            return cells.Among(attribute.name, (1,))
        else:
            advice = "write 'in' or 'between'" if denied else "compare the column by =, >=, in, between or is missing"
            raise self.expected(advice)
        return negated(node) if denied else node

    def comparison(self, attribute: Attribute) -> Node:
        operator, value = self.take().text, self.value()
        if attribute.numeric and value in self.domain and self.domain[value].numeric:
            difference = sum_text([(attribute.name, 1), (value, -1)])
            raise wrong(f"'{printable(value)}' is a column; compare the difference: {difference} {operator} 0.")
        if operator in ("=", "!="):
            node = spans.equal(attribute, [value])
            return node if operator == "=" else negated(node)
        return spans.compared(attribute, operator, value)

    def special(self, attribute: Attribute) -> Node:
        denied = self.keyword("not")
        kind = self.next.text.lower()
        if not self.word("missing", "null", "other"):
            raise self.expected("write 'missing', 'null' or 'other' after 'is', and = before a value")
        node = cells.special(attribute, "missing" if kind == "null" else kind)
        return negated(node) if denied else node

    def listed(self) -> list[str]:
        if not self.next.is_sign("{", "("):
            raise self.expected("list the values in braces or parentheses, such as {north, east}")
        end = "}" if self.take().text == "{" else ")"
        values = [self.value()]
        while self.sign(","):
            values.append(self.value())
        if not self.sign(end):
            raise self.expected(f"close the list by {end}, and put a value with blanks or signs in quotes")
        return values

    def within(self, attribute: Attribute, low: str, high: str) -> Node:
        return spans.between(attribute, low, high)

    def bounds(self) -> tuple[str, str]:
        low = self.value()
        self.also()
        return low, self.value()

    def also(self) -> None:
        if not self.keyword("and"):
            raise self.expected("write 'and' and the second bound")

    def sum(self) -> Node:
        weights: dict[str, float] = {}
        direction = -1.0 if self.sign("-") else 1.0
        if direction > 0:
            self.sign("+")
        while True:
            column, weight = self.term()
            weights[column] = weights.get(column, 0.0) + direction * weight
            if not self.next.is_sign("+", "-"):
                break
            direction = -1.0 if self.take().text == "-" else 1.0
        return self.reached(weights)

    def term(self) -> tuple[str, float]:
        if self.next.kind != "number":
            column = self.column()
            return column, self.number() if self.sign("*") else 1.0
        weight = self.number()
        if not self.sign("*"):
            raise self.expected("a number before a comparison is a weight, such as 2*age")
        return self.column(), weight

    def reached(self, weights: dict[str, float]) -> Node:
        """What a sum is compared with."""
        if self.next.is_sign(*_COMPARISONS):
            operator = self.take().text
            node: Node = weighted(self.domain, weights, operator.replace("!=", "="), self.signed())
            return negated(node) if operator == "!=" else node
        denied = self.keyword("not")
        if not self.keyword("between"):
            raise self.expected("write 'between'" if denied else "compare the sum by >=, <=, >, <, = or between")
        low = self.signed()
        self.also()
        ends = ((">=", low), ("<=", self.signed()))
        node = joined("and", [weighted(self.domain, weights, operator, cut) for operator, cut in ends])
        return negated(node) if denied else node

    def signed(self) -> float:
        if self.sign("-"):
            return -self.number()
        self.sign("+")
        return self.number()

    def number(self) -> float:
        if self.next.kind != "number":
            raise self.expected("write a number")
        token = self.take()
        value = float(token.text)
        if not math.isfinite(value):
            raise wrong(f"the number {token} is too large.")
        return value

    def value(self) -> str:
        """A value as it is written; what it means depends on the column."""
        sign = "-" if self.sign("-") else ""
        token = self.next
        if token.kind == "column":
            raise wrong(f"{token} is in double quotes, which are for columns; write values in single quotes.")
        if token.kind == "keyword":
            raise wrong(f"{token} is a word of the grammar; write a value before it, or put it in single quotes.")
        if token.kind not in (("number",) if sign else ("word", "number", "date", "value")):
            raise self.expected("write a value")
        return sign + self.take().text

    def column(self) -> str:
        token = self.next
        if token.kind == "value":
            raise wrong(f"{token} is in single quotes, which are for values; write columns in double quotes.")
        if token.kind not in ("word", "column"):
            raise self.expected("write a column")
        name = self.called(token)
        if name is None:
            raise wrong(self._unknown(token.text))
        self.take()
        return name

    def called(self, token: Token) -> str | None:
        """The column that a word means, if it means one."""
        return token.text if token.text in self.domain else None

    def _unknown(self, name: str) -> str:
        start = f"there is no column '{printable(name)}'"
        if "-" in name and all(part in self.domain for part in name.split("-")):
            return f"{start}; put blanks around the minus sign."
        return f"{start}{cells.nearest(name, self.domain.names) or ' in the schema.'}"
