"""A Python script that makes a release of the same plan again: same schema, questions, mechanism and budget, new noise.

It is for whoever holds the table; it contains public facts only.
"""

from __future__ import annotations

import json
from fractions import Fraction

from core.plans.plan_file import write_plan_file
from core.plans.release_terms import ReleaseTerms
from core.privacy.budget import Budget, exact
from core.registry import query_from_json
from core.release.certificate import Certificate
from core.schema.domain import Domain

TEMPLATE = '''"""Makes a release like {plan} again, with fresh noise; it spends the budget of the table it gets.

    python reproduce.py TABLE [WORKSPACE]

TABLE is a file whose columns have the names that SCHEMA uses. Needs Release Desk ({software}).
"""

import json
import sys
from pathlib import Path

from core import Desk, Domain, Unit
from core.plans.plan_file import read_plan_file

SCHEMA = json.loads({schema})
UNIT = json.loads({unit})
PLAN = {chosen}

desk = Desk(sys.argv[2] if len(sys.argv) > 2 else None)
terms = read_plan_file(PLAN)
table = desk.add_table(sys.argv[1], Domain.from_json(SCHEMA), unit=Unit.from_json(UNIT), budget=terms.budget)
plan = desk.plan_from(table, terms)
print(plan.expected_error.sentence())
Path("release.zip").write_bytes(desk.release(plan).zip())
print("release.zip is written.")
'''


def script(certificate: Certificate, domain: Domain) -> str:
    """The script. Texts of the schema enter it as JSON inside one quoted literal, so none of them can become code."""
    terms = ReleaseTerms(
        queries=tuple(query_from_json(query) for query in certificate.queries),
        mechanism=certificate.mechanism,
        budget=Budget(certificate.epsilon, certificate.delta),
        options={name: value for name, value in certificate.parameters.items() if name != "title"},
        records=certificate.synthetic_rows or None,
        measure=exact(measured.share, "measure") if (measured := certificate.measured) else Fraction(0),
        copies=certificate.copies or 0,
    )
    return TEMPLATE.format(
        plan=certificate.plan,
        software=certificate.software,
        schema=ascii(json.dumps(domain.to_json())),
        unit=ascii(json.dumps(certificate.unit)),
        chosen=ascii(write_plan_file(terms)),
    )
