"""How far a batch is, system by system."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from gadgetopt.runs.rows import Row

#: Last runs of a method whose times are kept.
MOST_TIMES = 101

#: Seconds of the last runs of each method.
Times = dict[str, deque[float]]


@dataclass
class Tally:
    """Counts of the runs of one system.

    Attributes
    ----------
    total, done : int
        Runs of the batch, and those of them that need not be done (again).
    instances : int
    closed : set of str
        Fingerprints of the instances that some run has solved to optimality, or proved infeasible.
    errors, limits : int
        Runs of this session that failed, and that hit a limit of time or memory.
    ended : int
        Runs of this session that have ended, in `seconds` altogether.
    to_do : Counter of str
        Runs that are to be done, by method.
    times : dict of str to deque
        Seconds of the last runs of each method, of the store's runs and of this session's.
    """

    total: int = 0
    done: int = 0
    instances: int = 0
    closed: set[str] = field(default_factory=set)
    errors: int = 0
    limits: int = 0
    ended: int = 0
    seconds: float = 0.0
    to_do: Counter[str] = field(default_factory=Counter)
    times: Times = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Count a run that has ended."""
        self.ended += 1
        self.seconds += row["time_s"]
        self.times.setdefault(row["method"], deque(maxlen=MOST_TIMES)).append(row["time_s"])
        self.errors += row["status"] == "error"
        self.limits += row["limit_hit"] in ("time_s", "memory_mb")
        if row["status"] in ("optimal", "infeasible"):
            self.closed.add(row["fingerprint"])
