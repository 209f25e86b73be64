"""The grammar of SELECT statements over a public schema; conditions are those of `core/formulas/grammar.py`.

    statement  = "select" item { "," item } "from" name [ [ "as" ] name ] [ "where" formula ]
                 [ "group" "by" place { "," place } ] [ ";" ]
    item       = ( column | aggregate ) [ [ "as" ] name ]
    aggregate  = "count" "(" ( "*" | column ) ")"
               | ( "sum" | "avg" | "mean" | "median" ) "(" column ")"
               | ( "quantile" | "quantile_disc" | "quantile_cont" ) "(" column "," number ")"
               | ( "percentile_disc" | "percentile_cont" ) "(" number ")" "within" "group" "(" "order" "by" column ")"
    place      = column | number                            a column, or the place of one in the list of items

A column may be written in any case and after the name of the table, a day as DATE '2024-12-31'. The name after FROM is
not looked up: whoever asks is asked about one table. Nothing is interpolated: a median is the smallest value that half
of the rows do not exceed, whatever the function is called.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property

from core.base.errors import BadParameter, printable
from core.formulas import spans
from core.formulas.cells import nearest
from core.formulas.grammar import ConditionReader
from core.formulas.sql.statement import Aggregate, Select, headings
from core.formulas.sql.unknown import certain
from core.formulas.syntax import Node, joined
from core.formulas.tokens import Token, read, wrong
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from core.schema.ordered import Reals

MOST_ITEMS = 16
"""Aggregates of one statement, and columns that it groups by."""
_STATEMENTS = ("with", "insert", "update", "delete", "drop", "create", "alter", "attach", "copy", "pragma", "explain")
_ONE_TABLE = "one table is asked about at a time"
_NO_ORDER = "groups come in the order of the schema, all of them"
_NOT_READ = {
    **dict.fromkeys(("join", "inner", "left", "right", "full", "cross", "natural", "using", "on"), _ONE_TABLE),
    **dict.fromkeys(("union", "intersect", "except"), "one statement is asked at a time"),
    **dict.fromkeys(("order", "limit", "offset", "fetch"), _NO_ORDER),
    **dict.fromkeys(("having", "qualify"), "choose among the groups when they are answered"),
    **dict.fromkeys(("over", "window", "filter"), "put the condition after WHERE"),
}
_FUNCTIONS = ("count", "sum", "avg", "mean", "median", "quantile", "quantile_disc", "quantile_cont")
_PERCENTILES = ("percentile_disc", "percentile_cont")
_REFUSED = {
    **dict.fromkeys(("min", "max"), "depends on single rows; ask a quantile such as QUANTILE(age, 0.05)"),
    **dict.fromkeys(
        ("stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "mode"),
        "is not answered; ask COUNT(*) for each value by GROUP BY and compute it from that",
    ),
}


def is_select(text: str) -> bool:
    """Whether a text is a statement and not a formula; a column that is called 'select' can still be compared.

    >>> is_select("SELECT COUNT(*) FROM t"), is_select("select = true")
    (True, False)
    """
    first, *rest = _tokens(text)
    if first.kind != "word" or first.text.lower() not in ("select", *_STATEMENTS):
        return False
    # A weighted sum, 'select * 2 >= 5', goes on with a number.
    return rest[0].kind in ("word", "column") or (rest[0].is_sign("*") and rest[1].kind != "number")


def parse_select(text: str, domain: Domain) -> Select:
    """The meaning of a statement; whatever is wrong with it is one sentence."""
    return _StatementReader(_tokens(text), domain).statement()


def _tokens(text: str) -> tuple[Token, ...]:
    """The words of a statement, without the semicolon that may end it."""
    return read(text.rstrip().removesuffix(";") if isinstance(text, str) else text)


class _StatementReader(ConditionReader):
    """Reads one statement; its conditions mean what they mean in SQL."""

    def statement(self) -> Select:
        if not self.word("select"):
            raise wrong(f"{self.next} is not read; ask by SELECT, such as SELECT COUNT(*) FROM t.")
        if self.named("distinct", "all") and self.tokens[self.place + 1].kind in ("word", "column"):
            raise wrong(f"{self.next} is not read; group by the column and count: SELECT COUNT(*) FROM t GROUP BY …")
        items = [self.item()]
        while self.sign(","):
            items.append(self.item())
        self.table()
        condition = certain(self.either(), self.domain) if self.word("where") else None
        groups = self.groups(items)
        if self.next.kind != "end":
            raise self.unread("end the statement here")
        return _checked(items, condition, groups)

    def item(self) -> str | Aggregate:
        """A plain column, or what is computed."""
        token, following = self.next, self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        if token.is_sign("*"):
            raise wrong("SELECT * would show rows, and no row is ever shown; count them: SELECT COUNT(*) FROM t.")
        if token.kind == "word" and following.is_sign("("):
            start = self.place
            found = self.aggregate()
            written = " ".join(part.text for part in self.tokens[start : self.place])
            return replace(found, title=self.alias() or _tidy(written))
        name = self.column()
        self.alias()
        return name

    def alias(self) -> str | None:
        """What something is called from here on."""
        if self.word("as") or (self.next.kind in ("word", "column") and not self.named("from", *_NOT_READ)):
            if self.next.kind not in ("word", "column"):
                raise self.expected("write a name after 'as'")
            return printable(self.take().text)
        return None

    def aggregate(self) -> Aggregate:
        token = self.take()
        function = token.text.lower()
        self.take()
        if function in _REFUSED:
            raise wrong(f"{token} {_REFUSED[function]}.")
        if function in _PERCENTILES:
            return self.percentile()
        if function not in _FUNCTIONS:
            close = nearest(function, (*_FUNCTIONS, *_PERCENTILES))
            raise wrong(f"{token} is no function that is read{close or '; use COUNT, SUM, AVG, MEDIAN or QUANTILE.'}")
        if self.named("distinct") and not self.tokens[self.place + 1].is_sign(")", ","):
            raise wrong(f"{self.next} is not read; how many values a column has is in the public schema.")
        if function == "count" and self.sign("*"):
            return self.closed(Aggregate(measure="count", column=None, title=""))
        column = self.column()
        if function == "count":
            return self.closed(Aggregate(measure="count", column=column, title=""))
        self.numeric(column, function)
        if function in ("sum", "avg", "mean"):
            return self.closed(Aggregate(measure="sum" if function == "sum" else "average", column=column, title=""))
        return self.closed(Aggregate(measure="quantile", column=column, share=self.share_after(function), title=""))

    def percentile(self) -> Aggregate:
        share = self.share()
        self.close()
        for words in ("within", "group"):
            if not self.word(words):
                raise self.expected("write WITHIN GROUP (ORDER BY column)")
        if not (self.sign("(") and self.word("order") and self.word("by")):
            raise self.expected("write WITHIN GROUP (ORDER BY column)")
        column = self.column()
        self.numeric(column, "percentile")
        if self.named("desc"):
            raise self.expected("count the share from below, with 1 less the number")
        self.word("asc")
        return self.closed(Aggregate(measure="quantile", column=column, share=share, title=""))

    def closed(self, found: Aggregate) -> Aggregate:
        self.close()
        return found

    def close(self) -> None:
        if not self.sign(")"):
            raise self.expected("close the parenthesis by ) after one column")

    def share_after(self, function: str) -> float:
        if function == "median":
            return 0.5
        if not self.sign(","):
            raise self.expected("write the share after a comma, such as QUANTILE(age, 0.9)")
        return self.share()

    def share(self) -> float:
        token, share = self.next, self.number()
        if not 0 < share < 1:
            raise wrong(f"{token} is no share of the rows; write a number between 0 and 1.")
        return share

    def numeric(self, column: str, function: str) -> None:
        if not self.domain[column].numeric:
            name = printable(column)
            raise wrong(f"column '{name}' is not a column of numbers; {function.upper()} needs one, COUNT does not.")

    def table(self) -> None:
        """The table is the one that is asked; its name is read and forgotten."""
        if not self.word("from"):
            raise self.unread("write FROM and the name of the table")
        if self.next.is_sign("("):
            raise wrong(f"{self.next} begins a table inside the statement, which is not read; name the one table.")
        if self.next.kind not in ("word", "column", "value"):
            raise self.expected("write the name of the table")
        self.take()
        if self.next.is_sign(","):
            raise wrong(f"{self.next} begins a second table; {_ONE_TABLE}.")
        if not self.named("where", "group"):
            self.alias()

    def groups(self, items: list[str | Aggregate]) -> tuple[str, ...]:
        if not self.word("group"):
            return ()
        if not self.word("by"):
            raise self.expected("write BY after GROUP")
        found = [self.grouped(items)]
        while self.sign(","):
            found.append(self.grouped(items))
        return tuple(dict.fromkeys(found))

    def grouped(self, items: list[str | Aggregate]) -> str:
        if self.next.kind != "number":
            return self.column()
        token = self.take()
        place = int(token.text) if token.text.isdecimal() and len(token.text) < 5 else 0
        item = items[place - 1] if 0 < place <= len(items) else None
        if not isinstance(item, str):
            raise wrong(f"{token} is not the place of a column among what is selected.")
        return item

    def unread(self, advice: str) -> BadParameter:
        reason = _NOT_READ.get(self.next.text.lower()) if self.next.kind == "word" else None
        return wrong(f"{self.next} is not read: {reason}.") if reason else self.expected(advice)

    def within(self, attribute: Attribute, low: str, high: str) -> Node:
        if not isinstance(attribute, Reals):
            return spans.between(attribute, low, high)
        # SQL's BETWEEN holds both bounds, and a bin of real numbers its left end only.
        ends = ((">=", low), ("<=", high))
        return joined("and", [spans.compared(attribute, operator, value) for operator, value in ends])

    def value(self) -> str:
        following = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        if self.named("select"):
            raise wrong(f"{self.next} begins a statement inside the statement, which is not read.")
        if self.named("date", "timestamp") and following.kind == "value":
            self.take()
        return super().value()

    def called(self, token: Token) -> str | None:
        if token.text in self.domain or token.kind != "word":
            return super().called(token)
        for text in (token.text, token.text.partition(".")[2]):
            if text in self.domain:
                return text
            if name := self._in_any_case.get(text.casefold()):
                return name
        return None

    @cached_property
    def _in_any_case(self) -> dict[str, str]:
        """Columns by their names in small letters, where those differ."""
        often = Counter(name.casefold() for name in self.domain.names)
        return {name.casefold(): name for name in self.domain.names if often[name.casefold()] == 1}


def _checked(items: list[str | Aggregate], condition: Node | None, groups: tuple[str, ...]) -> Select:
    aggregates = [item for item in items if isinstance(item, Aggregate)]
    for column in (item for item in items if isinstance(item, str)):
        if column not in groups:
            raise wrong(f"column '{printable(column)}' would be shown row by row; put it after GROUP BY.")
    if not aggregates:
        raise wrong("nothing is counted; select COUNT(*), SUM, AVG, MEDIAN or QUANTILE of a column.")
    if max(len(aggregates), len(groups)) > MOST_ITEMS:
        raise wrong(f"names more than {MOST_ITEMS} aggregates or columns to group by; ask in parts.")
    called = [*groups, *(name for aggregate in aggregates for name in headings(aggregate.title))]
    if twice := next((name for name, often in Counter(called).items() if often > 1), None):
        raise wrong(f"two columns of the answer would be called '{printable(twice)}'; name one of them by AS.")
    return Select(aggregates=tuple(aggregates), condition=condition, groups=groups)


def _tidy(written: str) -> str:
    """An aggregate as it was written, with the blanks that people write.

    >>> _tidy("COUNT ( * )"), _tidy("quantile ( age , 0.9 )")
    ('COUNT(*)', 'quantile(age, 0.9)')
    """
    return printable(written.replace(" ( ", "(").replace(" )", ")").replace(" , ", ", "))
