"""The words of a formula: names, values, numbers, dates and signs, each with its place in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from core.base.errors import BadParameter, printable

MOST_CHARACTERS = 2_000
"""A formula is read by a person; this is more than a page of conditions."""
KEYWORDS = frozenset(("and", "or", "not", "in", "between", "is"))
"""Words that are never a name or a value unless they stand in quotes."""

TokenKind = Literal["keyword", "word", "column", "value", "number", "date", "sign", "end"]

_PATTERN = re.compile(
    r"""(?P<blank>\s+)
    |"(?P<column>(?:[^"]|"")*)"
    |'(?P<value>(?:[^']|'')*)'
    |(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?!\w)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])
    |(?P<word>\w+(?:[-.](?=[^\W\d])\w+)*)
    |(?P<sign>==|<>|!=|<=|>=|[=<>≤≥≠(){},*+−-])""",
    re.VERBOSE,
)
_SAME = {"==": "=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!=", "−": "-"}


@dataclass(frozen=True)
class Token:
    """One word; `text` is what it means, without its quotes."""

    kind: TokenKind
    text: str
    place: int
    """Counted from 1."""

    def __str__(self) -> str:
        return "the end of the formula" if self.kind == "end" else f"'{printable(self.text)}' at character {self.place}"

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs

    def is_keyword(self, *words: str) -> bool:
        return self.kind == "keyword" and self.text in words


def wrong(sentence: str) -> BadParameter:
    """The one error of this package: a formula that cannot be asked."""
    return BadParameter("question", sentence)


def read(text: str) -> tuple[Token, ...]:
    """The words of a text, closed by an 'end'.

    >>> [token.text for token in read("age>=65 AND \\"home town\\"='a b'")]
    ['age', '>=', '65', 'and', 'home town', '=', 'a b', '']
    """
    if not isinstance(text, str):
        raise wrong("must be a text such as age >= 65.")
    if len(text) > MOST_CHARACTERS:
        raise wrong(f"has {len(text):,} characters; use at most {MOST_CHARACTERS:,}.")
    if not text.strip():
        raise wrong("is empty; write a condition such as age >= 65.")
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        found = _PATTERN.match(text, place)
        if found is None:
            raise wrong(_unread(text[place], place + 1))
        if found.lastgroup != "blank":
            tokens.append(_token(found, place + 1))
        place = found.end()
    return (*tokens, Token("end", "", len(text) + 1))


def bare(text: str, *kinds: TokenKind) -> bool:
    """Whether a text may stand in a formula without quotes, and is read there as one of these kinds."""
    found = _PATTERN.fullmatch(text)
    return found is not None and found.lastgroup in kinds and not _reserved(text)


def _token(found: re.Match[str], place: int) -> Token:
    kind = found.lastgroup
    text = found[kind] if kind else ""
    if kind == "column":
        return Token("column", text.replace('""', '"'), place)
    if kind == "value":
        return Token("value", text.replace("''", "'"), place)
    if kind == "sign":
        return Token("sign", _SAME.get(text, text), place)
    if kind == "word":
        return Token("keyword", text.lower(), place) if _reserved(text) else Token("word", text, place)
    return Token("date" if kind == "date" else "number", text, place)


def _reserved(text: str) -> bool:
    return text.isascii() and text.lower() in KEYWORDS


def _unread(character: str, place: int) -> str:
    if character in "'\"":
        return f"the quotation mark at character {place} is never closed."
    shown = printable(character)
    return f"the sign {shown} at character {place} has no meaning here; put a name or value with signs in quotes."
