"""The evaluator: hand-checked schedules, and every violation by name."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.presets import paper, quickstart
from gadgetopt.models.a_srpt.evaluate import cut_gbytes, evaluate, iteration_time
from gadgetopt.models.a_srpt.instance import ASrptSolution, ScheduledJob
from gadgetopt.models.a_srpt.iteration_time import mapping_times
from gadgetopt.models.a_srpt.mapping import sparse
from gadgetopt.models.a_srpt.proving.exact.decomposition import decomposition
from gadgetopt.runs.comparison import compare
from gadgetopt.system.result import Limits

from .brute_force import mappings, stages, tiny
from .hand_checked import H1, H2, H3, H4


def schedule(*jobs, predictor=None):
    """Return a schedule of (start in microticks, placement) of every job."""
    return ASrptSolution(
        jobs=tuple(
            ScheduledJob(job=j, start_microtick=start, placement=placement)
            for j, (start, placement) in enumerate(jobs)
        ),
        predictor=predictor,
    )


def on(*servers):
    """Return one stage with a replica on each of these servers."""
    return (tuple((m, servers.count(m)) for m in sorted(set(servers))),)


#: J2 and J3 on server 1, J1 alone, J4 from 6 to 8 on server 0.
BEST_H4 = schedule((0, on(0)), (0, on(1)), (0, on(1)), (24, on(0, 0)))


def test_the_best_schedule_of_h4():
    found = evaluate(H4, BEST_H4)
    assert (found.objective, found.violations) == (32, ())
    assert found.components["weighted_flow_ticks"] == 26
    assert found.components["makespan_ticks"] == 10
    assert found.components["utilisation"] == (6 + 8 + 10 + 4) / 40
    assert found.components["lost_to_placement_s"] == 0
    assert found.components["inter_server_gbytes"] == 0


def test_the_schedules_of_a_srpt_on_h4():
    """Starts 1.5, 3.5, 6; J4 split at 7.5 takes 10 ticks, together at 11.5 it takes 2."""
    split = schedule((6, on(0)), (14, on(0)), (24, on(1)), (30, on(0, 1)))
    assert evaluate(H4, split).objective == Fraction(105, 2)
    assert evaluate(H4, split).components["lost_to_placement_s"] == pytest.approx(8.1)
    assert evaluate(H4, split).components["spread_jobs"] == 1
    waited = schedule((6, on(0)), (14, on(0)), (24, on(1)), (46, on(0, 0)))
    assert evaluate(H4, waited).objective == Fraction(97, 2)


def test_the_optimum_of_h3():
    starts = ((3, on(0, 0, 1, 1)), (1, on(0)), (1, on(1, 1)))
    found = evaluate(H3, schedule(*((4 * start, placement) for start, placement in starts)))
    assert (found.objective, found.violations) == (13, ())


def test_the_mappings_of_h1_and_h2():
    """H1: a stage a server 0.17 s and 0.2 GB; a replica of each a server 0.3275 s and 0.9 GB."""
    apart, mixed = ({0: 2}, {1: 2}), ({0: 1, 1: 1}, {0: 1, 1: 1})
    h1, h2 = H1.job_types[0], H2.job_types[0]
    assert iteration_time(H1, h1, apart) == Fraction(17, 100)
    assert cut_gbytes(h1, apart) == Fraction(1, 5)
    assert iteration_time(H1, h1, mixed) == Fraction(3275, 10000)
    assert cut_gbytes(h1, mixed) == Fraction(9, 10)
    heavy_edge, best = ({0: 2}, {0: 1}, {1: 2}), ({1: 2}, {0: 1}, {0: 2})
    assert iteration_time(H2, h2, heavy_edge) == Fraction(531, 1000)
    assert cut_gbytes(h2, heavy_edge) == Fraction(4, 5)
    assert iteration_time(H2, h2, best) == Fraction(261, 1000)
    assert cut_gbytes(h2, best) == Fraction(1, 5)


def test_the_table_of_times_agrees_with_the_evaluator_and_merging_servers_never_slows():
    for seed in range(20):
        instance = tiny(np.random.default_rng(seed))
        for job_type in instance.job_types:
            times = mapping_times(
                job_type,
                instance.intra_bandwidth_gbytes_per_s,
                instance.inter_bandwidth_gbytes_per_s,
            )
            for table in mappings(job_type.replicas, instance.gpus_per_server):
                seconds = iteration_time(instance, job_type, stages(table))
                assert times.seconds(times.units(sparse(table))) == seconds
                if len(table[0]) > 1:
                    merged = tuple((row[0] + row[1], 0, *row[2:]) for row in table)
                    assert iteration_time(instance, job_type, stages(merged)) <= seconds
                assert seconds <= times.seconds(times.longest)


def seconds_in_fractions(instance, job_type, placed):
    """(1)-(3) of the page, term by term in rationals."""
    within = 1 / instance.intra_bandwidth_gbytes_per_s
    between = 1 / instance.inter_bandwidth_gbytes_per_s
    k, slowest, ring = job_type.replicas, Fraction(0), Fraction(0)
    for s, servers in enumerate(placed):
        for m in servers:
            theta = job_type.stage_time_s[s]
            for u in {s - 1, s + 1} & {*range(len(k))}:
                near = Fraction(placed[u].get(m, 0), k[u])
                volume = job_type.activation_gbytes[min(s, u)] / k[s]
                theta += volume * (near * within + (1 - near) * between)
            slowest = max(slowest, theta)
        sent = 2 * Fraction(k[s] - 1, k[s]) * job_type.gradient_gbytes[s]
        ring = max(ring, sent * (within if len(servers) == 1 else between))
    return job_type.pipeline_factor * slowest + ring


def cut_in_fractions(job_type, placed):
    """(4) of the page, in rationals, replica by replica."""
    k, cut = job_type.replicas, Fraction(0)
    at = [[m for m, x in servers.items() for _ in range(x)] for servers in placed]
    for s, servers in enumerate(at):
        apart = sum(a != b for i, a in enumerate(servers) for b in servers[:i])
        cut += 4 * job_type.gradient_gbytes[s] / k[s] * apart
        if s + 1 < len(k):
            apart = sum(a != b for a in servers for b in at[s + 1])
            cut += 2 * job_type.activation_gbytes[s] / (k[s] * k[s + 1]) * apart
    return cut


@pytest.mark.parametrize("preset", [tiny, paper, quickstart])
def test_whole_numbers_give_the_rationals_that_fractions_give(preset):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        instance = preset(rng)
        for job_type in instance.job_types[:40]:
            # Any mapping has these times, whether there is room for it or not.
            placed = tuple(
                {int(m): int(x) for m, x in enumerate(rng.multinomial(k, [0.25] * 4).tolist()) if x}
                for k in job_type.replicas
            )
            seconds = iteration_time(instance, job_type, placed)
            assert seconds == seconds_in_fractions(instance, job_type, placed)
            assert cut_gbytes(job_type, placed) == cut_in_fractions(job_type, placed)


@pytest.mark.parametrize(
    ("solution", "constraint"),
    [
        (ASrptSolution(jobs=BEST_H4.jobs[:3]), "coverage"),
        (ASrptSolution(jobs=(*BEST_H4.jobs, BEST_H4.jobs[0])), "coverage"),
        (schedule((0, on(0)), (0, on(1)), (0, on(1)), (20, on(0, 0))), "release"),
        (schedule((0, on(0)), (0, on(1)), (0, on(1)), (24, on(0, 1))), "capacity"),
        (schedule((0, on(0)), (0, on(1)), (0, on(1)), (24, on(0))), "replicas"),
        (schedule((0, on(2)), (0, on(1)), (0, on(1)), (24, on(0, 0))), "unknown_server"),
        (schedule((0, on(0) * 2), (0, on(1)), (0, on(1)), (24, on(0, 0))), "stages"),
        (
            schedule((0, on(0)), (0, on(1)), (0, on(1)), (24, (((0, 1), (0, 1)),))),
            "server_twice",
        ),
        (
            ASrptSolution(
                jobs=(
                    *BEST_H4.jobs,
                    ScheduledJob(job=9, start_microtick=0, placement=on(0)),
                )
            ),
            "unknown_job",
        ),
    ],
)
def test_every_violation_has_its_name(solution, constraint):
    found = evaluate(H4, solution)
    assert constraint in {v.constraint for v in found.violations}
    if constraint not in ("release", "capacity"):
        assert found.objective is None


def test_perturbed_optima_are_rejected_or_no_better():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        instance = tiny(rng)
        best = decomposition(instance, Limits(), rng, annealings=1)
        jobs = list(best.solution.jobs)
        j = int(rng.integers(len(jobs)))
        earlier = max(0, jobs[j].start_microtick - instance.total_gpus)
        jobs[j] = jobs[j].model_copy(update={"start_microtick": earlier})
        found = evaluate(instance, ASrptSolution(jobs=tuple(jobs)))
        assert found.violations or found.objective >= best.claimed_objective


def test_the_net_ratio_is_that_of_flow_times(root):
    instance = root / "instances" / "a_srpt" / "tiny" / "h4_delay_for_consolidation.json"
    table = compare([instance], ["fifo", "decomposition"], workers=0)
    flows = [entry.result.evaluation.components["weighted_flow_ticks"] for entry in table]
    assert flows[1] < table[1].result.objective
    assert table[0].net_ratio.low == table[0].net_ratio.high == flows[0] / flows[1]
