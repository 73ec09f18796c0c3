"""A batch: the runs of a grid that a store lacks, and how their results are recorded."""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Iterator

from gadgetopt.runs.engine.work import Failure, Work
from gadgetopt.runs.grid import Grid, Task
from gadgetopt.runs.pace import run_times
from gadgetopt.runs.rows import Row
from gadgetopt.runs.store import CLAIM_S, Call, Store
from gadgetopt.runs.tally import Tally
from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_method
from gadgetopt.system.plugins import digest_of, in_use

#: Seconds between two checks of the runs that another client is working on.
_PATIENCE_S = 0.5


#: Kinds of methods whose bounds `certify` proves; the others claim none.
_WITH_BOUNDS = ("exact", "relaxation")


class Batch:
    """The runs of a grid that a store lacks.

    Attributes
    ----------
    total : int
        Number of distinct runs of the grid; the same data may have several names.
    done : int
        Number of runs that the store holds.
    failed : int
        Number of runs of this session that ended in an error.
    taken : int
        Number of runs that were in the store before.
    age_days : float or None
        Age in days of the oldest of them, if known.
    of_other_code : int
        Number of runs in the store that are not taken because other or unknown code made them.
    tallies : dict
        The `Tally` of each system.
    """

    age_days: float | None
    done: int
    taken: int

    def __init__(
        self,
        runs: Grid,
        store: Store,
        grace_s: float,
        rerun: bool,
        retry_errors: bool,
        certify: str = "",
    ) -> None:
        self.grid = runs
        self.store = store
        self.grace_s = grace_s
        self.certify = certify
        self.rerun = rerun
        self.retry_errors = retry_errors
        self.session: str = uuid.uuid4().hex
        self.plugins: str = digest_of(in_use())
        self.failed: int = 0
        self._renewed = time.monotonic()
        found: dict[str, Call] = {}  # system and method of each run
        codes: dict[Call, str] = {}
        for task in runs:
            found[task.key] = task.document.problem.name, task.spec
            codes[found[task.key]] = task.code
        keys = list(found)
        self.total: int = len(keys)
        # Runs finished before; with `rerun`, runs finished in this session.
        self._finished, self.age_days = store.taken([] if rerun else keys, retry_errors)
        self.done = self.taken = len(self._finished)
        self.tallies: dict[str, Tally] = self._tallies(found)
        self.of_other_code: int = 0
        if self.done < self.total:
            fingerprints = {document.fingerprint for document in runs.documents}
            self.of_other_code = store.of_other_code(fingerprints, codes)

    def _tallies(self, found: dict[str, Call]) -> dict[str, Tally]:
        times = run_times(self.store, self.grid.limits.time_s) if self.done < self.total else {}
        names = dict.fromkeys(system for system, _ in found.values())
        tallies = {name: Tally(times=times.get(name, {})) for name in names}
        for key, (name, method) in found.items():
            finished = key in self._finished
            tallies[name].total += 1
            tallies[name].done += finished
            tallies[name].to_do[method] += not finished
        of_instance = {d.fingerprint: d.problem.name for d in self.grid.documents}
        for name in of_instance.values():
            if name in tallies:
                tallies[name].instances += 1
        for fingerprint in self.store.closed(list(self._finished)):
            tallies[of_instance[fingerprint]].closed.add(fingerprint)
        return tallies

    def jobs(self) -> Iterator[tuple[Work, Document] | None]:
        """Yield the runs to do; yield None while only another client's runs are left."""
        seen: set[str] = set()
        others: deque[Task] = deque()
        for task in self.grid:
            if task.key not in seen and task.key not in self._finished:
                seen.add(task.key)
                if self._mine(task):
                    yield self._job(task)
                elif task.key not in self._finished:
                    others.append(task)
        while others:
            for _ in range(len(others)):
                task = others.popleft()
                if self._mine(task):
                    yield self._job(task)
                elif task.key not in self._finished:
                    others.append(task)
            asked = time.monotonic()
            while others and time.monotonic() < asked + _PATIENCE_S:
                yield None

    def _mine(self, task: Task) -> bool:
        """Return True if this client is to do a run that another one may be doing or have done."""
        claimed = self.store.claim(task.key)
        if self.rerun or not self.store.finished([task.key], self.retry_errors):
            return claimed
        self.store.release(task.key)
        self._finish(task.key, task.document, task.spec)
        return False

    def _finish(self, key: str, document: Document, method: str) -> None:
        self._finished.add(key)
        self.done += 1
        tally = self.tallies[document.problem.name]
        tally.done += 1
        tally.to_do[method] -= 1

    def _job(self, task: Task) -> tuple[Work, Document]:
        document = task.document
        self.store.add_instance(document)
        return (
            Work(
                task.key,
                self.session,
                document.problem.name,
                document.fingerprint,
                task.spec,
                task.limits,
                task.seed,
                self.grace_s,
                code=task.code,
                plugins=self.plugins,
                certify=self._certify(task),
            ),
            document,
        )

    def _certify(self, task: Task) -> str:
        if not self.certify:  # most batches: a method is not looked for at every run
            return ""
        kind = find_method(task.document.problem, task.spec).method.kind
        return self.certify if kind in _WITH_BOUNDS else ""

    def record(self, work: Work, document: Document, outcome: Row | Failure) -> Row | None:
        """Store the outcome of a run; return None if it was interrupted without a result."""
        if isinstance(outcome, Failure):
            if outcome.limit_hit == "interrupted":
                return None
            from gadgetopt.runs.engine.finish import failed_row  # loads what runs methods

            outcome = failed_row(work, document, outcome)
        self.store.add_row(outcome, keep_finished=not self.rerun)
        if outcome["limit_hit"] != "interrupted" and work.key not in self._finished:
            self._finish(work.key, document, work.spec)
        if outcome["status"] == "error":
            self.failed += 1
        self.tallies[document.problem.name].add(outcome)
        return outcome

    def keep_claims(self) -> None:
        """Renew this client's claims from time to time."""
        if time.monotonic() > self._renewed + CLAIM_S / 4:
            self._renewed = time.monotonic()
            self.store.renew_claims()
