"""Hand-checked instances, embedded chains, small random instances, and brute force."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import networkx as nx
from hypothesis import strategies as st

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.cluster import MatrixCluster, TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import Layer, PipelineInstance, PipelineOptions
from gadgetopt.pieces.pipeline.plan import Plan, plan_violations
from gadgetopt.pieces.pipeline.shop import Shop, shop_of, shop_of_times
from gadgetopt.pieces.pipeline.simulator import DeadlockError, simulate


def layers(fwd, bwd, params, acts) -> tuple[Layer, ...]:
    rows = zip(fwd, bwd, params, [*acts, 0][: len(fwd)], strict=True)
    return tuple(
        Layer(fwd_time_s=float(f), bwd_time_s=float(b), param_bytes=float(w), act_bytes=float(d))
        for f, b, w, d in rows
    )


def e1() -> PipelineInstance:
    return PipelineInstance(
        layers=layers([2, 4, 2], [4, 8, 4], [0, 0, 120], [6, 6]),
        num_microbatches=2,
        cluster=MatrixCluster(bandwidth_bytes_per_s=((0.0, 6.0), (6.0, 0.0))),
    )


def e2() -> PipelineInstance:
    fast = ({0, 2}, {1, 3})
    rows = tuple(
        tuple(0.0 if u == v else 12.0 if {u, v} in fast else 2.0 for v in range(4))
        for u in range(4)
    )
    return PipelineInstance(
        layers=layers([2, 3, 3, 1], [4, 6, 6, 2], [4, 4, 8, 64], [24, 12, 12]),
        num_microbatches=4,
        cluster=MatrixCluster(bandwidth_bytes_per_s=rows),
    )


def e3() -> Shop:
    return shop_of_times([4, 1, 1], [4, 2, 1], [0, 0, 0], 2)


def _d_cluster() -> TwoLevelCluster:
    return TwoLevelCluster(
        gpus_per_machine=(2, 2),
        intra_bytes_per_s=20.0,
        inter_bytes_per_s=2.0,
        allreduce_intra_bytes_per_s=20.0,
        allreduce_inter_bytes_per_s=2.0,
        multi_inter_bytes_per_s=2.0,
    )


def d1() -> PipelineInstance:
    return PipelineInstance(
        layers=layers([3, 3, 3, 1], [6, 6, 6, 2], [2, 2, 2, 60], [8, 4, 2]),
        num_microbatches=4,
        cluster=_d_cluster(),
        comm_model="planner_code",
    )


def d2() -> PipelineInstance:
    return PipelineInstance(
        layers=layers([4, 2, 2, 4], [8, 4, 4, 8], [20] * 4, [2, 2, 2]),
        num_microbatches=4,
        cluster=_d_cluster(),
        comm_model="planner_code",
    )


def plan(*stages: tuple[tuple[int, int], tuple[int, ...]]) -> Plan:
    return Plan(stage_layers=tuple(x for x, _ in stages), stage_devices=tuple(x for _, x in stages))


#: Forward ms, backward ms, parameter bytes, boundary bytes of a minibatch (PipeDream's profiles,
#: MIT licence): vgg16 of minibatch 128, and gnmt.
VGG16 = """22.307 24.613 7168 1644167168/4.446 5.553 0 1644167168/46.201 113.33 147712 1644167168
4.455 5.311 0 1644167168/3.795 5.579 0 411041792/15.155 39.648 295424 822083584
2.359 2.738 0 822083584/22.062 53.379 590336 822083584/2.513 2.62 0 822083584
2.211 2.788 0 205520896/10.814 18.335 1180672 411041792/1.377 1.38 0 411041792
17.458 27.023 2360320 411041792/1.64 1.463 0 411041792/14.245 33.888 2360320 411041792
1.549 1.321 0 411041792/1.169 1.513 0 102760448/9.249 14.574 4720640 205520896
1.026 0.696 0 205520896/15.359 21.9 9439232 205520896/0.848 0.679 0 205520896
11.775 28.67 9439232 205520896/0.881 0.642 0 205520896/0.802 0.781 0 51380224
5.608 7.381 9439232 51380224/0.784 0.266 0 51380224/4.07 7.396 9439232 51380224
0.463 0.19 0 51380224/4.042 8.648 9439232 51380224/0.455 0.175 0 51380224
0.553 0.234 0 12845056/2.475 4.575 411058176 2097152/0.377 0.03 0 2097152
0.709 0.734 67125248 2097152/0.277 0.032 0 2097152/0.393 0.548 16388000 0"""
GNMT = """.073 6.949 132382720 6291456/5.247 .016 67174400 12582912/.077 .196 0 12582912
3.19 5.348 50364416 6291456/.064 .128 0 12582912/2.491 4.203 33587200 6291456
.059 .121 0 12582912/2.492 4.201 33587200 6291456/.066 .328 132382720 12582912
4.546 6.141 41979904 6291456/.058 .176 0 6291456/3.151 5.288 50364416 6291456
.061 .174 0 12451840/3.145 5.306 50364416 6291456/.055 .198 0 12320768
3.149 15.883 50364416 6160384/5.609 1.227 132512000 0"""


def profiled(profile: str, num_microbatches: int, machines: int, gpus: int, **more):
    """A profile's minibatch split into microbatches, on machines with 12 and 1.25 GB/s links."""
    m = num_microbatches
    rows = [[float(x) for x in row.split()] for row in profile.replace("\n", "/").split("/")]
    return PipelineInstance(
        layers=tuple(
            Layer(fwd_time_s=f / 1000 / m, bwd_time_s=b / 1000 / m, param_bytes=w, act_bytes=d / m)
            for f, b, w, d in rows
        ),
        num_microbatches=m,
        cluster=TwoLevelCluster(
            gpus_per_machine=(gpus,) * machines, intra_bytes_per_s=12e9, inter_bytes_per_s=1.25e9
        ),
        **more,
    )


