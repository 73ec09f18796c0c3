"""The largest cycle ratio is that of all simple cycles, listed one by one."""

from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.pieces.graphs.cycle_ratio import Arc, deadlock, earliest, largest_cycle_ratio

ARCS = st.lists(
    st.builds(Arc, st.integers(0, 4), st.integers(0, 4), st.integers(0, 9), st.integers(-1, 3)),
    max_size=9,
)


def simple_cycles(arcs):
    """Yield (length, tokens) of every simple cycle, parallel arcs apart."""
    graph = nx.MultiDiGraph()
    graph.add_edges_from((a.source, a.target, n) for n, a in enumerate(arcs))
    for events in nx.simple_cycles(nx.DiGraph(graph)):
        ways = [(0, 0)]
        for u, v in zip(events, [*events[1:], events[0]], strict=True):
            steps = [(a.length, a.tokens) for a in arcs if (a.source, a.target) == (u, v)]
            ways = [(x + length, m + tokens) for x, m in ways for length, tokens in steps]
        yield from ways


@given(ARCS)
def test_deadlock_and_ratio_are_those_of_the_simple_cycles(arcs):
    cycles = list(simple_cycles(arcs))
    stuck = deadlock(5, arcs)
    assert (stuck is not None) == any(tokens <= 0 for _, tokens in cycles)
    if stuck is not None:
        assert sum(arcs[n].tokens for n in stuck) <= 0
        with pytest.raises(ValueError, match="no tokens"):
            largest_cycle_ratio(5, arcs)
        return
    ratio, critical = largest_cycle_ratio(5, arcs)
    assert ratio == max((Fraction(x, m) for x, m in cycles), default=Fraction(0))
    for n, following in zip(critical, [*critical[1:], *critical[:1]], strict=True):
        assert arcs[n].target == arcs[following].source
    if critical:
        length = sum(arcs[n].length for n in critical)
        assert ratio == Fraction(length, sum(arcs[n].tokens for n in critical))
    start = earliest(5, arcs, ratio)
    assert min(start) == 0
    assert all(start[a.target] >= start[a.source] + a.length - ratio * a.tokens for a in arcs)


def test_starts_do_not_exist_below_the_ratio():
    loop = [Arc(0, 1, 2, 0), Arc(1, 0, 3, 1)]
    assert largest_cycle_ratio(2, loop) == (5, [0, 1]) or largest_cycle_ratio(2, loop)[0] == 5
    with pytest.raises(ValueError, match="at least that of every cycle"):
        earliest(2, loop, Fraction(49, 10))
