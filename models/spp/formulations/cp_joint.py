"""Plan and schedule together as a constraint program: (C1)-(C8) of the toolkit's `cp_joint`.

Its tables are filled by the evaluator, with all options of an instance. It begins with the solution
of SPP and shares no code with the search over all plans.
"""

from __future__ import annotations

from functools import partial

from gadgetopt.pieces.pipeline.all_plans.cp_joint import solve_joint
from gadgetopt.pieces.pipeline.all_plans.plan_tables import Rules
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.spp import spp
from ..evaluate import evaluate, machines, memory_bytes
from ..instance import SppInstance, SppSolution


@method(kind="exact", reference="(C1)-(C6)", formulation="cp_joint", backend="cpsat")
def cp_joint(instance: SppInstance, limits: Limits) -> MethodOutcome:
    """Plan and schedule together in CP-SAT, for at most six GPUs.

    Solve (C1)-(C8) with CP-SAT for every number of stages, from the solution of SPP.

    Raises
    ------
    ModelRefused
        If there are more than six GPUs, or too many layers or microbatches for tables.
    """
    rng = fixed_rng()
    rules = Rules(
        instance,
        solution=SppSolution.of,
        times=partial(machines, instance),
        memory_bytes=partial(memory_bytes, instance),
        evaluate=partial(evaluate, instance),
    )
    rules.check_size()
    search: Search[SppSolution] = Search("min", limits, gap=0.0)
    with search.clock.phase("spp"):
        start = spp(instance, search.clock.limits()).solution
    return solve_joint(rules, search, rng, start)
