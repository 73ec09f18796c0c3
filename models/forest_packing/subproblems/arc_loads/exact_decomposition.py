"""Trees of the whole rate for rational loads, from integers or from columns.

Integers peeled off (`exact_trees`) are faster. Where numbers pass 64 bits, loops are not compiled,
or switches cannot be split off, columns are generated on the loads, and their rates solved exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from gadgetopt.numbers.exact_vertex import integers
from gadgetopt.search.clock import Clock

from ...instance import (
    ForestPackingInstance,
    Stage,
)
from ...packing import (
    Pair,
    Tree,
    fit,
    total_rate,
)
from .exact_loads import ExactLoads
from .exact_trees import (
    pack_stage_exactly,
    paired,
)
from .load_decomposition import pack_rational_loads


def exact_pairs_of(
    instance: ForestPackingInstance,
    loads: Mapping[Stage, Sequence[Fraction]],
    roots: Sequence[Fraction],
) -> list[Pair] | None:
    """Return pairs of trees within loads of the network's arcs; None if none have the whole rate.

    Parameters
    ----------
    loads : mapping
        GB/s on every arc, by stage; with `roots` they satisfy every cut (F3).
    roots : sequence of Fraction, shape (workers,)
        GB/s rooted at every worker.
    """
    trees = {stage: exact_trees_of(instance, stage, load, roots) for stage, load in loads.items()}
    whole = {stage: found for stage, found in trees.items() if found is not None}
    if len(whole) < len(trees):
        return None
    pairs = fit(instance, paired(whole))
    return pairs if total_rate(pairs) == sum(roots) else None


def exact_trees_of(
    instance: ForestPackingInstance,
    stage: Stage,
    load: Sequence[Fraction],
    roots: Sequence[Fraction],
) -> list[Tree] | None:
    """Return the trees of one stage; None if none have the whole rate."""
    denominator = math.lcm(*(x.denominator for x in (*load, *roots)))
    units = integers([int(x * denominator) for x in load])
    counts = integers([int(w * denominator) for w in roots])
    exact = ExactLoads(Fraction(1, denominator), int(counts.sum()), counts, {stage: units})
    clock = Clock()
    peeled = pack_stage_exactly(instance.network, stage, exact, clock)
    if peeled is not None:
        return peeled[0]
    return pack_rational_loads(instance, stage, load, roots, clock.limits())
