"""A certificate's check accepts potentials only, and proves nothing else."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.adversarial_online.sequence.proving.certificate import (
    AdversarialOnlineSequenceCertificate,
    _most_left,
    automaton_of,
    check_bound,
)
from gadgetopt.models.adversarial_online.subproblems.adversary import Worst

from ..brute_force import bundles, prices, random_prices, run

TABLE = prices([1, 2, 4], [1, "1.5616"], horizon=4)


@pytest.mark.parametrize("horizon", [1, 2, 3, 4, 9])
def test_the_written_potential_proves_the_optimum(horizon):
    instance = TABLE.model_copy(update={"horizon": horizon})
    found = run(instance)
    assert found.certificate.potential
    assert check_bound(instance, found.certificate) == found.objective


def test_a_smaller_bound_is_not_proved():
    found = run(TABLE)
    for bound in (Fraction(2), found.objective - Fraction(1, 10**9)):
        changed = found.certificate.model_copy(update={"bound": bound})
        assert check_bound(TABLE, changed) is None
        assert check_bound(TABLE, changed.model_copy(update={"potential": ()})) is None


def test_without_a_potential_the_check_computes_it():
    for instance in (TABLE, bundles()):
        bound = run(instance).objective
        bare = AdversarialOnlineSequenceCertificate(bound=bound)
        assert check_bound(instance, bare) == bound


@pytest.mark.parametrize("payoff", ["ratio", "regret"])
def test_what_the_check_computes_is_what_the_search_found(payoff):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        drawn = random_prices(rng, monotone=bool(seed % 2))
        instance = drawn.model_copy(update={"payoff": payoff})
        a, horizon = automaton_of(instance), instance.horizon
        p, q = (int(x) for x in rng.integers(1, 9, size=2))
        most = Worst(a, p, q, horizon).value
        assert _most_left(a, p, q, horizon) == most
        # Beyond 64 bits it computes with Python's integers.
        assert _most_left(a, p << 70, q << 70, horizon) == most << 70


def test_no_entry_of_a_tight_potential_can_be_lowered():
    # From 0 at the start all entries on a worst sequence's way are tight; somewhere it breaks.
    found = run(TABLE)
    potential = found.certificate.potential
    broken = 0
    for at, entry in enumerate(potential):
        if entry:
            lower = (*potential[:at], entry - 1, *potential[at + 1 :])
            changed = found.certificate.model_copy(update={"potential": lower})
            broken += check_bound(TABLE, changed) is None
    assert broken > 0


def test_mutated_potentials_never_prove_less_than_the_optimum():
    rng = np.random.default_rng(0)
    proved = 0
    for seed in range(60):
        instance = random_prices(np.random.default_rng(seed), monotone=False)
        found = run(instance)
        certificate = found.certificate
        for _ in range(10):
            potential = list(certificate.potential)
            potential[rng.integers(len(potential))] = int(rng.integers(0, 50))
            bound = certificate.bound * Fraction(int(rng.integers(80, 130)), 100)
            changed = certificate.model_copy(update={"bound": bound, "potential": tuple(potential)})
            got = check_bound(instance, changed) if bound > 0 else None
            assert got is None or got >= found.objective
            proved += got is not None
    assert proved > 0


def test_a_wrong_number_of_entries_is_refused():
    with pytest.raises(ValueError, match="potential: 3 entries, expected 9 or 4 times as many"):
        check_bound(
            TABLE, AdversarialOnlineSequenceCertificate(bound=Fraction(4), potential=(1, 2, 3))
        )
    with pytest.raises(ValueError, match="bound: 0, expected a positive ratio"):
        check_bound(TABLE, AdversarialOnlineSequenceCertificate(bound=Fraction(0)))
