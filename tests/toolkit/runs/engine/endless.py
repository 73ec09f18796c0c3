"""A problem whose bounds nobody can prove: building its model goes wrong as the instance says."""

import itertools
import os
import time
from pathlib import Path

from gadgetopt.numbers.compiling import tell
from gadgetopt.system.data import Instance, Solution
from gadgetopt.system.declaration import Citation, Formulation, Method, Problem
from gadgetopt.system.result import Evaluation, MethodOutcome


class Trouble(Instance):
    what: str


class Nothing(Solution):
    pass


def build(trouble):
    """Say that the search for a proof has come here, then do what the instance says."""
    if "ENDLESS_MARK" in os.environ:
        Path(os.environ["ENDLESS_MARK"]).touch()
    eaten = []
    if trouble.what == "compiles":  # no clock goes on from here
        tell("reading")
    for _ in itertools.count():
        match trouble.what:
            case "sleeps" | "sleeps ":
                time.sleep(0.01)
            case "is deaf" | "compiles":
                try:
                    time.sleep(0.01)
                except KeyboardInterrupt:
                    continue
            case "eats":
                eaten.append(bytearray(os.urandom(1)) * 20_000_000)
            case "dies":
                os.abort()
            case "raises":
                raise ValueError("there is no such model")


def claims(trouble, limits, rng):
    return MethodOutcome(solution=Nothing(), dual_bound=1)


def claims_late(trouble, limits, rng):
    try:
        print("at work", flush=True)
        time.sleep(1000)
    except KeyboardInterrupt:
        return MethodOutcome(solution=Nothing(), dual_bound=1, limit_hit="interrupted")


PROBLEM = Problem(
    name="endless",
    title="Nothing to decide",
    citation=Citation("nobody", "none", "test", 2026),
    sense="min",
    objective="value",
    integral_objective=True,
    instance_type=Trouble,
    solution_type=Nothing,
    evaluate=lambda trouble, solution: Evaluation(2),
    size=lambda trouble: {"words": 1},
    formulations=(
        Formulation(
            "model", model_class="ILP", strength="exact", summary="-", equations="-",
            build=build, decode=None, backends=("highs",),
        ),
    ),
    methods=tuple(
        Method(run.__name__, kind="exact", summary="-", reference="test", run=run)
        for run in (claims, claims_late)
    ),
    default_method="claims",
    default_methods=("claims",),
)  # fmt: skip
