r"""The evaluator: the makespan of an assignment, in whole seconds.

.. math:: \min\ \max_i \sum_{j: \mu_j = i} p_j,

where :math:`\mu_j` is the machine of job j. Every job has exactly one machine, and there are m.
"""

from __future__ import annotations

from collections.abc import Iterator

from gadgetopt.system.result import Evaluation, Violation

from .instance import ParallelMachinesInstance, ParallelMachinesSolution


def evaluate(instance: ParallelMachinesInstance, solution: ParallelMachinesSolution) -> Evaluation:
    """Recompute the makespan of an assignment, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is the makespan; None if a job has no machine or one that does not exist.
        Components: time that machines are idle before the makespan, and machines used.
    """
    violations = tuple(_violations(instance, solution))
    if violations:
        return Evaluation(None, violations)
    load_s: dict[int, int] = {}
    for time_s, machine in zip(instance.processing_s, solution.machine, strict=True):
        load_s[machine] = load_s.get(machine, 0) + time_s
    makespan_s = max(load_s.values())
    idle_s = instance.machines * makespan_s - sum(load_s.values())
    return Evaluation(makespan_s, (), {"idle_s": idle_s, "machines_used": len(load_s)})


def _violations(
    instance: ParallelMachinesInstance, solution: ParallelMachinesSolution
) -> Iterator[Violation]:
    jobs, assigned = len(instance.processing_s), len(solution.machine)
    if assigned < jobs:
        yield Violation("unassigned_job", f"machine of {jobs} jobs", jobs - assigned)
    if assigned > jobs:
        yield Violation("unknown_job", f"machine of {jobs} jobs", assigned - jobs)
    for j, machine in enumerate(solution.machine):
        if machine >= instance.machines:
            yield Violation("unknown_machine", f"machine[{j}]", machine - instance.machines + 1)
