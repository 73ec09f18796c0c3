"""What a comparison would do: how many runs, how many of them stored, how long at most."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from gadgetopt.runs.engine.work import default_grace_s
from gadgetopt.runs.grid import grid_over, read_instances
from gadgetopt.runs.progress import duration, unreadable_lines
from gadgetopt.runs.store import Store
from gadgetopt.runs.study import Study, given_files
from gadgetopt.system.generation import documents_of
from gadgetopt.system.plugins import plugged


def dry_run(study: Study, fresh: bool = False, retry_errors: bool = False) -> dict[str, Any]:
    """Return the numbers of a study's runs; nothing is run and no file is made.

    Returns
    -------
    dict
        `instances`, `unreadable` (files, and why), `runs`,
        `stored` (those that would be taken from the store), `to_do`,
        `time_limit_s` and `grace_s` of a run, `workers` (None with a scheduler), and `at_most_s`:
        the time in which all end if none has to be tried again; a run may take its time limit and
        twice the grace period.

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
        runs = grid_over(documents, study.methods, limits, study.seeds, study.first_seed)
        keys = list({task.key: None for task in runs})
    stored: set[str] = set()
    if Path(study.store).exists() and not fresh:
        with Store(Path(study.store), create=False) as store:
            stored = store.finished(keys, retry_errors)
    grace_s = default_grace_s(limits.time_s) if study.grace_s is None else study.grace_s
    to_do = len(keys) - len(stored)
    workers = study.workers
    if study.scheduler is None:
        workers = max(1, local_workers(limits.threads) if workers is None else workers)
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
        "at_most_s": None
        if limits.time_s is None
        else math.ceil(to_do / (workers or 1)) * (limits.time_s + 2 * grace_s),
    }


def in_words(plan: dict[str, Any]) -> list[str]:
    """Return a dry run as lines."""
    where = plan["store"] if plan["store_exists"] else f"new store {plan['store']}"
    lines = [
        f"{plan['runs']} runs of {plan['instances']} instances: "
        f"{plan['stored']} stored, {plan['to_do']} to do ({where})"
    ]
    if plan["at_most_s"] is not None and plan["to_do"]:
        at_a_time = "one after another" if not plan["workers"] else f"{plan['workers']} at a time"
        lines.append(
            f"at most {duration(plan['at_most_s'])}, {at_a_time}: {plan['time_limit_s']:g} s a run "
            f"and twice {plan['grace_s']:g} s of grace"
        )
    lines += unreadable_lines(plan["unreadable"])
    return [*lines, "dry run: nothing was run and no file was made"]
