"""What a report says: who publishes what, what is promised, how good it is, how to use it and how not.

All of it is computed from the release itself and from what the publisher says, so it may be given to anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns
from core.base.odds import odds
from core.base.wording import amount, plural, rows
from core.planning.room_for_noise import moved_share, too_small
from core.registry import query_from_json
from core.release.certificate import Certificate
from core.release.copies.combining import LIMIT
from core.release.files.catalogue import promise
from core.release.listing import name_of
from core.release.reports.blocks import BarFigure, Facts, Heading, HeatFigure, Paragraph, ReportBlock, Sentences
from core.release.reports.drawing import MOST_SIDE
from core.release.reports.grouping import grouped, together
from core.release.reports.imprint import Imprint
from core.rules.rule_set import rules_of
from core.rules.told import about
from core.schema.attributes import Attribute, Booleans
from core.schema.domain import Dates, Domain, Integers
from core.schema.guesses import origin
from core.schema.ordered import Reals

MOST_COLUMNS, MOST_PAIRS, MOST_NAMED = 20, 4, 10
MOST_VALUES = 100_000
KINDS = {"integers": "Whole numbers", "reals": "Numbers", "dates": "Days", "booleans": "True or false"}
TableOf = Callable[[Sequence[str]], NDArray[np.float64]]
USES = (
    "Good for: shares and counts of large groups, tables of the columns that were asked for, building and testing of "
    "programs, teaching.",
    "Counts of small groups are mostly noise: a count that is not several times the expected error says little.",
    "Not for finding people: no record belongs to a person, and one that looks like somebody is there by chance.",
    "Not for tests of significance as they are: the noise that protects people comes on top of that of sampling.",
    "Columns that are together in no released table may have lost what they say about each other.",
)


def caution(certificate: Certificate, domain: Domain, marginal: TableOf) -> str | None:
    """One sentence where the noise is large for so small a table, from what is released; None where it is not."""
    queries = [query_from_json(query) for query in certificate.queries]
    error = float(certificate.expected_error["mean"])
    return too_small(moved_share(queries, domain, error, float(marginal(()).sum()))) if queries else None


def content(
    certificate: Certificate, domain: Domain, marginal: TableOf, tables: Sequence[Columns], imprint: Imprint
) -> list[ReportBlock]:
    """The blocks; `marginal` gives released counts, `tables` the column sets that were released as tables."""
    return [
        *_publisher(imprint, certificate),
        *_promised(certificate, domain),
        *_quality(certificate, domain, marginal),
        *_rules(domain),
        Heading("How to use it, and how not"),
        Sentences(USES),
        Heading("Single columns"),
        *_columns(domain, marginal),
        *_pairs(domain, marginal, tables),
        Heading("Columns of the schema"),
        Facts([(each.name, f"{_described(each)}. {_sentence(origin(each.note))}") for each in domain]),
    ]


def cite(imprint: Imprint, certificate: Certificate) -> str:
    """How to name a release in a text: who, when, what, and what it promises."""
    who = imprint.organisation or "Anonymous publisher"
    year = (imprint.published or certificate.created)[:4]
    delta = f", delta = {certificate.delta:g}" if certificate.delta else ""
    return (
        f"{who} ({year}). {imprint.title or 'Untitled release'}. Synthetic data released with differential privacy "
        f"(epsilon = {certificate.epsilon:g}{delta}). Release {certificate.plan[:16]}."
    ) + (f" {imprint.link}" if imprint.link else "")


def _publisher(imprint: Imprint, certificate: Certificate) -> Iterator[ReportBlock]:
    if imprint.note:
        yield Paragraph(imprint.note)
    lines = list(imprint.lines)
    if imprint.title:
        lines.append(("How to cite", cite(imprint, certificate)))
    if lines:
        yield Facts(lines)
    if imprint.about:
        yield Paragraph(imprint.about)


def _promised(certificate: Certificate, domain: Domain) -> Iterator[ReportBlock]:
    asked = "; ".join(query_from_json(query).sentence(domain) for query in certificate.queries)
    yield Paragraph(promise(certificate))
    yield Paragraph(odds(certificate.epsilon, certificate.delta))
    yield Heading("What is promised")
    yield Facts(
        [
            ("Released", asked),
            ("Mechanism", f"{certificate.parameters.get('title', certificate.mechanism)} ({certificate.mechanism})"),
            ("Budget", f"epsilon {certificate.epsilon:g}, delta {certificate.delta:g}"),
            ("Unit of privacy", certificate.neighbours),
            ("Records", amount(certificate.synthetic_rows)),
            *_copies(certificate),
            ("Answers come from", certificate.answers_from),
            *_unlisted(certificate),
            ("Made", f"{certificate.created} by {certificate.software}"),
            ("Release", certificate.plan),
            *([] if certificate.spend is None else [("Paid", f"as payment {certificate.spend:,} from its budget")]),
        ]
    )


def _quality(certificate: Certificate, domain: Domain, marginal: TableOf) -> Iterator[ReportBlock]:
    """What to expect, what was measured of the finished release where something was, and a warning where one is due."""
    error = certificate.expected_error
    yield Heading("How good it is")
    band = (
        f" In nine of ten tables like it between ±{rows(error['low'])} and ±{rows(error['high'])}."
        if "low" in error
        else ""
    )
    yield Facts(
        [
            (
                "Expected error",
                f"{error['about']}: ±{rows(error['mean'])} on average; all within ±{rows(error['worst'])}, "
                f"95 % of the time.{band}",
            )
        ]
    )
    if warning := caution(certificate, domain, marginal):
        yield Paragraph(warning, strong=True)
    if doubtful := certificate.doubtful:
        yield Facts([("Mostly noise", f"{plural(len(doubtful), 'table')}: {_named(doubtful)}")])
    if (measured := certificate.measured) is not None:
        yield Heading("Measured errors", 3)
        yield Paragraph(measured.headline(), strong=True)
        yield Sentences(measured.sentences())
        yield Paragraph(measured.note())


def _rules(domain: Domain) -> Iterator[ReportBlock]:
    """The rules that every record keeps; nothing where there is none."""
    if rules := rules_of(domain):
        yield Heading("Rules")
        yield Paragraph(about(rules))
        yield Facts(list(rules.sentences()))


def _copies(certificate: Certificate) -> list[tuple[str, str]]:
    """What the copies are for; nothing where there is none."""
    if certificate.copies is None:
        return []
    made = f"{amount(certificate.copies)} with their origins, to make intervals from (combine.py). {LIMIT}"
    return [("Copies", made)]


def _unlisted(certificate: Certificate) -> list[tuple[str, str]]:
    """Asked tables that are in no list; nothing where all are."""
    if not (left := certificate.unlisted):
        return []
    return [("Not in the list of tables", f"{plural(len(left), 'table')} with too many cells: {_named(left)}")]


def _named(tables: Sequence[Columns]) -> str:
    some = ", ".join(name_of(columns) for columns in tables[:MOST_NAMED])
    return some + (f" and {amount(len(tables) - MOST_NAMED)} more; README.txt names all" if tables[MOST_NAMED:] else "")


def _columns(domain: Domain, marginal: TableOf) -> Iterator[ReportBlock]:
    if len(domain) > MOST_COLUMNS:
        yield Paragraph(f"The first {MOST_COLUMNS} of {len(domain)} columns are drawn; the records hold all of them.")
    for name in domain.names[:MOST_COLUMNS]:
        if domain[name].size <= MOST_VALUES:
            yield Heading(name, 3)
            yield BarFigure(name, *grouped(domain[name], marginal((name,))))
            if (steps := together(domain[name])) > 1:
                yield Paragraph(f"Each bar is {steps:,} neighbouring cells of the schema, or fewer at its end.")


def _pairs(domain: Domain, marginal: TableOf, tables: Sequence[Columns]) -> Iterator[ReportBlock]:
    """Heat maps of a few released pairs of columns that are small enough to be read."""
    pairs = dict.fromkeys(pair for columns in tables for pair in combinations(columns, 2))
    small = [pair for pair in pairs if all(1 < domain[name].size <= MOST_SIDE for name in pair)][:MOST_PAIRS]
    if small:
        yield Heading("Pairs of columns")
    # The flat ones first: they share a page.
    for pair in sorted(small, key=lambda pair: domain[pair[0]].size):
        yield Heading(" by ".join(pair), 3)
        yield HeatFigure(" by ".join(pair), [_labels(domain, name) for name in pair], marginal(pair))


def _described(attribute: Attribute) -> str:
    """What a column holds, in words.

    >>> from core.schema.domain import Categories, Integers
    >>> _described(Integers(name="age", low=0, high=99, bins=20))
    'Whole numbers from 0 to 99 in 20 bins'
    >>> _described(Categories(name="sex", values=("female", "male"), other="other", missing=True))
    '2 values, or other, or missing'
    """
    kind = KINDS.get(attribute.kind, attribute.kind)
    # Cells beside the ordinary ones, by the names that they have in the files.
    aside = "".join(f", or {attribute.label(code)}" for code in range(attribute.regular, attribute.size))
    if isinstance(attribute, Integers | Reals | Dates):
        low, high = (f"{end:,.6g}" if isinstance(end, float) else end for end in (attribute.low, attribute.high))
        return f"{kind} from {low} to {high} in {plural(attribute.regular, 'bin')}{aside}"
    return (kind if isinstance(attribute, Booleans) else f"{amount(attribute.regular)} values") + aside


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _labels(domain: Domain, name: str) -> list[str]:
    return [domain[name].label(code) for code in range(domain[name].size)]
