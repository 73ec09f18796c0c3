"""Jobs for the tests of the problem of one job."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from gadgetopt.models.smd.instance import Job
from gadgetopt.models.smd.subproblems.inner import Pair
from gadgetopt.pieces.utility import SigmoidUtility

UTILITY = SigmoidUtility(gamma1=100.0, gamma2=0.2, gamma3=40.0)

# tau = w + p + 3 + 8 w/p + 60/w, 2w + p <= 10.
E2 = Job(
    sgd_mode="sync",
    iterations=1.0,
    model_size_mb=500.0,
    ps_bandwidth_gbps=1.0,
    global_batch_size=60.0,
    minibatch_size=60.0,
    fp_time_per_sample_s=1.0,
    bp_time_s=3.0,
    overhead_per_worker_s=1.0,
    overhead_per_ps_s=1.0,
    concurrency_fraction=0.5,
    worker_demand=(2.0,),
    ps_demand=(1.0,),
    reservation_limit=(10.0,),
    utility=UTILITY,
)

# tau = 1 + p/w + 72/w + 4/p, 2w + p <= 10.
E3 = E2.model_copy(update={"sgd_mode": "async", "bp_time_s": 12.0})

# tau = 4.5 p + 8 w/p + 15/w, w + p <= 4.
E4 = E2.model_copy(
    update={
        "overhead_per_worker_s": 0.0,
        "overhead_per_ps_s": 4.5,
        "bp_time_s": 0.0,
        "global_batch_size": 15.0,
        "worker_demand": (1.0,),
        "reservation_limit": (4.0,),
    }
)

# The time of E2, w + p <= 2.9.
E4B = E2.model_copy(update={"worker_demand": (1.0,), "reservation_limit": (2.9,)})

# As E2, of which not even (1, 1) fits.
TOO_SMALL = E2.model_copy(update={"reservation_limit": (2.9,)})


def tenths(low: int, high: int) -> st.SearchStrategy[float]:
    """Decimals whose multiples and quotients are not what doubles make of them."""
    return st.integers(low, high).map(lambda n: n / 10)


@st.composite
def jobs(draw: st.DrawFn, limit: int = 150, least: int = 0) -> Job:
    """Jobs of two resources, with decimals; (1, 1) fits for sure where `least` is 40 tenths."""
    return E2.model_copy(
        update={
            "sgd_mode": draw(st.sampled_from(["sync", "async"])),
            "iterations": draw(st.integers(1, 200).map(float)),
            "model_size_mb": draw(st.floats(10, 600)),
            "global_batch_size": draw(st.integers(1, 500).map(float)),
            "minibatch_size": draw(st.integers(1, 100).map(float)),
            "bp_time_s": draw(st.sampled_from([0.0, 1.5, 20.0])),
            "overhead_per_worker_s": draw(st.sampled_from([0.0, 0.5, 3.0])),
            "overhead_per_ps_s": draw(st.sampled_from([0.0, 0.01, 2.0])),
            "concurrency_fraction": draw(st.sampled_from([0.0, 0.3, 1.0])),
            "worker_demand": (draw(tenths(1, 20)), draw(tenths(0, 20))),
            "ps_demand": (draw(tenths(0, 20)), draw(tenths(1, 20))),
            "reservation_limit": (draw(tenths(least, limit)), draw(tenths(least, limit))),
        }
    )


def brute_force(job: Job) -> list[Pair]:
    """All pairs that fit, by p and then by w, decided in rationals of the decimals written."""
    rows = [
        tuple(Fraction(repr(x)) for x in amounts)
        for amounts in zip(job.worker_demand, job.ps_demand, job.reservation_limit, strict=True)
    ]

    def fits(w: int, p: int) -> bool:
        return all(O_r * w + G_r * p <= v_r for O_r, G_r, v_r in rows)

    found = []
    p = 1
    while fits(1, p):
        w = 1
        while fits(w, p):
            found.append(Pair(w, p, float(job.completion_time.at(w, p))))
            w += 1
        p += 1
    return found
