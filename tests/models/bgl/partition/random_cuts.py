"""Random cuts of any kind."""

from hypothesis import strategies as st

from gadgetopt.models.bgl.partition.proving.certificate.cuts import (
    AtMost,
    Clique,
    Cycle,
    Star,
    Tree,
)


@st.composite
def drawn_cut(draw, nodes):
    """Return a cut of any kind over some of the nodes, right or wrong."""
    some = tuple(draw(st.lists(st.sampled_from(nodes), unique=True, min_size=2, max_size=6)))
    kind = draw(st.sampled_from([Cycle, Tree, AtMost, Star, Clique]))
    if kind is Cycle:
        steps = st.sets(st.integers(0, max(2, len(some) - 1)), min_size=1)
        third = next((v for v in nodes if v not in some), 99)
        some = some if len(some) > 2 else (*some, third)
        return Cycle(nodes=some, far=tuple(sorted(draw(steps))))
    if kind is Star:
        return Star(nodes=some)
    if kind is Tree:
        parents = tuple(draw(st.integers(0, i)) for i in range(len(some) - 1))
        return Tree(nodes=some, parents=parents, trained=draw(st.booleans()))
    return kind(nodes=some, trained=draw(st.booleans()))
