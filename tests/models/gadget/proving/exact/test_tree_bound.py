"""Ring counts: a relaxation whose slots can be packed, and proofs that cannot be forged."""

import numpy as np
import pytest

from gadgetopt.models.gadget import PROBLEM
from gadgetopt.models.gadget.data.generate.presets import (
    rigid,
    tight,
    tiny,
)
from gadgetopt.models.gadget.proving.exact.count_relaxation import count_form
from gadgetopt.models.gadget.proving.exact.cp_totals import exact_slot
from gadgetopt.models.gadget.proving.exact.epoch_form import epoch_form
from gadgetopt.models.gadget.proving.exact.epoch_packing import EpochPacking
from gadgetopt.models.gadget.proving.exact.offline import offline
from gadgetopt.models.gadget.subproblems.max_ring import largest_rings
from gadgetopt.proofs.files import packed, unpacked
from gadgetopt.solvers.highs import solve_form
from gadgetopt.system.data import ModelProof
from gadgetopt.system.result import Limits
from gadgetopt.trust.certificate import certified_bound

from ...brute_force import brute_force
from ...loads import total_loads

CLOSE = 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_ring_counts_lie_between_the_optimum_and_the_epoch_relaxation(seed):
    slots = 1 + seed % 2
    rng = np.random.default_rng(seed)
    instance = tiny(rng, horizon_slots=slots, resources=1 + seed % 3 // 2)
    optimum, _ = brute_force(instance)
    counted = float(solve_form(count_form(instance).form, Limits()).bound)
    relaxed = epoch_form(instance.terms, largest_rings(instance.terms)).form
    assert optimum - CLOSE <= counted <= float(solve_form(relaxed, Limits()).bound) + CLOSE


def test_every_column_is_bounded_so_that_rounded_duals_prove_something():
    instance = tight(np.random.default_rng(0), jobs=12, link_factor=0.2, urgency=0.8)
    assert np.isfinite(count_form(instance).form.col_upper).all()


@pytest.mark.parametrize("seed", range(3))
def test_packed_slots_fit_and_never_exceed_what_is_wanted(seed):
    rng = np.random.default_rng(seed)
    instance = tight(rng, jobs=12, servers=4, horizon_slots=6, link_factor=0.3, urgency=0.8)
    terms, relaxation = instance.terms, count_form(instance)
    wanted = relaxation.by_epoch(solve_form(relaxation.form, Limits()).values, len(terms.jobs))
    packing = EpochPacking(terms, relaxation.epochs, largest_rings(terms), exact_slot)
    made = packing.pack(wanted, wanted.sum(axis=1), Limits(time_s=20), rng)
    assert (made.schedule.done <= wanted.sum(axis=1)).all()
    assert made.whole == (made.schedule.done == wanted.sum(axis=1)).all()
    for placed in made.schedule.mappings:
        assert total_loads(terms, placed).fit(terms)


def test_mutated_proofs_never_prove_more_than_the_optimum():
    instance = rigid(np.random.default_rng(0), jobs=4, servers=4)
    optimum, _ = brute_force(instance)
    found = offline(instance, Limits(), np.random.default_rng(0))
    proof = found.certificate
    assert isinstance(proof, ModelProof)
    assert certified_bound(PROBLEM, instance, proof) == pytest.approx(float(optimum))
    words = [line.split() for line in unpacked(proof.proof)]
    rng = np.random.default_rng(1)
    for _ in range(40):
        forged = [list(line) for line in words]
        line = forged[int(rng.integers(len(forged)))]
        line[int(rng.integers(len(line)))] = str(int(rng.integers(-40, 40)))
        text = packed(" ".join(line) for line in forged)
        try:
            proved = certified_bound(PROBLEM, instance, proof.model_copy(update={"proof": text}))
        except ValueError:
            continue
        assert proved >= optimum - CLOSE
    other = rigid(np.random.default_rng(1), jobs=4, servers=4)
    with pytest.raises(ValueError, match="model"):
        certified_bound(PROBLEM, other, proof)
