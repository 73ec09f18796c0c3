"""Schedules of PyTorch's pipelines as CSV files, read more strictly than PyTorch reads them.

A row is a rank, a cell what it executes next; ranks execute their row strictly in order:

==========================  ======================================================================
``2F0``                     forward of microbatch 0 on stage 2
``2B0``                     its whole backward
``2I0``, ``2W0``            gradient of the input, and of the weights, in place of B
``(2F3;1B0)OVERLAP_F_B``    executed together
==========================  ======================================================================

`_PipelineScheduleRuntime._load_csv(path, format="compute_only")` of torch 2.13 compares counts and
sets only. It accepts a forward or a backward that is listed twice, microbatches numbered from 1, B
beside I and W of one microbatch where another has no backward, and text behind a cell. Here every
stage does every microbatch once, forward and backward, numbers begin at 0, a stage is on one rank,
and ranks do not wait for each other in a circle.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gadgetopt.errors import InputError

_ACTION = re.compile(r"(0|[1-9]\d{0,8})([FIWB])(0|[1-9]\d{0,8})", re.ASCII)
_PAIR = re.compile(r"\(([^;]*);([^;]*)\)OVERLAP_F_B")


class Action(NamedTuple):
    """What a rank does with one microbatch on one of its stages: F, I, W, or B."""

    stage: int
    kind: str
    microbatch: int

    def __str__(self) -> str:
        return f"{self.stage}{self.kind}{self.microbatch}"


#: What a rank executes at once: an action, or forward and backward of a pair.
Actions = tuple[Action, ...]


@dataclass(frozen=True)
class TorchSchedule:
    """What every rank executes, in order.

    Attributes
    ----------
    rows : tuple of tuple of str
        The cells of each rank.
    rank_of_stage : tuple of int
    num_microbatches : int
    """

    rows: tuple[tuple[str, ...], ...]
    rank_of_stage: tuple[int, ...]
    num_microbatches: int


def actions_of(cell: str) -> Actions:
    """Return the actions of a cell: one, or forward and backward of a pair.

    Raises
    ------
    ValueError
        If it is none; the message says what was expected.

    Examples
    --------
    >>> [str(action) for action in actions_of("(2F3;1B0)OVERLAP_F_B")]
    ['2F3', '1B0']
    """
    pair = _PAIR.fullmatch(cell)
    found = []
    for text in pair.groups() if pair else (cell,):
        match = _ACTION.fullmatch(text)
        if match is None:
            raise ValueError("expected a cell such as '2F0', '2B0', '2I0' or '2W0'")
        found.append(Action(int(match[1]), match[2], int(match[3])))
    if pair and [action.kind for action in found] != ["F", "B"]:
        raise ValueError("expected a pair such as '(2F3;1B0)OVERLAP_F_B'")
    return tuple(found)


def write_schedule(rows: Sequence[Sequence[str]]) -> str:
    """Return the text of a schedule whose ranks execute these cells.

    Raises
    ------
    InputError
        If no pipeline runs so.
    """
    text = "".join(",".join(row) + "\n" for row in rows)
    read_schedule(text)
    return text


def read_schedule(text: str) -> TorchSchedule:
    """Read a schedule, and refuse what no pipeline can run.

    Raises
    ------
    InputError
        The line says what is wrong, and where.
    """
    rows = tuple(tuple(cell for cell in line.split(",") if cell) for line in text.splitlines())
    ranks = [_actions_of_row(rank, row) for rank, row in enumerate(rows)]
    if not ranks:
        raise InputError("torch-csv: has no row, expected one for each rank")
    rank_of_stage = _ranks_of_stages(ranks)
    microbatches = _each_once([a for row in ranks for cell in row for a in cell])
    _check_no_circle(ranks, len(rank_of_stage))
    return TorchSchedule(rows, rank_of_stage, microbatches)


def _actions_of_row(rank: int, row: Sequence[str]) -> list[Actions]:
    if not row:
        raise InputError(f"torch-csv: row {rank}: is empty, expected the cells of rank {rank}")
    found = []
    for n, cell in enumerate(row):
        try:
            found.append(actions_of(cell))
        except ValueError as error:
            raise InputError(f"torch-csv: row {rank}, cell {n}: {cell!r}: {error}") from None
    return found


def _ranks_of_stages(ranks: Sequence[Sequence[Actions]]) -> tuple[int, ...]:
    """Return the rank of each stage; refuse stages on two ranks or on none."""
    found: dict[int, int] = {}
    for rank, row in enumerate(ranks):
        for stage in sorted({action.stage for cell in row for action in cell}):
            if found.setdefault(stage, rank) != rank:
                raise InputError(
                    f"torch-csv: stage {stage}: is on ranks {found[stage]} and {rank}, expected it "
                    "on one"
                )
    last = max(found)
    for stage in range(last):
        if stage not in found:
            raise InputError(f"torch-csv: stage {stage}: is on no rank, expected 0 to {last}")
    return tuple(found[stage] for stage in range(last + 1))


def _each_once(actions: Sequence[Action]) -> int:
    """Return the number of microbatches; refuse what is missing or repeated."""
    listed = Counter(part for action in actions for part in _parts(action))
    stages = max(action.stage for action in actions) + 1
    microbatches = max(action.microbatch for action in actions) + 1
    names = {"F": "forward", "I": "backward", "W": "gradient of the weights"}
    # Only so many are looked at that a wrong number in a short file does not take long.
    for m in range(min(microbatches, len(actions))):
        for s in range(stages):
            for kind, name in names.items():
                times = listed[Action(s, kind, m)]
                if times != 1:
                    raise InputError(
                        f"torch-csv: stage {s}: the {name} of microbatch {m} is there {times} "
                        "times, expected F once, and B or else I and W once, of microbatches 0 to "
                        f"{microbatches - 1}"
                    )
    return microbatches


def _parts(action: Action) -> Iterator[Action]:
    """Yield F, I and W; B is both of the latter."""
    for kind in "IW" if action.kind == "B" else action.kind:
        yield action._replace(kind=kind)


def _check_no_circle(ranks: Sequence[Sequence[Actions]], stages: int) -> None:
    """Refuse ranks that wait for each other: none of them can execute its next cell."""
    done: set[Action] = set()
    at = [0] * len(ranks)
    moved = True
    while moved:
        moved = False
        for rank, row in enumerate(ranks):
            while at[rank] < len(row) and _is_ready(row[at[rank]], done, stages):
                done |= {part for action in row[at[rank]] for part in _parts(action)}
                at[rank] += 1
                moved = True
    for rank, row in enumerate(ranks):
        if at[rank] < len(row):
            cell = ";".join(map(str, row[at[rank]]))
            raise InputError(
                f"torch-csv: row {rank}, cell {at[rank]}: {cell} waits for what waits for it, "
                "expected an order that can be executed"
            )


def _is_ready(cell: Actions, done: set[Action], stages: int) -> bool:
    """Return True if all that a cell waits for is done."""
    needed = set()
    for s, kind, m in cell:
        if kind == "F":
            needed |= {Action(s - 1, "F", m)} if s else set()
        elif kind == "W":
            needed.add(Action(s, "I", m))
        else:
            needed.add(Action(s, "F", m))
            needed |= {Action(s + 1, "I", m)} if s + 1 < stages else set()
    return needed <= done
