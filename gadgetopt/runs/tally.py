"""How far a batch is, system by system."""

from __future__ import annotations

from dataclasses import dataclass, field

from gadgetopt.runs.rows import Row


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
    """

    total: int = 0
    done: int = 0
    instances: int = 0
    closed: set[str] = field(default_factory=set)
    errors: int = 0
    limits: int = 0
    ended: int = 0
    seconds: float = 0.0

    def add(self, row: Row) -> None:
        """Count a run that has ended."""
        self.ended += 1
        self.seconds += row["time_s"]
        self.errors += row["status"] == "error"
        self.limits += row["limit_hit"] in ("time_s", "memory_mb")
        if row["status"] in ("optimal", "infeasible"):
            self.closed.add(row["fingerprint"])
