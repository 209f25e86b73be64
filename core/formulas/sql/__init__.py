"""SQL that people already write, as questions: a SELECT of counts, sums, averages, quantiles. Read, never executed.

No library reads it. An SQL engine must never see a text that a visitor typed, and a general parser accepts hundreds of
things that no private answer exists for; each would have to be found and refused afterwards. The few rules here are the
whole language, conditions are those of formulas, and everything else is refused in one sentence.
"""
