"""Proofs of branch and check: lemmas where deadlines cannot be met, and nowhere else; forgeries."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from gadgetopt.models.pd_ors import PROBLEM
from gadgetopt.models.pd_ors.data.generate.presets import paper
from gadgetopt.models.pd_ors.formulations import columns
from gadgetopt.models.pd_ors.proving.exact import branch_and_check as search
from gadgetopt.models.pd_ors.proving.exact.aggregated_mip import (
    COUNTS,
    AggregatedMip,
)
from gadgetopt.models.pd_ors.proving.exact.master_proof import (
    NoGood,
    lemma_of,
    proof_of_master,
)
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.files import unpacked
from gadgetopt.proofs.tree_kernel import Rejected, proved
from gadgetopt.solvers import highs, solve_model
from gadgetopt.system.data import ModelProof
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.certificate import certified_bound

from ...tiny_instances import (
    cluster,
    job_j,
    tiny_instance,
)

#: Each job takes two slots of the only machine, so no two are done by slot 2, or by 2 and 3.
CROWDED = cluster(
    [3],
    4,
    *(job_j(10.0 - k, 9.0 - k, 4.5 - k, 3.25 - k, samples=12) for k in range(3)),
)


def plenty():
    return 30.0


def refuted_pairs(mip):
    """Yield pairs of deadlines, and whether the relaxation in integers refutes them."""
    for i, j in combinations(mip.jobs, 2):
        for t in mip.completions[i]:
            for u in mip.completions[j]:
                deadlines = {i: t, j: u}
                found = mip.lowest_peak(deadlines, COUNTS, Limits(), 0, smooth=False)
                yield deadlines, found.status is Status.INFEASIBLE


def no_good(mip, deadlines):
    return NoGood(tuple(mip.no_good(deadlines)), len(deadlines))


def test_a_lemma_is_found_exactly_where_deadlines_cannot_be_met():
    seen = []
    for instance in (CROWDED, tiny_instance(0), tiny_instance(1)):
        mip = AggregatedMip(instance)
        model = exact_model(mip.form)
        for deadlines, refuted in refuted_pairs(mip):
            lemma = lemma_of(mip.form, model, no_good(mip, deadlines), plenty)
            assert (lemma is not None) == refuted
            seen.append(refuted)
    assert any(seen)
    assert not all(seen)


def test_the_checker_believes_lemmas_that_have_a_tree():
    mip = AggregatedMip(CROWDED)
    model = exact_model(mip.form)
    best = highs.solve_form(mip.form, Limits()).objective
    found = [no_good(mip, deadlines) for deadlines, refuted in refuted_pairs(mip) if refuted]
    proof = proof_of_master(mip.form, found, best, plenty)
    assert proof is not None
    assert float(certified_bound(PROBLEM, CROWDED, proof)) == pytest.approx(best)
    lines = list(unpacked(proof.proof))
    assert float(model.bound(proved(model, lines))) == pytest.approx(best)


def test_no_proof_is_given_of_less_than_the_optimum():
    mip = AggregatedMip(CROWDED)
    best = highs.solve_form(mip.form, Limits()).objective
    wrong = [no_good(mip, deadlines) for deadlines, refuted in refuted_pairs(mip) if not refuted]
    assert wrong
    assert proof_of_master(mip.form, wrong[:3], best - 0.5, plenty) is None


def test_forged_proofs_never_pass_the_optimum():
    rng = random.Random(7)
    mip = AggregatedMip(CROWDED)
    model = exact_model(mip.form)
    best = highs.solve_form(mip.form, Limits()).objective
    pairs = [deadlines for deadlines, refuted in refuted_pairs(mip) if refuted]
    honest = lemma_of(mip.form, model, no_good(mip, pairs[0]), plenty)
    proof = proof_of_master(mip.form, [no_good(mip, pair) for pair in pairs], best, plenty)
    lines = [*honest.lines, *unpacked(proof.proof)]
    passed = 0
    for _ in range(400):
        forged = list(lines)
        k = rng.randrange(len(forged))
        words = forged[k].split()
        kind = rng.randrange(4)
        if kind == 0:
            del forged[k]
        elif kind == 1:
            forged.insert(k, forged[rng.randrange(len(forged))])
        elif len(words) > 1:
            at = rng.randrange(1, len(words))
            if words[at].lstrip("-").isdigit():
                words[at] = str(int(words[at]) + rng.choice((-2, -1, 1, 2)))
            forged[k] = " ".join(words)
        try:
            least = proved(model, forged)
        except Rejected:
            continue
        passed += 1
        assert least is not None
        assert float(model.bound(least)) >= best * (1 - 1e-9)
    assert passed


def test_a_proof_of_another_instance_is_told():
    mip = AggregatedMip(CROWDED)
    best = highs.solve_form(mip.form, Limits()).objective
    proof = proof_of_master(mip.form, [], best, plenty)
    other = CROWDED.model_copy(update={"jobs": CROWDED.jobs[:2]})
    with pytest.raises(ValueError, match="of other data"):
        certified_bound(PROBLEM, other, proof)


def test_a_lemma_without_its_tree_is_rejected():
    mip = AggregatedMip(CROWDED)
    model = exact_model(mip.form)
    deadlines = next(d for d, refuted in refuted_pairs(mip) if refuted)
    lemma = lemma_of(mip.form, model, no_good(mip, deadlines), plenty)
    with pytest.raises(Rejected):
        proved(model, [lemma.lines[0], "tree", "l 0 0"])


def test_what_branch_and_check_closes_is_proved_and_is_the_optimum(monkeypatch):
    monkeypatch.setattr(search, "FIRST_PROOF_S", 30.0)
    kinds = set()
    for instance in (CROWDED, *(tiny_instance(seed) for seed in range(8))):
        best = solve_model(columns.build(instance), "highs", Limits(), 0).objective
        found = search.branch_and_check(instance, Limits())
        assert found.claimed_objective == pytest.approx(best)
        if found.certificate is not None:
            bound = certified_bound(PROBLEM, instance, found.certificate)
            assert float(bound) == pytest.approx(best)
            kinds.add(type(found.certificate))
    assert ModelProof in kinds


def test_an_instance_that_prices_do_not_prove_has_a_tree():
    instance = paper(np.random.default_rng(1), jobs=10, machines=10)
    mip = AggregatedMip(instance)
    best = highs.solve_form(mip.form, Limits()).objective
    proof = proof_of_master(mip.form, [], best, plenty)
    assert float(certified_bound(PROBLEM, instance, proof)) == pytest.approx(best, rel=1e-8)


def test_without_time_there_is_no_lemma():
    mip = AggregatedMip(CROWDED)
    deadlines = next(d for d, refuted in refuted_pairs(mip) if refuted)
    assert lemma_of(mip.form, exact_model(mip.form), no_good(mip, deadlines), lambda: 0.0) is None