# -- brute force --------------------------------------------------------------------------------


def all_plans(instance: PipelineInstance):
    """Every partition of the layers with every mapping of the GPUs that is allowed."""
    count, gpus = instance.num_layers, instance.num_gpus
    idle = 0 if instance.options.use_all_gpus else 1
    for stages in range(1, instance.most_stages + 1):
        for cuts in itertools.combinations(range(1, count), stages - 1):
            ranges = tuple(itertools.pairwise((0, *cuts, count)))
            for owner in itertools.product(range(stages + idle), repeat=gpus):
                devices = tuple(
                    tuple(v for v in range(gpus) if owner[v] == n) for n in range(stages)
                )
                found = Plan(stage_layers=ranges, stage_devices=devices)
                if not plan_violations(instance, found):
                    yield found


@cache
def interleavings(count: int) -> tuple[tuple[int, ...], ...]:
    """Every order of a machine: both directions by index, forward before backward."""
    found = []
    for places in itertools.combinations(range(2 * count), count):
        forward, backward = iter(range(1, count + 1)), iter(range(1, count + 1))
        order = tuple(next(forward) if k in places else -next(backward) for k in range(2 * count))
        if all(order.index(m) < order.index(-m) for m in range(1, count + 1)):
            found.append(order)
    return tuple(found)


def least_makespan(shop: Shop, *, by_index: bool = True) -> int:
    """Every order of every machine: by index, or in any order at all."""
    count = shop.num_microbatches
    blocks = (*range(1, count + 1), *range(-count, 0))
    orders = interleavings(count) if by_index else tuple(itertools.permutations(blocks))
    best = None
    for chosen in itertools.product(orders, repeat=shop.num_machines):
        try:
            makespan = simulate(shop, chosen).makespan
        except ValueError:  # a deadlock, or too many in flight
            continue
        best = makespan if best is None else min(best, makespan)
    assert best is not None
    return best


def longest_path(shop: Shop, orders) -> int:
    """The makespan of orders by networkx: the second way to compute it."""
    graph = nx.DiGraph()
    last = shop.num_machines - 1
    graph.add_node("end")

    def time(q, code):
        return (shop.fwd if code > 0 else shop.bwd)[q]

    for m in range(1, shop.num_microbatches + 1):
        route = [(q, m) for q in range(last + 1)] + [(q, -m) for q in range(last, -1, -1)]
        for a, b in itertools.pairwise(route):
            graph.add_edge(a, b, weight=time(*a))
        for q in range(0, last + 1, 2):
            graph.add_edge((q, -m), "end", weight=shop.bwd[q] + shop.allreduce[q])
    for q, order in enumerate(orders):
        lanes = [order]
        if shop.full_duplex and q % 2:
            lanes = [[c for c in order if c > 0], [c for c in order if c < 0]]
        for lane in lanes:
            for a, b in itertools.pairwise(lane):
                graph.add_edge((q, a), (q, b), weight=time(q, a))
    if not nx.is_directed_acyclic_graph(graph):
        raise DeadlockError([])
    return nx.dag_longest_path_length(graph)


