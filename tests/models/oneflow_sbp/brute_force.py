"""Random small instances, and their optima by enumeration."""

import itertools
import random

from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.instance import OneFlowSbpInstance, OneFlowSbpSolution
from gadgetopt.system.files import validate


def brute_force(instance):
    """Return the least objective of a feasible solution, None if there is none."""
    best = None
    for chosen in itertools.product(*(range(len(s)) for s in instance.tables.signatures)):
        judged = evaluate(instance, OneFlowSbpSolution(signature=chosen))
        if judged.feasible and (best is None or judged.objective < best):
            best = judged.objective
    return best


def random_instance(seed, *, memory=None, shared=None):
    """Return an instance of three to seven operators with random signatures.

    Parameters
    ----------
    seed : int
    memory, shared : bool, optional
        Fixes what is drawn otherwise.
    """
    rng = random.Random(seed)
    grid = rng.choice([[2], [2], [3], [2, 2]])
    parts = ["S0", "S1", "B", "P"]

    def label():
        chosen = [rng.choice(parts) for _ in grid]
        return chosen[0] if len(grid) == 1 else f"({','.join(chosen)})"

    placements = [{"name": "g0", "hierarchy": grid}]
    if rng.random() < 0.3:
        placements.append({"name": "g1", "hierarchy": rng.choice([grid, [4] * len(grid)])})
    operators = []
    for i in range(rng.randint(3, 6)):
        inputs = [f"o{rng.randrange(i)}" for _ in range(rng.choice([1, 1, 2, 2, 3]))] if i else []
        signatures = [
            {
                "inputs": [label() for _ in inputs],
                "output": label(),
                "compute": rng.choice([0, rng.randint(0, 900), f"{rng.randint(1, 999)}/7"]),
                "memory_bytes": rng.randint(0, 60),
            }
            for _ in range(rng.randint(1, 3))
        ]
        operators.append(
            {
                "name": f"o{i}",
                "kind": "custom",
                "inputs": inputs,
                "shape": [rng.choice([16, 24]), 16],
                "dtype_bytes": rng.choice([1, 2, 4]),
                "placement": rng.choice(placements)["name"],
                "signatures": signatures,
            }
        )
    data = {
        "placements": placements,
        "operators": operators,
        "shared_boxing": rng.random() < 0.5 if shared is None else shared,
        "costs": {
            "boxing_table": rng.choice(["paper", "paper", "oneflow"]),
            "compute_ratio": rng.choice([1, 0.2, 0.05]),
            "forbidden_conversions": rng.choice([[], [], ["B->P"], ["S->P", "S0->S1"]]),
            "wait": rng.choice([0, 0, 100]),
        },
    }
    if rng.random() < 0.2:
        data["costs"] |= {"unit": "seconds", "flops_per_s": 1000, "link_bytes_per_s": 300}
    if rng.random() < 0.3:
        pinned = rng.choice(operators)
        data["pins"] = {pinned["name"]: rng.choice(pinned["signatures"])["output"]}
    if rng.random() < 0.2:
        data["ties"] = [[o["name"] for o in rng.sample(operators, 2)]]
    if rng.random() < 0.5 if memory is None else memory:
        least = sum(min(s["memory_bytes"] for s in o["signatures"]) for o in operators)
        most = sum(max(s["memory_bytes"] for s in o["signatures"]) for o in operators)
        data["memory_limit_bytes"] = max(1, least + (most - least) * rng.randint(0, 90) // 100)
    return validate(OneFlowSbpInstance, data, f"random {seed}")


def listed_instance(seed, **given):
    """Return a random instance most of whose edges have tables of costs by pairs of signatures."""
    instance = random_instance(seed, shared=False, **given)
    rng = random.Random(seed)
    data = instance.model_dump(mode="json")
    data["edge_tables"] = []
    signatures = {o["name"]: len(o["signatures"]) for o in data["operators"]}
    for operator in data["operators"]:
        numbers = []
        for name in operator["inputs"]:
            table = [
                [
                    rng.choice([0, None, rng.randint(1, 500), f"{rng.randint(1, 99)}/7"])
                    for _ in operator["signatures"]
                ]
                for _ in range(signatures[name])
            ]
            numbers.append(len(data["edge_tables"]) if rng.random() < 0.8 else None)
            if numbers[-1] is not None:
                data["edge_tables"].append(table)
        operator["input_tables"] = numbers
    return validate(OneFlowSbpInstance, data, f"listed {seed}")
