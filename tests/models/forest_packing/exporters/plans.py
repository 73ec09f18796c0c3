"""Random plans of random networks for the exporters' tests."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.instance import (
    ForestPackingInstance,
    ForestPackingSolution,
    Link,
    TreePair,
)


def random_instance(rng: np.random.Generator, **fields) -> ForestPackingInstance:
    """Workers on one or two switches, with direct cables between some of them."""
    workers, switches = int(rng.integers(2, 6)), int(rng.integers(0, 3))
    links = [
        Link(src=v, dst=workers + s, bandwidth_gbyte_per_s=float(rng.integers(1, 9)), both=True)
        for v in range(workers)
        for s in range(switches)
    ]
    links += [
        Link(src=u, dst=v, bandwidth_gbyte_per_s=float(rng.integers(1, 9)), both=True)
        for u in range(workers)
        for v in range(u + 1, workers)
        if not switches or rng.random() < 0.5
    ]
    return ForestPackingInstance(
        workers=tuple(range(workers)),
        switches=tuple(range(workers, workers + switches)),
        links=tuple(links),
        **fields,
    )


def random_plan(instance: ForestPackingInstance, rng: np.random.Generator) -> ForestPackingSolution:
    """Random trees of random rates, scaled so that the fullest link is full."""
    links = {(link.src, link.dst) for link in instance.links}
    links |= {(v, u) for u, v in links}

    def path(u: int, v: int) -> tuple[int, ...]:
        ways = [(u, v)] if (u, v) in links else []
        ways += [(u, s, v) for s in instance.switches]
        return ways[int(rng.integers(len(ways)))]

    def tree(root: int) -> list[tuple[int, ...]]:
        """Each worker hangs below one that is in the tree."""
        inside, paths = [root], []
        for v in rng.permutation([w for w in instance.workers if w != root]):
            paths.append(path(int(v), inside[int(rng.integers(len(inside)))]))
            inside.append(int(v))
        return paths

    free = instance.root_mode == "free"
    roots = rng.choice(instance.workers, int(rng.integers(1, 6))) if free else instance.workers * 2
    rates = rng.integers(1, 20, len(roots)) if free else np.ones(len(roots), int)
    trees = []
    for root, rate in zip(roots, rates, strict=True):
        up, down = tree(int(root)), [p[::-1] for p in tree(int(root))]
        reduces, broadcasts = ("reduce" in instance.stages, "broadcast" in instance.stages)
        trees.append(
            TreePair(
                root=int(root),
                in_tree=tuple(up) if reduces else (),
                out_tree=(None if reduces and rng.random() < 0.3 else tuple(down))
                if broadcasts
                else (),
                rate_gbyte_per_s=Fraction(int(rate), 1000),
            )
        )
    congestion = evaluate(instance, ForestPackingSolution(trees=tuple(trees))).components[
        "congestion"
    ]
    return ForestPackingSolution(
        trees=tuple(
            t.model_copy(update={"rate_gbyte_per_s": t.rate_gbyte_per_s / congestion})
            for t in trees
        )
    )
