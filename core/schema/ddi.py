"""DDI Codebook (versions 1.2 to 2.5): the XML in which data archives describe the columns of a survey.

Names, labels, formats, ranges of valid values and lists of codes are taken. Statistics (`sumStat`, `catStat`) stand in
the same file and are made of the rows, so they are never looked at. DDI Lifecycle (version 3) is another language and
is refused.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from core.base.errors import BadSchema
from core.schema.labels import labelled
from core.schema.value_list import WHOLE


def entries_of_xml(text: str) -> list[dict[str, Any]]:
    """One entry per variable.

    >>> entries_of_xml('<codeBook><var name="sex"><catgry><catValu>1</catValu></catgry></var></codeBook>')
    [{'name': 'sex', 'kind': 'categories', 'values': [1]}]
    """
    try:
        root = fromstring(text)
    except (ParseError, DefusedXmlException, ValueError, RecursionError):
        raise BadSchema("The code book is not valid XML, or uses entities, which are not read.") from None
    if _local(root) != "codeBook":
        raise BadSchema("The code book is XML, but no DDI Codebook (1.2 to 2.5); export it as such or as CSV.")
    return [_entry(variable) for variable in root.iter() if _local(variable) == "var"]


def _entry(variable: Element) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": variable.get("name", "")}
    values = _codes(variable)
    low, high = _range(variable)
    if values:
        entry |= {"kind": "categories", "values": list(values)}
    elif low is not None and high is not None and _format(variable) != "character":
        decimals = variable.get("dcml", "0")
        whole = decimals == "0" and WHOLE.fullmatch(low) and WHOLE.fullmatch(high)
        entry |= {"kind": "integers" if whole else "reals", "low": low, "high": high}
        if not whole and re.fullmatch(r"[1-9]|1[0-5]", decimals):
            entry["decimals"] = int(decimals)
    if note := labelled(_text(_child(variable, "labl")), values.items()):
        entry["note"] = note
    return entry


def _codes(variable: Element) -> dict[str | int, str]:
    """The list of codes, each once, with their labels; a code that is a whole number is one."""
    found: dict[str | int, str] = {}
    for each in variable:
        if _local(each) == "catgry" and (text := _text(_child(each, "catValu"))):
            code = int(text) if WHOLE.fullmatch(text) and len(text) < 16 else text
            found.setdefault(code, _text(_child(each, "labl")))
    return found


def _range(variable: Element) -> tuple[str | None, str | None]:
    valid = _child(variable, "valrng")
    bounds = None if valid is None else _child(valid, "range")
    return (None, None) if bounds is None else (bounds.get("min"), bounds.get("max"))


def _format(variable: Element) -> str:
    found = _child(variable, "varFormat")
    return "" if found is None else found.get("type", "")


def _child(parent: Element, name: str) -> Element | None:
    return next((each for each in parent if _local(each) == name), None)


def _text(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _local(element: Element) -> str:
    """The name without its namespace, which every version has another of; comments have none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
