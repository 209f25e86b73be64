"""Values inside the cells of records that fulfil the comparisons of columns, such as discharge >= admission.

Real numbers of a declared precision that any rule names are drawn on their grid, so that no rounding moves a value into
the next cell, where another rule may forbid it.

Columns get their values one after the other. Before each draw the ends of all columns are drawn in as far as the
comparisons say, given the values so far (bounds consistency); for orders, and for a sum of whole numbers, a value
between such ends never leads to a dead end. Where comparisons mix, a draw may: then it is made again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from core.base.arrays import Codes, Columns, Flags, Floats
from core.rules.bins import NEAR
from core.rules.kinds import ROUNDING, LinearRule
from core.rules.rule_set import RuleSet, involved
from core.schema.domain import Attribute, Dates, Integers, Reals

TRIES, PATIENT_TRIES = 20, 1_000
"""Draws for a record before its cells are taken to hold no such values, and where they are known to hold some."""
ROUNDS = 4
"""Times that ends are drawn in by every comparison before a draw; orders of five columns need as many as links."""


@dataclass(frozen=True, eq=False)
class Values:
    """The columns whose values matter to a rule, and what comparisons say about them."""

    rules: RuleSet
    columns: Columns
    steps: tuple[float, ...]

    @classmethod
    def of(cls, rules: RuleSet) -> Values:
        compared, named = set(involved(rules.linear)), set(involved(rules.rules))
        rounded = {each.name for each in rules.domain if isinstance(each, Reals) and each.decimals is not None}
        columns = tuple(name for name in rules.domain.names if name in compared | (named & rounded))
        ends = rules.ends(columns)
        return cls(rules, columns, tuple(ends[name].step for name in columns))

    @cached_property
    def parts(self) -> tuple[Values, ...]:
        """Columns that hang together by comparisons; what one part draws has nothing to do with the others."""
        groups: list[tuple[set[str], list[LinearRule]]] = [({name}, []) for name in self.columns]
        for rule in self.rules.linear:
            met = [group for group in groups if group[0] & set(rule.columns)]
            rest = [group for group in groups if not group[0] & set(rule.columns)]
            names = set[str]().union(*(group[0] for group in met))
            groups = [*rest, (names, [*(each for group in met for each in group[1]), rule])]
        return tuple(self._part(names, rules) for names, rules in groups)

    def _part(self, names: set[str], rules: list[LinearRule]) -> Values:
        columns = tuple(name for name in self.columns if name in names)
        steps = tuple(step for name, step in zip(self.columns, self.steps, strict=True) if name in names)
        return Values(self.rules.only(rules), columns, steps)

    def exist(self, codes: Codes) -> Flags:
        """For which records values inside their cells fulfil all comparisons."""
        found = np.ones(len(codes), dtype=np.bool_)
        for part in self.parts:
            if part.rules.linear:
                found &= part._exist(codes)
        return found

    def _exist(self, codes: Codes) -> Flags:
        domain = self.rules.domain
        shape = domain.shape(self.columns)
        if math.prod(shape) >= 2**62:
            return self._draw(codes, np.random.default_rng(0), TRIES)[1]
        places = [domain.names.index(name) for name in self.columns]
        flat = np.ravel_multi_index(tuple(codes[:, places].T), shape)
        _, first, alike = np.unique(flat, return_index=True, return_inverse=True)
        return self._draw(codes[first], np.random.default_rng(0), TRIES)[1][alike.ravel()]

    def draw(self, codes: Codes, generator: np.random.Generator, tries: int = TRIES) -> tuple[Floats, Flags]:
        """Values of the columns for each record (NaN where one is missing), and whether they fulfil all comparisons."""
        found = np.full((len(codes), len(self.columns)), np.nan)
        done = np.ones(len(codes), dtype=np.bool_)
        for part in self.parts:
            places = [self.columns.index(name) for name in part.columns]
            found[:, places], fulfilled = part._draw(codes, generator, tries)
            done &= fulfilled
        return found, done

    def _draw(self, codes: Codes, generator: np.random.Generator, tries: int) -> tuple[Floats, Flags]:
        ends, domain = self.rules.ends(self.columns), self.rules.domain
        places = [codes[:, domain.names.index(name)] for name in self.columns]
        lows = np.stack([ends[name].lows[place] for name, place in zip(self.columns, places, strict=True)], axis=1)
        highs = np.stack([ends[name].highs[place] for name, place in zip(self.columns, places, strict=True)], axis=1)
        # where every cell holds one value there is nothing to draw
        found = lows.copy()
        left = np.flatnonzero((highs > lows).any(axis=1))
        for _ in range(tries):
            if not left.size:
                break
            found[left] = self._drawn(lows[left], highs[left], generator)
            left = left[~self.fulfilled(found[left]) | _outside(found[left], lows[left], highs[left])]
        done = self.fulfilled(found)
        done[left] = False
        return found, done

    def fulfilled(self, values: Floats) -> Flags:
        """Which lines of values fulfil all comparisons."""
        kept = np.ones(len(values), dtype=np.bool_)
        for rule in self.rules.linear:
            own = [values[:, self.columns.index(name)] for name in rule.columns]
            kept &= rule.fits(self.rules.domain, own, own)
        return kept

    def _drawn(self, lows: Floats, highs: Floats, generator: np.random.Generator) -> Floats:
        lows, highs = lows.copy(), highs.copy()
        # an equation's last column follows from the others, so it is best the one with the widest cells
        for place in np.argsort(np.nan_to_num(highs - lows).sum(axis=0)):
            self._draw_in(lows, highs)
            low, high, step = lows[:, place], np.maximum(highs[:, place], lows[:, place]), self.steps[place]
            share = generator.random(len(low))
            if step:
                number = np.floor((high - low) / step + NEAR) + 1
                drawn = np.round((low + step * np.minimum(np.floor(share * number), number - 1)) / step) * step
                # a cell that holds no value of this precision keeps its least one
                drawn = np.where(np.abs(drawn - low) < (number - 0.5) * step, drawn, low)
                drawn = np.where(drawn < low - NEAR * step, low, drawn)
            else:
                drawn = low + share * (high - low)
            lows[:, place] = highs[:, place] = drawn
        return lows

    def _draw_in(self, lows: Floats, highs: Floats) -> None:
        for _ in range(ROUNDS):
            for rule in self.rules.linear:
                self._draw_in_by(rule, lows, highs)

    def _draw_in_by(self, rule: LinearRule, lows: Floats, highs: Floats) -> None:
        """The ends of each column of a comparison, given the ends of the others."""
        places = [self.columns.index(name) for name in rule.columns]
        weights = np.array(rule.weights)
        least = np.minimum(weights * lows[:, places], weights * highs[:, places])
        most = np.maximum(weights * lows[:, places], weights * highs[:, places])
        whole = ~np.isnan(least).any(axis=1)
        low_cut, high_cut = rule.bounds(self.rules.domain)
        sums = least.sum(axis=1), most.sum(axis=1)
        for axis, place in enumerate(places):
            from_ = low_cut - (sums[1] - most[:, axis])
            to = high_cut - (sums[0] - least[:, axis])
            ends = (from_ / weights[axis], to / weights[axis])
            low, high = ends if weights[axis] > 0 else ends[::-1]
            step = self.steps[place]
            if step:
                near = NEAR + ROUNDING * np.maximum(np.abs(low), np.abs(high)) / step
                with np.errstate(invalid="ignore"):
                    near = np.where(np.isfinite(near), near, NEAR)
                low, high = step * np.ceil(low / step - near), step * np.floor(high / step + near)
            lows[:, place] = np.where(whole, np.maximum(lows[:, place], low), lows[:, place])
            highs[:, place] = np.where(whole, np.minimum(highs[:, place], high), highs[:, place])


def _outside(values: Floats, lows: Floats, highs: Floats) -> Flags:
    """Which lines have a value that left its cell."""
    near = ROUNDING * np.maximum(np.abs(lows), np.abs(highs))
    return np.asarray(((values < lows - near) | (values > highs + near)).any(axis=1))


def with_values(frame: pd.DataFrame, values: Values, codes: Codes, generator: np.random.Generator) -> pd.DataFrame:
    """Decoded records with the values of compared columns drawn so that they fulfil all comparisons."""
    if not values.columns:
        return frame
    drawn, done = values.draw(codes, generator)
    if not done.all():
        drawn[~done], _ = values.draw(codes[~done], generator, PATIENT_TRIES)
    written = {name: _column(values.rules.domain[name], drawn[:, place]) for place, name in enumerate(values.columns)}
    return frame.assign(**written)


def _column(attribute: Attribute, values: Floats) -> pd.Series:
    """Values in the type that decoding gives."""
    missing = np.isnan(values)
    if isinstance(attribute, Reals):
        if attribute.decimals is not None:
            tidy = np.round(values, attribute.decimals)
            values = np.where(np.abs(tidy - values) < 1e-6 * 10.0**-attribute.decimals, tidy, values)
        return pd.Series(values, name=attribute.name)
    whole = np.where(missing, 0, values).round().astype(np.int64)
    if isinstance(attribute, Dates):
        days = whole.astype("datetime64[D]").astype("datetime64[s]")
        days[missing] = np.datetime64("NaT")
        return pd.Series(days, name=attribute.name)
    assert isinstance(attribute, Integers)
    return pd.Series(pd.arrays.IntegerArray(whole, missing) if attribute.missing else whole, name=attribute.name)
