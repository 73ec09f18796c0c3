"""What a comparison would do: how many runs, how many of them stored, how long at most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gadgetopt.runs.grid import grid_over, read_instances
from gadgetopt.runs.pace import Left, duration, expected, run_times, total
from gadgetopt.runs.progress import unreadable_lines
from gadgetopt.runs.store import Call, Store
from gadgetopt.runs.study import Study, given_files
from gadgetopt.runs.tally import Times
from gadgetopt.search.alarm import default_grace_s
from gadgetopt.system.generation import documents_of
from gadgetopt.system.plugins import plugged


def dry_run(study: Study, fresh: bool = False, retry_errors: bool = False) -> dict[str, Any]:
    """Return the numbers of a study's runs; nothing is run and no file is made.

    Returns
    -------
    dict
        `instances`, `unreadable` (files, and why), `runs`,
        `stored` (those that would be taken from the store), `to_do`,
        `time_limit_s` and `grace_s` of a run, `workers` (None with a scheduler), and:

        expected_s
            How long they take if each takes the median of its method's stored runs; None if there
            are none. It is too little if `expected_of_all` is False: some methods have none.
        at_most_s
            The time in which all end if none has to be tried again; a run may take its time limit
            and the grace period.

    Raises
    ------
    InputError
        If an instance or method cannot be used, or the store is not one.
    """
    from gadgetopt.runs.engine.client import local_workers

    limits = study.run_limits
    with plugged(study.plugins):
        documents, unreadable = read_instances(given_files(study))
        documents += [drawn for series in study.generate for drawn in documents_of(series)]
        documents = [document.within(study.within or "0") for document in documents]
        runs = grid_over(documents, study.methods, limits, study.seeds, study.first_seed)
        calls = {task.key: (task.document.problem.name, task.spec) for task in runs}
    keys, stored = list(calls), set[str]()
    times: dict[str, Times] = {}
    if Path(study.store).exists():
        with Store(Path(study.store), create=False) as store:
            stored = set() if fresh else store.finished(keys, retry_errors)
            times = run_times(store, limits.time_s)
    grace_s = default_grace_s(limits.time_s) if study.grace_s is None else study.grace_s
    to_do = len(keys) - len(stored)
    workers = study.workers
    if study.scheduler is None:
        workers = max(1, local_workers(limits.threads) if workers is None else workers)
    runs_left = _expected([call for key, call in calls.items() if key not in stored], times)
    known = bool(runs_left.seconds) or runs_left.whole
    return {
        "instances": len({document.fingerprint for document in runs.documents}),
        "unreadable": [str(file) for file in unreadable],
        "runs": len(keys),
        "stored": len(stored),
        "to_do": to_do,
        "store": study.store,
        "store_exists": Path(study.store).exists(),
        "time_limit_s": limits.time_s,
        "grace_s": grace_s,
        "workers": workers,
        "expected_s": runs_left.seconds / (workers or 1) if known else None,
        "expected_of_all": runs_left.whole,
        "at_most_s": None
        if limits.time_s is None
        else math.ceil(to_do / (workers or 1)) * (limits.time_s + grace_s),
    }


def in_words(plan: dict[str, Any]) -> list[str]:
    """Return a dry run as lines."""
    where = plan["store"] if plan["store_exists"] else f"new store {plan['store']}"
    lines = [
        f"{plan['runs']} runs of {plan['instances']} instances: "
        f"{plan['stored']} stored, {plan['to_do']} to do ({where})"
    ]
    if plan["to_do"]:
        lines.append(_expectation(plan))
    if plan["at_most_s"] is not None and plan["to_do"]:
        at_a_time = "one after another" if not plan["workers"] else f"{plan['workers']} at a time"
        lines.append(
            f"never longer than {duration(plan['at_most_s'])}, {at_a_time}: if each run takes its "
            f"{plan['time_limit_s']:g} s and {plan['grace_s']:g} s of grace"
        )
    lines += unreadable_lines(plan["unreadable"])
    return [*lines, "dry run: nothing was run and no file was made"]


def _expectation(plan: dict[str, Any]) -> str:
    if plan["expected_s"] is None:
        return "how long they take is unknown: no run of their methods is stored"
    left = Left(plan["expected_s"], plan["expected_of_all"])
    said = str(left) if not left.whole else f"about {left}"
    more = "" if left.whole else "; some methods have none"
    return f"{said}, by the medians of each method's stored runs{more}"


def _expected(calls: Iterable[Call], times: Mapping[str, Times]) -> Left:
    to_do: dict[str, Counter[str]] = {}
    for system, method in calls:
        to_do.setdefault(system, Counter())[method] += 1
    return total(expected(runs, times.get(system, {})) for system, runs in to_do.items())
