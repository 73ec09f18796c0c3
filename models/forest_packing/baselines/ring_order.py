"""The best ring: the order of workers whose ring congests the network least."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from scipy.sparse import csgraph, csr_array

from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ForestPackingInstance
from ..network import Network
from ..subproblems.routing import Routing
from .rings_and_servers import ring_plan

#: How often the routed transfer from worker u to worker v uses each row.
_Uses = Mapping[tuple[int, int], Mapping[int, int]]


@method(kind="baseline", reference="ring, best", formulation="ring_order", backend="cpsat")
def best_ring(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    bidirectional: bool = False,
) -> MethodOutcome:
    r"""The ring whose slowest step is fastest.

    Return the plan of the ring with the least :math:`\max \mathrm{load} / c`.

    Bisection over the possible values U of that maximum; for each, CP-SAT looks for a Hamiltonian
    circuit of the routed transfers with load at most U c on every row. Where transfers are single
    links, this is the Hamiltonian cycle whose slowest link is fastest. Starts from the ring in the
    order of the instance, which is kept if no other is better.

    Parameters
    ----------
    instance, limits
        NP-hard in general. When time runs out, the best ring so far is returned.
    bidirectional : bool, default False
        If True, half of the data runs each way round.

    Raises
    ------
    ModelRefused
        If the instance asks for other root shares than 1/N.
    """
    network = instance.network
    n = network.num_workers
    order = list(range(n))
    routing = Routing(network)
    limit_hit = None
    if routing.connected and n > 2:
        order, limit_hit = _best_order(network, routing, limits, both=bidirectional)
    return ring_plan(instance, order, bidirectional=bidirectional, limit_hit=limit_hit)


def _best_order(
    network: Network, routing: Routing, limits: Limits, *, both: bool
) -> tuple[list[int], str | None]:
    clock = Clock(limits)
    n = network.num_workers
    uses = _row_uses(network, routing, both=both)
    order = list(range(n))
    values = _possible_values(network, uses, _congestion(network, uses, order))
    # The least U with a circuit is values[high], or that of `order` if high == len(values).
    low, high = 0, len(values)
    while low < high:
        if clock.expired:
            return order, "time_s"
        middle = (low + high) // 2
        found = _circuit(network, uses, values[middle], clock.limits())
        if isinstance(found, str):
            return order, found
        if found is None:
            low = middle + 1
        else:
            order = found
            high = values.index(_congestion(network, uses, order))
    return order, None


def _row_uses(network: Network, routing: Routing, *, both: bool) -> _Uses:
    """Return how often each transfer uses each row; in both directions if data run both ways."""
    n = network.num_workers
    uses: dict[tuple[int, int], Counter[int]] = {}
    for u in range(n):
        for v in range(n):
            if u != v:
                routes = [routing.route(u, v), *([routing.route(v, u)] if both else [])]
                uses[u, v] = Counter(
                    i
                    for route in routes
                    for arc in itertools.pairwise(route)
                    for i in network.rows_of[network.arc_index[arc]]
                )
    return uses


def _congestion(network: Network, uses: _Uses, order: list[int]) -> Fraction:
    """Return the largest load/capacity of a row."""
    load: Counter[int] = Counter()
    for arc in zip(order, (*order[1:], order[0]), strict=True):
        load.update(uses[arc])
    return max(k / network.rows[i].capacity for i, k in load.items())


def _possible_values(network: Network, uses: _Uses, below: Fraction) -> list[Fraction]:
    """Return the values below a bound that load/capacity of a row can take, ascending."""
    n = network.num_workers
    most: Counter[int] = Counter()
    for used in uses.values():
        most.update(used)
    values = set()
    for i, row in enumerate(network.rows):
        for k in range(1, min(most[i], 2 * n) + 1):
            if k >= below * row.capacity:
                break
            values.add(k / row.capacity)
    return sorted(values)


def _circuit(
    network: Network, uses: _Uses, congestion: Fraction, limits: Limits
) -> list[int] | str | None:
    """Return an order with at most this congestion; None if there is none, or the limit hit."""
    room = [int(congestion * row.capacity) for row in network.rows]
    fitting = [arc for arc, used in uses.items() if all(k <= room[i] for i, k in used.items())]
    if not _strongly_connected(network.num_workers, fitting):
        return None  # which CP-SAT would take very long to see
    model = cp_model.CpModel()
    follows = {arc: model.new_bool_var("") for arc in fitting}
    model.add_circuit([(u, v, literal) for (u, v), literal in follows.items()])
    on_row: dict[int, list[tuple[int, cp_model.IntVar]]] = {}
    for arc, literal in follows.items():
        for i, k in uses[arc].items():
            on_row.setdefault(i, []).append((k, literal))
    for i, terms in on_row.items():
        # Load of a row: sum k x <= floor(U c).
        if sum(k for k, _ in terms) > room[i]:
            model.add(sum(k * literal for k, literal in terms) <= room[i])
    outcome = solve_cp(model, limits, seed=seed_of(fixed_rng()))
    if outcome.values is None:
        return outcome.limit_hit
    after = {u: v for (u, v), literal in follows.items() if value_of(outcome.values, literal)}
    order = [0]
    while after[order[-1]] != 0:
        order.append(after[order[-1]])
    return order


def _strongly_connected(n: int, arcs: list[tuple[int, int]]) -> bool:
    tails, heads = [u for u, _ in arcs], [v for _, v in arcs]
    graph = csr_array((np.ones(len(arcs)), (tails, heads)), shape=(n, n))
    return int(csgraph.connected_components(graph, connection="strong", return_labels=False)) == 1
