"""All exact methods, called through the toolkit, agree on 200 random networks and the tiny ones.

Every route's plan has passed the evaluator and its bound the check of its certificate before the
toolkit calls it optimal.
"""

import numpy as np
import pytest

from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.system.files import (
    Document,
    find_instances,
    library,
    read_instance,
)
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.judgement import relative_gap
from gadgetopt.trust.run import solve

from .networks import random_instance

ROUTES = (
    "column_generation",
    "cut_generation",
    "tree_pairs@highs",
    "flow@highs",
    "cuts@highs",
    "spanning_trees@highs",
    "orientation@highs",
    "logical_links@highs",
)
TINY = [read_instance(path) for path in find_instances([library() / "forest_packing" / "tiny"])]


def optima(document):
    """Results of the routes that are made for an instance."""
    results = [solve(document, route, Limits(time_s=60)) for route in ROUTES]
    return [r for r in results if not r.refused]


def assert_agreement(document):
    results = optima(document)
    assert len(results) >= 3
    for r in results:
        assert r.status is Status.OPTIMAL, (document.name, r.method, r.status, r.reason)
        assert r.bound_voucher is Voucher.VERIFIED, (document.name, r.method)
        assert relative_gap(r.objective, results[0].objective) <= CLOSED_GAP
        assert relative_gap(r.bound, results[0].bound) <= CLOSED_GAP


@pytest.mark.parametrize("document", TINY, ids=lambda d: d.name)
def test_all_exact_routes_agree_on_the_tiny_instances(document):
    if document.data.in_network:
        pytest.skip("exact methods assume switches that only forward")
    assert_agreement(document)


@pytest.mark.parametrize("batch", range(20))
def test_all_exact_routes_agree_on_random_networks(batch):
    rng = np.random.default_rng([20, batch])
    for k in range(10):
        instance = random_instance(rng)
        assert_agreement(Document(problem("forest_packing"), "instance", f"random {k}", instance))
