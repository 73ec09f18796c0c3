"""Other runs of a store on the instances of a comparison: their bounds and solutions count as well.

They were made by other methods or under other conditions than those compared, or by other code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gadgetopt.runs.code.source_code import PresentCode
from gadgetopt.runs.grid import Grid
from gadgetopt.runs.rows import StoredRun
from gadgetopt.runs.store import Store

#: A system and the fingerprint of one of its instances.
Where = tuple[str, str]


# The runs that know a bound, a solution, or that there is none.
_KNOW_SOMETHING = """
SELECT key, fingerprint FROM runs
WHERE objective IS NOT NULL OR bound IS NOT NULL OR status = 'infeasible'
ORDER BY position
"""


@dataclass(frozen=True)
class Others:
    """How many other runs on an instance count in its ratios.

    Attributes
    ----------
    runs : int
    of_other_code : int
        Those of them that other or unknown code made.
    """

    runs: int = 0
    of_other_code: int = 0

    @classmethod
    def sum(cls, parts: Iterable[Others]) -> Others:
        """Return the numbers of several instances together."""
        counted = list(parts)
        return cls(sum(p.runs for p in counted), sum(p.of_other_code for p in counted))


def other_runs(store: Store, grid: Grid, keys: Sequence[str]) -> list[StoredRun]:
    """Return the stored runs on a grid's instances that know a bound, a solution, or none.

    Those under `keys`, the grid's own, are not among them.
    """
    if store.path is None:
        return []
    on, own = {document.fingerprint for document in grid.documents}, set(keys)
    rows = store.query(_KNOW_SOMETHING)
    wanted = [r["key"] for r in rows if r["fingerprint"] in on and r["key"] not in own]
    return list(store.runs_of(wanted).values())


def count_others(others: Iterable[StoredRun], grid: Grid) -> Mapping[Where, Others]:
    """Return how many of a store's other runs there are on each instance of a grid."""
    present = PresentCode(grid.source)
    out: defaultdict[Where, Others] = defaultdict(Others)
    for run in others:
        r = run.result
        stale = run.code is None or run.code != present.of(r.problem, r.method)
        where = r.problem, r.fingerprint
        out[where] = Others.sum([out[where], Others(1, int(stale))])
    return out
