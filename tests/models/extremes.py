"""Every number of an instance pushed to its extremes, one at a time, and what the toolkit says.

Run by `test_extremes.py` in a process of its own with little memory. One line of JSON for every
number and value: where, what was tried, and every outcome that is neither a result nor a refusal in
one line.
"""

from __future__ import annotations

import contextlib
import copy
import json
import re
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gadgetopt
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.system.files import parse
from gadgetopt.system.result import Limits, Status

MEMORY_BYTES = 4 * 2**30
#: Seconds of the processor beyond the limit: some steps are only left when they are done.
GRACE_S = 10.0
#: How the toolkit writes an exception that a method raised, and a claim that does not hold.
RAISED = re.compile(r"^\w+: .*\(\w+\.py:\d+\)$|^claimed |^the solution |^the certificate ")
#: From the largest double or a long integer downwards; the first that the schema takes counts.
LARGE = {
    float: (1.7e308, 1e100, 1e15, 1e6, 1e4),
    int: (10**30, 2**63, 10**15, 10**9, 10**6, 10**5, 10**4),
}
#: Large, but such that most arithmetic still holds.
MIDDLE = {float: 1e12, int: 10**9}
SMALL = {float: (5e-324, 1e-30, 1e-12), int: (1,)}


def leaves(data: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every number; of lists, that of the first element."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*at, key))
    elif isinstance(data, list) and data:
        yield from leaves(data[0], (*at, 0))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield at


def with_value(raw: dict[str, Any], at: tuple[str | int, ...], value: float) -> Any:
    """Return the document with one number of its data replaced, or the reason of its refusal."""
    changed = copy.deepcopy(raw)
    inside = changed["data"]
    for step in at[:-1]:
        inside = inside[step]
    inside[at[-1]] = value
    try:
        return parse(json.dumps(changed), "x.json")
    except InputError as error:
        return str(error)


def variants(
    raw: dict[str, Any], at: tuple[str | int, ...], kind: type, every: bool
) -> Iterator[tuple[float, Any]]:
    """Yield values and the document, or the refusal, with the extremes of a number.

    Without `every` these are the largest and the smallest that the schema takes.
    """
    ordered = [LARGE[kind], SMALL[kind], *([(MIDDLE[kind],)] if every else [])]
    for values in ordered:
        for value in values:
            found = with_value(raw, at, value)
            yield value, found
            if not isinstance(found, str):
                break


def complaint(document: Any, methods: list[str], time_s: float) -> list[str]:
    """Return what went wrong with an instance."""
    wrong = []
    problem = document.problem
    for name in ("size", "features"):
        try:
            getattr(problem, name)(document.data)
        except (InputError, ModelRefused) as error:
            wrong += [f"{name}: {error}"] if "\n" in str(error) else []
        except BaseException as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    for method in methods:
        begun = time.process_time()
        try:
            result = gadgetopt.solve(document, method, Limits(time_s=time_s))
        except (InputError, ModelRefused) as error:
            reason: str | None = str(error)
        except BaseException as error:
            wrong.append(f"{method}: {type(error).__name__}: {error}")
            continue
        else:
            # What a method raises comes back as the reason, with the place in the code.
            reason = result.reason
            if result.status is Status.ERROR and not result.refused and RAISED.search(reason or ""):
                wrong.append(f"{method}: {reason}")
            if result.solution is not None:
                with contextlib.suppress(InputError, ModelRefused):
                    problem.evaluate(document.data, result.solution)
        if reason is not None and "\n" in reason:
            wrong.append(f"{method}: several lines: {reason}")
        spent = time.process_time() - begun
        if spent > time_s + GRACE_S:
            wrong.append(f"{method}: {spent:.1f} s of {time_s} s")
    return wrong


def main(path: str, methods: list[str], time_s: float, values: str) -> None:
    """Try all numbers of the instance in a file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    raw = json.loads(Path(path).read_text())
    document = parse(json.dumps(raw), path)
    raw["data"] = document.data.model_dump(mode="json", exclude_none=True)
    for at in leaves(raw["data"]):
        inside = raw["data"]
        for step in at:
            inside = inside[step]
        tried = variants(raw, at, type(inside), values == "all")
        for value, found in tried:
            where = f"{'.'.join(map(str, at))} = {value}"
            print(json.dumps({"trying": where}), flush=True)
            if isinstance(found, str):
                wrong = [f"refused in several lines: {found}"] if "\n" in found else []
            else:
                wrong = complaint(found, methods, time_s)
            print(json.dumps({"tried": where, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(","), float(sys.argv[3]), sys.argv[4])
