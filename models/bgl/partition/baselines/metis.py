"""Multi-level edge cut: recursive spectral bisection with refinement, and METIS itself."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import ArpackError, eigsh

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import BglPartitionInstance, BglPartitionSolution
from ..requests import edge_weights
from ..subproblems.balance import balanced
from ..subproblems.local_search import Weighted, improve

#: Below this many nodes eigenvectors are computed densely. Tuned: `benchmarks/constants.py`.
SMALL = 64
#: Nodes of a graph whose eigenvectors are computed at all. Tuned: `benchmarks/constants.py`.
MOST_NODES = 200_000


@method(kind="baseline", reference="Pothen, Simon and Liou 1990; Kernighan and Lin 1970")
def metis_like(
    instance: BglPartitionInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Recursive spectral bisection of the graph, refined by edge cut.

    Bisect the graph at the Fiedler vector until there are k parts, then refine the edge cut.

    A stand-in for METIS without its package. It balances nodes and, by repair, training nodes, and
    knows nothing of requests.
    """
    clock = Clock(limits)
    if instance.num_nodes > MOST_NODES:
        raise ModelRefused(f"num_nodes: {instance.num_nodes}, expected at most {MOST_NODES}")
    graph = instance.graph
    adjacency = csr_array(
        (np.ones(len(graph.heads)), graph.heads, graph.starts),
        shape=(graph.num_nodes, graph.num_nodes),
    )
    part = np.zeros(graph.num_nodes, dtype=np.int64)
    stack = [(np.arange(graph.num_nodes), 0, instance.used_parts)]
    while stack:
        nodes, first, parts = stack.pop()
        if parts == 1 or len(nodes) < 2:
            part[nodes] = first
            continue
        left = parts // 2
        order = nodes[np.argsort(_fiedler(adjacency[nodes][:, nodes], rng), kind="stable")]
        cut = round(len(nodes) * left / parts)
        stack += [(order[:cut], first, left), (order[cut:], first + left, parts - left)]
    return MethodOutcome(solution=_by_edges(instance, part, clock, rng))


@method(kind="baseline", reference="Karypis and Kumar 1998")
def metis(
    instance: BglPartitionInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """METIS itself, by the extra `metis`, loads repaired.

    Partition with METIS, balancing nodes and training nodes, and repair the loads.

    Raises
    ------
    ModelRefused
        If the extra `metis` is not installed.

    References
    ----------
    G. Karypis, V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular
    graphs", SIAM Journal on Scientific Computing 20 (1998) 359-392.
    """
    if not has_metis():
        raise ModelRefused("METIS needs the extra `metis`: pip install 'gadgetopt[metis]'")
    clock = Clock(limits)
    graph = instance.graph
    ones = np.ones(len(graph.heads), dtype=np.int64)
    part = metis_parts(graph.starts, graph.heads, ones, instance.used_parts, rng)
    return MethodOutcome(solution=_by_edges(instance, part, clock, rng, refine=False))


def has_metis() -> bool:
    """Return True if the extra `metis` is installed."""
    return find_spec("pymetis") is not None


def metis_parts(
    starts: Ints, heads: Ints, weights: Ints, parts: int, rng: np.random.Generator
) -> Ints:
    """Return METIS's parts of a graph with weights of its edges, each edge at both ends."""
    import pymetis

    _, part = pymetis.part_graph(
        parts,
        adjacency=pymetis.CSRAdjacency(starts.tolist(), heads.tolist()),
        eweights=weights.tolist(),
        options=pymetis.Options(seed=seed_of(rng)),
    )
    return np.array(part, dtype=np.int64)


def _by_edges(
    instance: BglPartitionInstance,
    part: Ints,
    clock: Clock,
    rng: np.random.Generator,
    *,
    refine: bool = True,
) -> BglPartitionSolution:
    """Repair the loads and, if wished, refine the edge cut."""
    weighted = Weighted.of(instance, edge_weights(instance.num_nodes, instance.edges))
    part = balanced(
        part, weighted.trained, weighted.pull(part), instance.node_cap, instance.train_cap
    )
    if refine:
        part = improve(weighted, part, clock, rng, memory=False)
    return BglPartitionSolution.of(part.tolist())


def _fiedler(adjacency: csr_array, rng: np.random.Generator) -> Floats:
    """Return the eigenvector of the second least eigenvalue of the Laplacian, or close to it."""
    n = adjacency.shape[0]
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    laplacian = diags_array(degree) - adjacency
    if n <= SMALL:
        return np.asarray(np.linalg.eigh(laplacian.toarray())[1][:, 1])
    # The least eigenvalues of L are the largest of a shifted -L, which needs no factors.
    shift = 2 * float(degree.max()) + 1
    start = rng.normal(size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            shifted = diags_array(np.full(n, shift)) - laplacian
            values, vectors = eigsh(shifted, k=2, which="LA", v0=start, tol=1e-3, maxiter=2000)
        except ArpackError as error:
            found = getattr(error, "eigenvectors", None)
            if found is None or found.shape[1] < 2:
                return np.asarray(start)
            values, vectors = error.eigenvalues, found
    return np.asarray(vectors[:, int(np.argmin(values))])