def least_bound_s(instance: PipelineInstance) -> Fraction:
    """The least head-load-tail bound of every plan."""
    return min(head_load_tail(shop_of(instance, p)).value_s for p in all_plans(instance))


# -- random instances ---------------------------------------------------------------------------

SIZES = st.sampled_from([0.0, 1.0, 2.0, 3.0, 7.0, 0.1, 40.0])


@st.composite
def shops(draw, most_stages: int = 3, most_microbatches: int = 3, *, full: bool | None = None):
    count = draw(st.integers(1, most_microbatches))
    stages = draw(st.integers(1, most_stages))
    times = st.lists(st.integers(0, 9), min_size=2 * stages - 1, max_size=2 * stages - 1)
    reduce = [a if q % 2 == 0 else 0 for q, a in enumerate(draw(times))]
    caps = draw(st.lists(st.integers(1, count), min_size=stages, max_size=stages))
    return shop_of_times(
        draw(times),
        draw(times),
        reduce,
        count,
        full_duplex=draw(st.booleans()) if full is None else full,
        max_in_flight=draw(st.sampled_from([None, caps])),
    )


@st.composite
def clusters(draw, most_gpus: int = 4):
    bandwidth = st.sampled_from([1.0, 2.0, 3.0, 12.0])
    if draw(st.booleans()):
        gpus = draw(st.integers(1, most_gpus))
        b = [[0.0] * gpus for _ in range(gpus)]
        for u, v in itertools.combinations(range(gpus), 2):
            b[u][v] = b[v][u] = draw(bandwidth)
        speeds = st.tuples(*[st.sampled_from([1.0, 0.5])] * gpus)
        return MatrixCluster(
            bandwidth_bytes_per_s=tuple(map(tuple, b)),
            speeds=draw(st.one_of(st.none(), speeds)),
        )
    sizes = draw(st.sampled_from([(1,), (2, 1), (2, 2), (1, 1, 1), (3, 1), (1, 3), (2, 1, 1)]))
    speeds = st.tuples(*[st.sampled_from([1.0, 0.5])] * len(sizes))
    return TwoLevelCluster(
        gpus_per_machine=sizes,
        intra_bytes_per_s=draw(bandwidth),
        inter_bytes_per_s=draw(bandwidth),
        allreduce_intra_bytes_per_s=draw(st.one_of(st.none(), bandwidth)),
        multi_inter_bytes_per_s=draw(st.one_of(st.none(), bandwidth)),
        speeds=draw(st.one_of(st.none(), speeds)),
    )


@st.composite
def instances(draw, most_layers: int = 4, most_microbatches: int = 4, most_gpus: int = 4):
    cluster = draw(clusters(most_gpus))
    models = ["pair_slice", "min_end"]
    if isinstance(cluster, TwoLevelCluster):
        models += ["simple", "planner_code"]
    options = PipelineOptions(
        use_all_gpus=draw(st.booleans()),
        max_stages=draw(st.sampled_from([None, None, 1, 2])),
        recompute=draw(st.booleans()),
        overlap_allreduce=draw(st.booleans()),
        transfer_latency_s=draw(st.sampled_from([0.0, 0.5])),
        memory_bytes=draw(st.sampled_from([None, None, 60.0])),
        max_in_flight=draw(st.sampled_from([None, 2])),
        nvlink_rings=isinstance(cluster, TwoLevelCluster) and draw(st.booleans()),
    )
    layer = st.builds(
        Layer,
        fwd_time_s=SIZES,
        bwd_time_s=SIZES,
        param_bytes=SIZES,
        act_bytes=SIZES,
        grad_bytes=st.one_of(st.none(), SIZES),
    )
    return PipelineInstance(
        layers=tuple(draw(st.lists(layer, min_size=1, max_size=most_layers))),
        num_microbatches=draw(st.integers(1, most_microbatches)),
        cluster=cluster,
        duplex=draw(st.sampled_from(["half", "full"])),
        comm_model=draw(st.sampled_from(models)),
        options=options,
    )
