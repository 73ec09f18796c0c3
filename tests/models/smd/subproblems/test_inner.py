"""The problem of one job: exact by numbers of servers, by table, and over the reals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.subproblems import inner
from gadgetopt.models.smd.subproblems.inner import (
    TIE,
    Pair,
    PairTable,
    best_pair,
    continuous,
    fits,
    largest_p,
    largest_w,
    most_workers,
    pairs,
)

from ..formulations.inner_milp import most_servers
from ..inner_jobs import (
    E2,
    E3,
    E4,
    E4B,
    TOO_SMALL,
    brute_force,
    jobs,
)

# Completion times of E2 by p, for w = 1, 2, ...
E2_ROWS = {
    1: (73, 52, 51, 55),
    2: (70, 45, 40, 40),
    3: (69 + 2 / 3, 43 + 1 / 3, 37),
    4: (70, 43, 36),
    5: (70.6, 43.2),
    6: (71 + 1 / 3, 43 + 2 / 3),
    7: (72 + 1 / 7,),
    8: (73,),
}


def test_all_pairs_of_the_synchronous_job():
    table = pairs(E2)
    rows = {p: tuple(table.tau_s[table.p == p]) for p in E2_ROWS}

    assert len(table) == 20
    assert rows == {p: pytest.approx(times) for p, times in E2_ROWS.items()}
    assert table.w.tolist() == [w for times in E2_ROWS.values() for w in range(1, len(times) + 1)]


@pytest.mark.parametrize(
    ("job", "pair"), [(E2, (3, 4, 36.0)), (E3, (4, 2, 21.5)), (E4, (2, 2, 24.5))]
)
def test_hand_checked_optima(job, pair):
    assert best_pair(job) == pair


@pytest.mark.parametrize(
    ("job", "times"),
    [
        (E3, {(4, 1): 23.25, (3, 3): 27 + 1 / 3}),
        (
            E4,
            {
                (1, 1): 27.5,
                (2, 1): 28,
                (1, 2): 28,
                (3, 1): 33.5,
                (1, 3): 31 + 1 / 6,
            },
        ),
    ],
)
def test_hand_checked_times(job, times):
    table = pairs(job)
    found = dict(
        zip(zip(table.w.tolist(), table.p.tolist(), strict=True), table.tau_s, strict=True)
    )

    assert {pair: found[pair] for pair in times} == pytest.approx(times)


@pytest.mark.parametrize(
    ("job", "point"),
    [
        (E2, (3.26359, 3.47281, 35.63909)),
        (E3, (4.32461, 1.35078, 20.92250)),
        (E4B, (None, None, 52.32036)),
    ],
)
def test_hand_checked_continuous_optima(job, point):
    found = continuous(job)

    assert found is not None
    for value, expected in zip(found, point, strict=True):
        assert expected is None or value == pytest.approx(expected, abs=5e-6)


def test_utility_of_the_optimum():
    best = best_pair(E2)

    assert best is not None
    assert E2.utility.at(best.tau_s) == pytest.approx(68.99745, abs=5e-6)


def first_best(table: PairTable) -> Pair | None:
    """Return the pair of the least time, ties as in `best_pair`; None of an empty table."""
    if len(table) == 0:
        return None
    k = int(np.argmax(table.tau_s <= table.tau_s.min() * (1 + TIE)))
    return Pair(int(table.w[k]), int(table.p[k]), float(table.tau_s[k]))


def test_a_job_of_which_one_worker_and_one_server_do_not_fit_has_no_pair():
    assert largest_p(TOO_SMALL) == 0
    assert best_pair(TOO_SMALL) is None
    assert continuous(TOO_SMALL) is None
    assert len(pairs(TOO_SMALL)) == 0
    assert first_best(pairs(TOO_SMALL)) is None


@given(jobs())
def test_the_table_is_every_pair_that_fits(job):
    table = pairs(job)

    assert list(zip(table.w.tolist(), table.p.tolist(), table.tau_s.tolist(), strict=True)) == [
        tuple(pair) for pair in brute_force(job)
    ]


@given(jobs())
def test_lines_find_what_the_table_has(job):
    assert best_pair(job) == first_best(pairs(job))


@given(jobs())
def test_leaving_out_hopeless_lines_changes_nothing(job):
    few, inner.FEW_LINES = inner.FEW_LINES, 0
    try:
        narrowed = best_pair(job)
    finally:
        inner.FEW_LINES = few

    assert narrowed == best_pair(job)


@given(jobs())
def test_the_relaxation_never_takes_longer(job):
    best, relaxed = best_pair(job), continuous(job)

    if best is None:
        assert relaxed is None
    else:
        assert relaxed is not None
        assert relaxed.tau_s <= best.tau_s * (1 + 1e-12)


@settings(max_examples=30)
@given(jobs())
def test_the_relaxation_is_what_a_convex_solver_finds_in_logarithms(job):
    relaxed = continuous(job)
    if relaxed is None:
        return
    rows = list(zip(job.worker_demand, job.ps_demand, job.reservation_limit, strict=True))
    slsqp = minimize(
        lambda x: np.log(job.completion_time.at(np.exp(x[0]), np.exp(x[1]))),
        x0=(0.0, 0.0),
        bounds=[(0, 6), (0, 6)],
        constraints=[
            {"type": "ineq", "fun": lambda x, r=r: r[2] - r[0] * np.exp(x[0]) - r[1] * np.exp(x[1])}
            for r in rows
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )

    # The solver's own point may be outside by its tolerance.
    assert relaxed.tau_s <= np.exp(slsqp.fun) * (1 + 1e-6)
    if slsqp.success:
        assert relaxed.tau_s == pytest.approx(np.exp(slsqp.fun), rel=1e-5)


@given(jobs(), st.integers(1, 30))
def test_largest_numbers_are_the_last_that_fit(job, k):
    W, P = largest_w(job, k), largest_p(job)

    assert not fits(job, W + 1, k)
    assert W == 0 or fits(job, W, k)
    assert not fits(job, 1, P + 1)
    if 1 <= k <= P:
        assert most_workers(job, np.array([k])).tolist() == [W]
    if 1 <= k <= largest_w(job, 1):
        servers = most_servers(job, k)
        assert fits(job, k, servers)
        assert not fits(job, k, servers + 1)


def test_demands_and_limits_are_read_as_decimals():
    # 0.1 * 3 is more than 0.3 in doubles, and (0.3 - 0.1) / 0.1 less than 2.
    job = E2.model_copy(
        update={"worker_demand": (0.1,), "ps_demand": (0.1,), "reservation_limit": (0.3,)}
    )

    assert largest_w(job, 1) == 2
    assert largest_p(job) == 2
    assert fits(job, 2, 1)
    assert len(pairs(job)) == 3


def test_numbers_beyond_64_bits_are_counted_exactly():
    job = E2.model_copy(
        update={
            "worker_demand": (1.000000000000001e6,),
            "ps_demand": (1e-10,),
            "reservation_limit": (3.000000000000003e6 + 0.0,),
        }
    )

    assert most_workers(job, np.array([1, 2])).tolist() == [2, 2]
    assert largest_w(job, 0) == 3


def test_a_trillion_servers_are_no_reason_to_go_through_them():
    job = E2.model_copy(update={"ps_demand": (1e-3,), "reservation_limit": (1e9,)})

    assert largest_p(job) == 999_999_998_000
    # Unlimited: p = sqrt(8 w), w = sqrt(60 / (1 + 8/p)).
    assert best_pair(job) == (5, 6, pytest.approx(5 + 6 + 3 + 40 / 6 + 12))


def test_too_many_pairs_are_refused_with_their_number():
    with pytest.raises(ModelRefused, match="24995985"):
        pairs(E2.model_copy(update={"worker_demand": (1.0,), "reservation_limit": (7071.0 + 0.0,)}))


def test_more_workers_than_doubles_can_count_are_refused():
    job = E2.model_copy(update={"worker_demand": (1e-20,)})

    with pytest.raises(ModelRefused, match="too many to enumerate"):
        best_pair(job)
    with pytest.raises(ModelRefused, match="too many to enumerate"):
        continuous(job)


def test_times_that_are_the_same_go_to_fewer_servers():
    # tau = 8 w/p + 2 p with w = 1 only: p = 2 gives 8, and so does no other; with 4.5 p and w = 1,
    # 8/p + 4 p: p = 1 and p = 2 both give 12.
    job = E4.model_copy(
        update={"overhead_per_ps_s": 4.0, "worker_demand": (2.0,), "reservation_limit": (4.0,)}
    )
    table = pairs(job)

    assert table.w.tolist() == [1, 1]
    assert table.tau_s[0] == table.tau_s[1]
    assert best_pair(job) == (1, 1, table.tau_s[0])
