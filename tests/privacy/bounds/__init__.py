"""Every accuracy theorem at its own parameters: the share of runs that miss the promised error stays under beta.

Tables are as small as the theorem allows (`bound.rows`) and are given as counts, so many rows cost nothing. A theorem
fails here when 200 runs are not plausible under beta: when even the lower end of the Clopper-Pearson interval at 1e-3
lies above it. Where a theorem is tight, a smaller promise is shown to be broken, so that the test can fail.
"""
