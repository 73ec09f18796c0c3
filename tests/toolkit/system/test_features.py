"""Features: finite, reproducible, and their failure never ends a batch."""

import json
import logging
import math
from dataclasses import replace
from functools import cache

import pytest
from toy import KNAPSACK, TOY

from gadgetopt.system.features import (
    correlation,
    described,
    features_of,
    fits,
    largest_share,
    variation,
)
from gadgetopt.system.files import find_instances, library, read_instance
from gadgetopt.system.registry import problems

EVERY = find_instances([library()])


@cache
def described_file(path):
    """Return the features and the size of an instance."""
    document = read_instance(path)
    return features_of(document.problem, document.data), document.problem.size(document.data)


@pytest.mark.parametrize("path", EVERY, ids=lambda p: p.stem)
def test_features_of_every_instance_of_the_library_are_finite_and_the_same_every_time(path):
    found, _ = described_file(path)
    assert found
    assert all(math.isfinite(value) for value in found.values())
    again = read_instance(path)
    assert json.dumps(features_of(again.problem, again.data)) == json.dumps(found)


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_all_instances_of_a_system_have_the_same_columns_and_none_is_called_as_one_of_size(problem):
    columns = set()
    for path in find_instances([library() / problem.name]):
        features, size = described_file(path)
        found = tuple(features)
        assert not set(found) & set(size)
        assert not problem.fixed_part or problem.fixed_part in found
        columns.add(found)
    assert len(columns) == 1


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_every_feature_has_a_meaning(problem):
    example = read_instance(find_instances([library() / problem.name])[0])
    meanings = described(problem)
    assert all(meanings.values())
    names = {name for names in meanings for name in names.split(", ")}
    assert set(features_of(problem, example.data)) <= names


def test_a_system_without_features_has_none():
    assert features_of(TOY, KNAPSACK) == {}


def test_features_that_fail_are_a_warning_and_those_that_are_no_number_are_left_out(caplog):
    def fails(instance):
        raise ZeroDivisionError("nothing to divide by")

    with caplog.at_level(logging.WARNING):
        assert features_of(replace(TOY, features=fails), KNAPSACK) == {}
    assert "features of toy: ZeroDivisionError: nothing to divide by" in caplog.text
    mixed = replace(TOY, features=lambda i: {"a": 1, "b": math.inf, "c": math.nan})
    assert features_of(mixed, KNAPSACK) == {"a": 1.0}


def test_statistics_by_hand():
    assert variation([]) == 0
    assert variation([3, 3, 3]) == 0
    assert variation([1, 3]) == 0.5  # deviation 1, mean 2
    assert correlation([1, 2], [5, 5]) == 0
    assert correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert largest_share([1, 2, 9], [4, 4, 0]) == 0.5
    assert fits([0.1 + 0.2], [0.3])
    assert not fits([1], [0])


#: What can be counted on paper, by file below `instances/`.
BY_HAND = {
    # Capacities 13, 13; weights sum to 27, 27. The largest weights are 8, 7, 6, 4, 8, of 13 each.
    "knapsack/tiny/e6_two_rows": {
        "tightness": 13 / 27,
        "binding_rows": 2,
        "useful_items": 5,
        "mean_item_share": 33 / 5 / 13,
        "weight_density": 1,
    },
    # Two jobs reserve 10 of 16 each: up to 5 workers (2 units) times 10 servers (1 unit).
    "smd/tiny/e5_reserved_16": {
        "useful_jobs": 2,
        "load": 20 / 16,
        "binding_resources": 1,
        "mean_share": 10 / 16,
        "mean_pairs": 50,
        "utility_variation": 0,
        "async_share": 0,
    },
    # Three jobs; a sample takes 0.25 slots inside the machine, 0.4 outside; 8 samples, so 2
    # worker-slots of 1.5 units each: 9 of 6 units in the only slot.
    "pd_ors/tiny/c_prices": {
        "useful_jobs": 3,
        "load": 1.5,
        "locality_gain": 1.6,
        "mean_window_share": 1,
        "mean_utility_decay": 0,
        "worker_share": 1.5 / 6,
    },
    # Two jobs of three GPUs, six GPUs; eight links of 1000 out of servers, rings of 1200.
    "gadget/tiny/h7_square_narrow": {
        "useful_jobs": 2,
        "load": 1,
        "contention": 1,
        "link_load": 2 * 1.2 / 8,
        "ring_link_share": 1.2,
        "worker_share": 1 / 1.5,
        "concave_share": 0,
    },
    # Arcs 2, 1, 2, 1, 1, 3: into 0 come 4, out of it 3; into 1 3, out 3; into 2 3, out 4. The
    # reverses lack 1 + 1 + 2 of 10.
    "forest_packing/tiny/h7_fixed_root_0": {
        "arc_density": 1,
        "mean_bandwidth_gbyte_per_s": 10 / 6,
        "asymmetry": 0.4,
        "narrowest_worker_share": 1,
        "hops_from_first_worker": 1,
    },
    # An iteration takes 0.1 slots on one server (10 a slot, 2 slots in all) and 0.3 on two with
    # both jobs on the link. Two gangs of 2 for 2 slots, four GPUs for 20.
    "sjf_bco/tiny/e1_co_locate": {
        "load": 1,
        "horizon_share": 8 / 80,
        "largest_gang_share": 0.5,
        "spread_jobs_share": 0,
        "contention_slowdown": 3,
    },
}


@pytest.mark.parametrize("name", BY_HAND)
def test_features_by_hand(name):
    document = read_instance(library() / f"{name}.json")
    found = features_of(document.problem, document.data)
    assert {key: found[key] for key in BY_HAND[name]} == pytest.approx(BY_HAND[name])
