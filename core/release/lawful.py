"""The rules of a schema applied to what is about to be released: its records, their values and its tables.

Every mechanism passes through here, so that no record of any release breaks a rule; one that knows the rules itself
(`tree`) hardly changes here. It is post-processing: the private table is not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.base.arrays import Codes, Columns, Floats
from core.base.errors import Failed
from core.rules.contradictions import check_rules, records_near
from core.rules.functions import decide_keys
from core.rules.lawful_tables import LawfulTables
from core.rules.records import obeying
from core.rules.rule_set import RuleSet, involved
from core.rules.values import Values, with_values
from core.schema.domain import Attribute, Dates, Domain


@dataclass(frozen=True, eq=False)
class Lawful:
    """The rules that a release keeps."""

    rules: RuleSet

    @classmethod
    def of(cls, domain: Domain) -> Lawful:
        return cls(check_rules(domain))

    def records(self, codes: Codes, generator: np.random.Generator) -> Codes:
        return obeying(self.rules, codes, generator)

    def decoded(self, codes: Codes, generator: np.random.Generator) -> pd.DataFrame:
        """Records in their own types; refused, before anything is stored, if one of them breaks a rule."""
        frame = self.rules.domain.decode(codes, generator)
        if not self.rules:
            return frame
        frame = with_values(frame, Values.of(self.rules), codes, generator)
        if self.violations(frame):
            raise Failed("A synthetic record breaks a rule of the schema, so nothing is stored.")
        return frame

    def violations(self, frame: pd.DataFrame) -> dict[str, int]:
        """How many records, as they are written, break each rule that any breaks."""
        domain = self.rules.domain
        codes = np.zeros((len(frame), len(domain)), dtype=np.int64)
        for name in involved(self.rules.rules):
            codes[:, domain.names.index(name)] = domain[name].encode(frame[name])[0]
        found = self.rules.broken(codes)
        for rule in self.rules.linear:
            own = [_numbers(domain[name], frame[name]) for name in rule.columns]
            if number := int(np.count_nonzero(~rule.fits(domain, own, own))):
                found[rule.text] = number
        return found

    def tables(self, tables: Mapping[Columns, Floats], codes: Codes) -> dict[Columns, Floats]:
        """The released tables with impossible cells empty and known counts met; keys are those of the records."""
        if not self.rules:
            return dict(tables)
        lawful = LawfulTables(decide_keys(self.rules, codes))
        known = {columns: table.astype(np.float64) for columns, table in lawful.known.items()} if tables else {}
        return {columns: lawful.applied(columns, table) for columns, table in tables.items()} | known


def records_for(domain: Domain, total: float) -> int:
    """How many records to draw for an estimated total, so that known counts can be met."""
    return records_near(check_rules(domain), round(total))


def _numbers(attribute: Attribute, column: pd.Series) -> Floats:
    """Numbers, or days since 1970; NaN where one is missing."""
    if isinstance(attribute, Dates):
        days = pd.to_datetime(column).to_numpy().astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
