"""Whatever a certificate of the semidefinite program holds, what it proves is below the optimum."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.bgl.partition.data.generate.presets import planted
from gadgetopt.models.bgl.partition.proving.bounds.semidefinite import semidefinite_proof
from gadgetopt.models.bgl.partition.proving.certificate.same_part import (
    GAIN_DIGITS,
    Group,
    Semidefinite,
    kept_by_pairs,
    most_together,
    semidefinite_bound,
    shortfall,
    weights_in_units,
)
from gadgetopt.search.clock import Clock

from ...brute_force import instance_of, optimum, partitions, run, small_instance


def drawn(seed):
    """A small instance in which every pair has a training node, and its scaled optimum."""
    rng = np.random.default_rng(seed)
    while True:
        instance = small_instance(rng)
        if instance.weights == "requests" and len(instance.pair_weights):
            best = optimum(instance)
            if best is not None:
                return instance, best * instance.pair_weights.scale, rng


def any_proof(instance, rng):
    """A certificate with any numbers, its diagonal large enough for a factor."""
    unit = Fraction(int(rng.integers(1, 50)), int(rng.integers(1, 5000)))
    weights = weights_in_units(instance, unit)
    others, trained = weights.others.shape
    mean = 1 + int(weights.others.mean()) if others else 1
    groups = [
        Group(nodes=tuple(sorted(rng.choice(trained, k, replace=False).tolist())), price=price)
        for k, price in zip(
            rng.integers(1, trained + 1, size=2).tolist(),
            rng.integers(0, 2 * mean, size=2).tolist(),
            strict=True,
        )
    ]
    proof = Semidefinite(
        unit=unit,
        reference=tuple(rng.integers(instance.used_parts, size=trained).tolist()),
        levels=tuple(rng.integers(-mean, 2 * mean + 1, size=others).tolist()),
        gains=tuple((2**GAIN_DIGITS // rng.integers(1, 4 * mean + 2, size=others)).tolist()),
        diagonal=(0,) * trained,
        caps=tuple(rng.integers(0, mean + 1, size=trained).tolist()),
        groups=tuple(groups),
        apart=tuple(rng.integers(0, mean + 1, size=trained * (trained - 1) // 2).tolist()),
    )
    kept = kept_by_pairs(weights, instance.used_parts, proof.reference, proof.levels, proof.gains)
    large = int(np.abs(kept.matrix).sum(axis=1).max()) + 2 * mean * trained + 1
    return proof.model_copy(update={"diagonal": (large,) * trained}), kept


@pytest.mark.parametrize("seed", range(80))
def test_any_certificate_proves_a_bound_below_the_optimum(seed):
    instance, best, rng = drawn(seed)
    for _ in range(3):
        proof, _ = any_proof(instance, rng)
        assert semidefinite_bound(instance, proof) <= best


@pytest.mark.parametrize("seed", range(40))
def test_what_is_kept_is_bounded_for_every_partition(seed):
    instance, _, rng = drawn(100 + seed)
    proof, kept = any_proof(instance, rng)
    pairs, trained = instance.pair_weights, sorted(instance.train_nodes)
    for part in partitions(instance.num_nodes, instance.used_parts):
        of_trained = np.array(part)[trained]
        same = np.equal.outer(of_trained, of_trained)
        most = kept.constant + Fraction(int(kept.matrix[same].sum()), 2)
        ends = zip(pairs.first.tolist(), pairs.second.tolist(), pairs.scaled.tolist(), strict=True)
        assert sum(w for a, b, w in ends if part[a] == part[b]) <= most * proof.unit


@pytest.mark.parametrize("seed", range(60))
def test_the_program_s_certificate_is_below_the_optimum(seed):
    instance, best, rng = drawn(200 + seed)
    part = rng.integers(instance.used_parts, size=instance.num_nodes)
    proof = semidefinite_proof(instance, part, Clock())
    assert proof is None or semidefinite_bound(instance, proof) <= best


def test_the_program_finds_most_of_the_cost_of_clear_communities():
    instance = planted(np.random.default_rng(1), nodes=60, inside=8.0, outside=1.0)
    best = run(instance, "elimination")
    found = run(instance, "semidefinite_bound")
    assert best.status.value == "optimal"
    assert found.bound_voucher == "verified"
    assert 0.5 * best.bound < found.bound <= best.bound


def test_forged_certificates_prove_no_more_than_the_optimum():
    instance, best, _ = drawn(3)
    rng = np.random.default_rng(0)
    part = np.arange(instance.num_nodes) % instance.used_parts
    honest = semidefinite_proof(instance, part, Clock())
    refused = 0
    for _ in range(200):
        name = str(rng.choice(["levels", "gains", "diagonal", "caps", "apart"]))
        numbers = list(getattr(honest, name))
        if not numbers:
            continue
        k = int(rng.integers(len(numbers)))
        least = {"gains": 1, "caps": 0, "apart": 0}.get(name, -(2**40))
        numbers[k] = max(least, round(numbers[k] * float(rng.choice([-1, 0, 0.5, 0.9, 1.1, 2]))))
        try:
            proved = semidefinite_bound(instance, honest.model_copy(update={name: tuple(numbers)}))
        except ValueError:
            refused += 1
            continue
        assert proved <= best
    assert refused


def test_the_shortfall_of_a_matrix_makes_it_semidefinite():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(1, 12))
        root = rng.integers(-1000, 1000, size=(n, n))
        matrix = root @ root.T + np.eye(n, dtype=np.int64)
        more = shortfall(matrix)
        assert 0 <= more <= 1 + n
        assert np.linalg.eigvalsh((matrix + more * np.eye(n, dtype=np.int64)).astype(float))[0] > 0


@pytest.mark.parametrize("matrix", [[[1, 2], [2, 1]], [[-1]], [[4, 4], [4, 4]]])
def test_a_matrix_without_a_factor_is_refused(matrix):
    with pytest.raises(ValueError, match="not positive definite"):
        shortfall(np.array(matrix))


def test_nodes_are_together_most_in_full_parts():
    assert most_together(24, 21) == 21**2 + 3**2
    assert most_together(4, 4) == 16
    assert most_together(5, 2) == 4 + 4 + 1


def test_a_pair_without_a_training_node_is_refused():
    instance = instance_of(train=(2,), weights="edge")
    with pytest.raises(ValueError, match="a pair without a training node"):
        weights_in_units(instance, Fraction(1))


@pytest.mark.parametrize("name", ["reference", "levels", "gains", "diagonal", "caps", "apart"])
def test_lists_of_other_lengths_are_refused(name):
    instance, _, rng = drawn(5)
    proof, _ = any_proof(instance, rng)
    longer = (*getattr(proof, name), 1)
    with pytest.raises(ValueError, match="expected"):
        semidefinite_bound(instance, proof.model_copy(update={name: longer}))
