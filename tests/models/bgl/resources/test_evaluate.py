"""The evaluator has the seven terms of (9), and rejects shares that are not there."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.bgl.resources.evaluate import evaluate
from gadgetopt.models.bgl.resources.instance import ResourcesSolution
from gadgetopt.system.files import find_instances, library, read_instance

H3 = read_instance(find_instances([library() / "bgl_resources/tiny/h3_cache.json"])[0]).data
BEST = ResourcesSolution(
    request_cores=6,
    construct_cores=4,
    process_cores=4,
    cache_cores=4,
    subgraph_units=2,
    feature_units=4,
)


def test_the_terms_of_the_hand_checked_instance():
    found = evaluate(H3, BEST)
    assert found.feasible
    assert found.objective == Fraction(39, 20)
    assert found.components == {
        "request_s": Fraction(4, 3),
        "construct_s": 1,
        "net_s": Fraction(1, 2),
        "process_s": Fraction(3, 2),
        "subgraph_copy_s": 1,
        "cache_s": Fraction(39, 20),
        "gpu_s": Fraction(9, 10),
    }


@pytest.mark.parametrize(
    ("changes", "violated", "amount"),
    [
        ({"request_cores": 9}, "store_cores", 3),
        ({"cache_cores": 5}, "worker_cores", 1),
        ({"subgraph_units": 4}, "pcie_units", 2),
    ],
)
def test_more_than_there_is_is_rejected(changes, violated, amount):
    (violation,) = evaluate(H3, BEST.model_copy(update=changes)).violations
    assert (violation.constraint, violation.amount) == (violated, amount)


def test_the_slowest_stage_decides():
    rng = np.random.default_rng(0)
    for _ in range(20):
        shares = rng.integers(1, 5, size=6).tolist()
        found = evaluate(
            H3, ResourcesSolution(**dict(zip(sorted(BEST.model_fields_set), shares, strict=True)))
        )
        assert found.objective == max(found.components.values())
