"""Plan and schedule together as a constraint program: (C1)-(C8) of the toolkit's `cp_joint`.

Its tables are filled by the evaluator, with either model of transfers, speeds, memory and all
options. It shares no code with the search over all plans.
"""

from __future__ import annotations

from functools import partial

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.cp_joint import solve_joint
from gadgetopt.pieces.pipeline.all_plans.plan_tables import Rules
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..evaluate import evaluate, memory_bytes, plan_times
from ..instance import DappleInstance, DappleSolution


@method(kind="exact", reference="(C1)-(C8)", formulation="cp_joint", backend="cpsat")
def cp_joint(instance: DappleInstance, limits: Limits) -> MethodOutcome:
    """Plan and schedule together in CP-SAT, for at most six GPUs.

    Solve (C1)-(C8) with CP-SAT for every number of stages.

    Raises
    ------
    ModelRefused
        If there are more than six GPUs, too many layers or microbatches for tables, or copies of
        the pipeline, for which there is `cp_copies`.
    """
    if instance.max_copies > 1:
        raise ModelRefused(f"max_copies: {instance.max_copies}, expected 1; cp_copies knows more")
    rng = fixed_rng()
    rules = Rules(
        instance,
        solution=lambda plan, orders: DappleSolution.of(plan, orders=orders),
        times=partial(plan_times, instance),
        memory_bytes=partial(memory_bytes, instance),
        evaluate=partial(evaluate, instance),
    )
    search: Search[DappleSolution] = Search("min", limits, gap=0.0)
    return solve_joint(rules, search, rng)
