"""Gantt chart: its bars equal the schedule, GPU by GPU and slot by slot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import InputError
from gadgetopt.models.sjf_bco.data.generate.presets import (
    contended_small,
    mini_paper,
    paper,
)
from gadgetopt.models.sjf_bco.evaluate import evaluate, simulate
from gadgetopt.models.sjf_bco.instance import Job, SjfBcoInstance, SjfBcoSolution
from gadgetopt.models.sjf_bco.pictures.gantt import (
    HELD,
    assign_gpus,
    bars,
    plot,
)
from gadgetopt.models.sjf_bco.subproblems.greedy import upper_bound_schedule

#: Two gangs of three on servers of two: while both run they share server 1, in slot 3 only.
E3 = SjfBcoInstance(
    server_gpus=(2, 2, 2),
    horizon_slots=20,
    inter_bw_mb_per_slot=10.0,
    intra_bw_mb_per_slot=200.0,
    gpu_reduce_mb_per_slot=100.0,
    contention_coeff=1.0,
    overhead_coeff=1.0,
    overhead_unit_slots=0.01,
    jobs=(
        Job(gpus=3, iterations=15, grad_size_mb=2.0, bwd_slots=0.07, name="a <b>"),
        Job(gpus=3, iterations=10, grad_size_mb=2.0, bwd_slots=0.02),
    ),
)
STAGGERED = SjfBcoSolution(start_slot=(3, 0), placement=({0: 2, 1: 1}, {1: 1, 2: 2}))


def occupied(table):
    """Return the jobs by (row, slot)."""
    cells = {}
    for bar in table.itertuples():
        for row in range(bar.row, bar.row + bar.gpus):
            for slot in range(bar.start, bar.end):
                cells.setdefault((row, slot), []).append(bar.job)
    return cells


def assert_covers(instance, solution, table):
    cells = occupied(table)
    assert all(len(jobs) == 1 for jobs in cells.values())
    done = simulate(instance, solution).completion
    for j, job in enumerate(instance.jobs):
        area = sum(jobs == [j] for jobs in cells.values())
        assert area == job.gpus * (done[j] - solution.start_slot[j])
    ends = np.cumsum(instance.server_gpus)
    for bar in table.itertuples():
        assert ends[bar.server] - instance.server_gpus[bar.server] + bar.first_gpu == bar.row
        assert bar.row + bar.gpus <= ends[bar.server]


def test_bars_of_the_staggered_start():
    table = bars(E3, STAGGERED)
    assert_covers(E3, STAGGERED, table)
    shared = table[table.level == 2]
    assert set(zip(shared.start, shared.end, strict=True)) == {(3, 4)}
    assert set(shared.rate) == {1}
    assert set(table[(table.job == 0) & (table.level == 1)].rate) == {2}
    assert table.end.max() == 11
    assert table.spread.all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), preset=st.sampled_from([contended_small, mini_paper]))
def test_bars_cover_the_schedule_without_overlap(seed, preset):
    instance = preset(np.random.default_rng(seed))
    solution = upper_bound_schedule(instance)
    assert_covers(instance, solution, bars(instance, solution))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_any_feasible_schedule_gets_gpu_ids(seed):
    """Draw jobs on random GPUs at increasing times, so that gangs are fragmented."""
    rng = np.random.default_rng(seed)
    instance = contended_small(rng, jobs=6, horizon_slots=10**4)
    owner = np.repeat(np.arange(3), instance.server_gpus)
    placement = tuple(
        {
            int(s): int(n)
            for s, n in zip(
                *np.unique(rng.permutation(owner)[: job.gpus], return_counts=True), strict=True
            )
        }
        for job in instance.jobs
    )
    start = [int(a) for a in np.cumsum(rng.integers(0, 15, 6))]
    solution = SjfBcoSolution(start_slot=tuple(start), placement=placement)
    while any(v.constraint == "capacity" for v in evaluate(instance, solution).violations):
        start = [a + 10 * j for j, a in enumerate(start)]
        solution = SjfBcoSolution(start_slot=tuple(start), placement=placement)
    assigned = assign_gpus(instance, solution)
    assert assigned.gpu_ids is not None
    assert evaluate(instance, assigned).feasible
    assert_covers(instance, solution, bars(instance, solution))


def test_given_gpu_ids_are_kept():
    ids = ({0: (0, 1), 1: (1,)}, {1: (0,), 2: (0, 1)})
    solution = STAGGERED.model_copy(update={"gpu_ids": ids})
    assert assign_gpus(E3, solution) is solution
    table = bars(E3, solution)
    assert set(table[(table.job == 0) & (table.server == 1)].first_gpu) == {1}


def test_gpus_held_after_completion_are_shown_as_such():
    solution = STAGGERED.model_copy(update={"completion_slot": (11, 6)})
    held = bars(E3, solution).query("level == @HELD", local_dict={"HELD": HELD})
    assert set(held.job) == {1}
    assert set(zip(held.start, held.end, strict=True)) == {(4, 6)}
    assert any("still held" in (trace.name or "") for trace in plot(E3, solution).data)


def test_an_infeasible_schedule_is_refused_with_its_reason():
    stacked = SjfBcoSolution(start_slot=(0, 0), placement=({0: 2, 1: 1}, {0: 2, 1: 1}))
    with pytest.raises(InputError, match="solution: capacity at server 0"):
        plot(E3, stacked)


def test_a_schedule_beyond_the_horizon_can_be_drawn():
    late = STAGGERED.model_copy(update={"start_slot": (30, 0)})
    assert bars(E3, late).end.max() == 38


def test_the_figure_draws_the_bars():
    table, figure = bars(E3, STAGGERED), plot(E3, STAGGERED)
    drawn = [trace for trace in figure.data if trace.hovertext is not None]
    assert sum(len(trace.x) for trace in drawn) == len(table)
    area = sum(np.dot(trace.x, trace.width) for trace in drawn)
    assert area == ((table.end - table.start) * table.gpus).sum() == 3 * 8 + 3 * 4
    assert {name for trace in figure.data if (name := trace.name)} == {
        "1: spread, links alone",
        "2: shared by 2 jobs",
    }
    text = " ".join(text for trace in drawn for text in trace.hovertext)
    assert "job 0</b> (a &lt;b&gt;)<br>3 GPUs: 2 on server 0, 1 on server 1" in text
    assert "1 iterations per slot" in text
    assert "makespan 11" in figure.layout.annotations[0].text
    assert list(figure.layout.yaxis.ticktext)[:2] == ["server 0, GPU 0", "server 0, GPU 1"]


def test_a_picture_of_the_papers_scale_has_few_traces():
    instance = paper(np.random.default_rng(0))
    solution = upper_bound_schedule(instance)
    figure = plot(instance, solution)
    levels = bars(instance, solution).level.nunique()
    assert len(figure.data) == 2 * levels + 1
    assert len(figure.layout.yaxis.ticktext) == 20
    figure.to_json()
