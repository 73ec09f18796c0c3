"""Small instances for tests of the kernel, and the kernel once more by enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np

from gadgetopt.models.pd_ors.instance import Job, Machine, PdOrsInstance, TableUtility


def job(**changes):
    """Job J of the hand-checked instances: sigma = 1.6, external slots per sample 0.4."""
    values = {
        "arrival_slot": 1,
        "epochs": 1,
        "samples": 8,
        "global_batch": 4,
        "sample_time_slots": 0.2,
        "gradient_gbit": 0.2,
        "worker_ps_ratio": 2,
        "bandwidth_internal_gbps": 4,
        "bandwidth_external_gbps": 1,
        "worker_demand": (1,),
        "ps_demand": (1,),
        "utility": TableUtility(values=(10,)),
    }
    return Job(**{**values, **changes})


def cluster(jobs, capacities, horizon, **changes):
    return PdOrsInstance(
        horizon_slots=horizon,
        slot_s=1,
        resources=tuple("abc"[: len(capacities[0])]),
        machines=tuple(Machine(capacity=c) for c in capacities),
        jobs=tuple(jobs),
        **changes,
    )


def random_instance(rng, *, jobs=1, horizon=3, machines=2, resources=2, batch=3, **changes):
    """Few machines that hold a few units each, and work of a few worker-slots."""

    def one():
        return job(
            arrival_slot=int(rng.integers(1, horizon + 1)),
            samples=int(rng.integers(1, 30)),
            global_batch=int(rng.integers(1, batch + 1)),
            gradient_gbit=float(rng.choice([0, 0.1, 0.37])),
            worker_ps_ratio=float(rng.choice([1, 1.5, 2, 3])),
            worker_demand=tuple(int(x) for x in rng.integers(0, 3, resources)),
            ps_demand=tuple(int(x) for x in rng.integers(0, 3, resources)),
            utility=TableUtility(values=tuple(sorted(rng.uniform(1, 20, horizon))[::-1])),
        )

    capacities = [tuple(int(x) for x in rng.integers(1, 7, resources)) for _ in range(machines)]
    return cluster([one() for _ in range(jobs)], capacities, horizon, **changes)


def least_slot_costs(terms, price, room, locality, ratio):
    """Least cost of each (internal, workers) in one slot, by enumeration of all placements."""
    machines = len(room)
    most_servers = -(-terms.batch * terms.gamma.denominator // terms.gamma.numerator)
    pairs = list(product(range(terms.batch + 1), range(most_servers + 1)))
    costs = {}
    for placing in product(pairs, repeat=machines):
        taken = [w * terms.alpha + s * terms.beta for w, s in placing]
        if any((take > left).any() for take, left in zip(taken, room, strict=True)):
            continue
        n, m = (sum(x) for x in zip(*placing, strict=True))
        enough = m * terms.gamma == n if ratio == "exact" else m * terms.gamma >= n
        if not 0 < n <= terms.batch or not enough:
            continue
        used = sum(w + s > 0 for w, s in placing)
        if used > 1 and locality == "internal_only":
            continue
        cost = sum(float(p @ take) for p, take in zip(price, taken, strict=True))
        internal = used == 1
        costs[internal, n] = min(cost, costs.get((internal, n), np.inf))
    return costs


def least_plan_costs(instance, index, price, room):
    """Least cost of every completion slot, by enumeration of all choices in all slots."""
    terms = instance.terms.jobs[index]
    slots = range(terms.arrival, instance.horizon_slots + 1)
    known = {
        t: least_slot_costs(terms, price[t - 1], room[t - 1], instance.locality, instance.ratio)
        for t in slots
    }
    best = {}
    totals = {Fraction(0): 0.0}  # progress short of the work: least cost
    for t in slots:
        following = dict(totals)
        for (internal, n), cost in known[t].items():
            step = n * (terms.sigma if internal else Fraction(1))
            for progress, before in totals.items():
                if progress + step >= terms.work:
                    best[t] = min(best.get(t, np.inf), before + cost)
                else:
                    now = following.get(progress + step, np.inf)
                    following[progress + step] = min(now, before + cost)
        totals = following
    return best
