"""What one table may take of memory: the budget from which limits of sizes are read.

A limit that guards memory is a part or a multiple of `MOST_CELLS`. Limits that guard time are tuned
(`benchmarks/constants.py`).
"""

from __future__ import annotations

#: Bytes of one table, of which a run holds a few beside its solver. By definition.
TABLE_BYTES = 160 * 10**6

#: Entries of one table, numbers of 8 bytes.
MOST_CELLS = TABLE_BYTES // 8
