"""What an adversary can do: attacks run to show what too exact answers give away.

Most run on invented or public tables. Those on a release are handed private rows by the desk, for the curator's own
eyes; they keep nothing. It imports rooms up to mechanisms.
"""
