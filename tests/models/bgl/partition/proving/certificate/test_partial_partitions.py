"""The check of eliminations: by dictionaries, by compiled loops, and as the run says."""

import numpy as np
import pytest

from gadgetopt.models.bgl.partition.proving.certificate import partial_loops
from gadgetopt.models.bgl.partition.proving.certificate.partial_partitions import (
    Branched,
    least_cost,
    least_cost_of_two,
)
from gadgetopt.models.bgl.partition.proving.elimination import Elimination
from gadgetopt.models.bgl.partition.proving.terms import terms_of

from ...brute_force import INSTANCES, instance_of, optimum

NEVER = 2**50


def order_of(branched, seed):
    return np.random.default_rng(seed).permutation(sorted(branched.pairs)).tolist()


def both(branched, order, forgotten=(), at_least=NEVER):
    """The bound by dictionaries, after the compiled loops were found to agree."""
    plain = least_cost(branched, order, forgotten, at_least, most_plain=10**9)
    assert least_cost(branched, order, forgotten, at_least, most_plain=0) == plain
    return plain


@pytest.mark.parametrize("every_node", [False, True])
def test_the_check_finds_what_the_run_found(every_node):
    for seed, instance in enumerate(INSTANCES[:120]):
        branched = Branched.of(instance, every_node=every_node)
        terms, order = terms_of(instance, every_node=every_node), order_of(branched, seed)
        for most_states in (10**6, 3):
            run = Elimination(terms, order, NEVER).run(most_states)
            assert both(branched, order, run.forgotten) == run.bound
            assert run.bound / instance.pair_weights.scale <= float(optimum(instance)) + 1e-9
            less = run.bound // 2
            assert both(branched, order, run.forgotten, less) == less


def test_with_two_parts_the_check_charges_the_node_cap_as_the_run_does():
    checked = 0
    for seed, instance in enumerate(INSTANCES):
        branched, terms = Branched.of(instance, every_node=False), terms_of(instance)
        if instance.num_parts != 2 or terms.counts_nodes or not terms.pairs:
            continue
        order = order_of(branched, seed)
        run = Elimination(terms, order, NEVER, placed=True).run(10**6, ((),) * len(order))
        assert least_cost_of_two(branched, order, NEVER) == run.bound
        assert least_cost_of_two(branched, order, run.bound // 2) == run.bound // 2
        checked += 1
    assert checked > 20


def test_the_loops_say_the_same_without_a_compiler(monkeypatch):
    instance = next(i for i in INSTANCES if i.num_parts == 2 and len(i.train_nodes) > 3)
    branched = Branched.of(instance, every_node=False)
    order = order_of(branched, 0)
    found = both(branched, order), least_cost_of_two(branched, order, NEVER)
    for name in ("expand", "cheapest_of_two"):
        loop = getattr(partial_loops, name)
        plain = loop.plain
        monkeypatch.setattr(
            f"gadgetopt.models.bgl.partition.proving.certificate.partial_partitions.{name}", plain
        )
    with np.errstate(over="ignore"):  # codes are scattered by a product that wraps
        assert found == (both(branched, order), least_cost_of_two(branched, order, NEVER))


def test_a_node_that_is_not_in_the_frontier_cannot_be_forgotten():
    branched = Branched.of(instance_of(), every_node=False)
    order = sorted(branched.pairs)
    with pytest.raises(ValueError, match=r"forgotten\[0\]: .* is not in the frontier"):
        least_cost(branched, order, ((order[-1],),), NEVER)
