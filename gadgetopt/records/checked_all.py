"""Many entries checked, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from gadgetopt.errors import InputError
from gadgetopt.records.checking import MOST_S, Fault, faults_of
from gadgetopt.records.record import Record, Step
from gadgetopt.records.shelf import find_entries, read_entry, shelf
from gadgetopt.system.printable import printable_line

#: Bytes of address space of a process that checks: no honest entry comes near. By definition.
MOST_MEMORY = 16 * 10**9


@dataclass(frozen=True)
class Verdict:
    """What a check found of one entry.

    Attributes
    ----------
    path : Path
    faults : tuple of Fault
        Empty if every number in it was proved again.
    status : str
        "closed", "open" or "infeasible"; empty if the entry cannot be read.
    """

    path: Path
    faults: tuple[Fault, ...]
    status: str = ""

    @property
    def lines(self) -> list[str]:
        """What is wrong, a line each."""
        return [printable_line(f"{self.path}: {fault}") for fault in self.faults]


def check(
    chosen: Sequence[Path | str] = (),
    *,
    folder: Path | None = None,
    workers: int = 1,
    seconds: float = MOST_S,
    repeat: bool = False,
    on_verdict: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Check entries: draw, evaluate and prove everything again, without a solver.

    Parameters
    ----------
    chosen : sequence of path or str
        Files, folders, systems, `SYSTEM/NAME` or patterns; default all installed records.
    folder : Path, optional
        Where systems and names are looked up; default the installed records.
    workers : int
        Processes.
    seconds : float
        Time after which an entry is refused.
    repeat : bool
        Do the run that found each solution again, too, by the method that is named; this may need
        solvers.
    on_verdict : callable
        Told each verdict, in order.

    Raises
    ------
    InputError
        If there is no such entry. What cannot be read is refused, as what is wrong.
    """
    paths = find_entries(chosen, folder)[1]
    if not paths:
        raise InputError(f"{folder or shelf()}: holds no entries of the records")
    out = []
    for verdict in _verdicts(paths, workers, seconds, repeat):
        on_verdict(verdict)
        out.append(verdict)
    return out


def _verdicts(
    paths: Sequence[Path], workers: int, seconds: float, repeat: bool
) -> Iterator[Verdict]:
    if workers <= 1:
        yield from (check_one(path, seconds, repeat) for path in paths)
        return
    # A process that an entry kills takes the others' work with it: they are done again, alone.
    done = 0
    while done < len(paths):
        with _pool(workers) as pool:
            rest = paths[done:]
            futures = [pool.submit(check_one, path, seconds, repeat) for path in rest]
            try:
                for future in futures:
                    yield future.result()
                    done += 1
            except BrokenProcessPool:
                for future in futures:
                    future.cancel()
        if done < len(paths):
            yield _alone(paths[done], seconds, repeat)
            done += 1


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_limit_memory)


def _limit_memory() -> None:
    """Let an entry that asks for too much memory fail, not the machine."""
    with suppress(ImportError, OSError, ValueError):  # not every system has such limits
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = MOST_MEMORY if most == resource.RLIM_INFINITY else min(MOST_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _alone(path: Path, seconds: float, repeat: bool) -> Verdict:
    """Check an entry in a process of its own, which it may kill."""
    with _pool(1) as pool:
        try:
            return pool.submit(check_one, path, seconds, repeat).result()
        except BrokenProcessPool:
            return Verdict(path, (Fault("", "ended the process that checked it"),))


def check_one(path: Path, seconds: float = MOST_S, repeat: bool = False) -> Verdict:
    """Check the entry of a file, in this process."""
    try:
        entry = read_entry(path)
    except InputError as error:
        return Verdict(path, (Fault("", str(error).removeprefix(f"{path}: ")),))
    faults = faults_of(entry.record, entry.beside, seconds)
    faults += _against_library(path, entry.record) if not faults else []
    if repeat and not faults:
        from gadgetopt.records.repeating import faults_of_run

        faults = list(faults_of_run(entry.record))
    return Verdict(path, tuple(faults), entry.record.status)


def _against_library(path: Path, record: Record) -> list[Fault]:
    """Return where a copy of an installed entry has a step of it under another name."""
    ours = shelf() / record.problem / f"{record.name}.json"
    if not ours.is_file() or ours.resolve() == path.resolve():
        return []
    known = {_run(step): step.by for step in read_entry(ours).record.history}
    return [
        Fault(f"history[{k}].by", f"{step.by!r}, but the installed records say {by!r}")
        for k, step in enumerate(record.history)
        if (by := known.get(_run(step), step.by)) != step.by
    ]


def _run(step: Step) -> str:
    """Return all that a step says but who found it."""
    return step.model_dump_json(exclude={"by", "digest"})
