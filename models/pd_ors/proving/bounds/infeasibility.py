"""Diagnosis of jobs that can earn no utility even alone, for authors of instances."""

from __future__ import annotations

import math

from ...instance import PdOrsInstance
from ...terms import JobTerms


def jobs_without_utility(instance: PdOrsInstance) -> dict[int, str]:
    """Return the reason, in words, for each job that can earn nothing even if it is alone."""
    reasons = {job.index: _reason(job) for job in instance.terms.jobs}
    return {i: reason for i, reason in reasons.items() if reason is not None}


def _reason(job: JobTerms) -> str | None:
    horizon = job.instance.horizon_slots
    if job.most_progress == 0:
        if not job.usable[1:].any():
            return f"F = {job.batch} workers are fewer than gamma = {job.job.worker_ps_ratio} asks"
        return "a worker and its parameter server do not fit"
    if job.earliest is None:
        last = job.arrival - 1 + math.ceil(job.work / job.most_progress)
        return f"cannot complete before slot {last}, the horizon has {horizon}"
    if not job.utility[job.earliest] > 0:
        return f"is worth nothing from slot {job.earliest} on, the earliest it can complete"
    return None
