"""Trees over the contents that prices leave: the optimum, and nothing above it, whoever wrote."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from gadgetopt.models.marl.placement.data.generate.presets import (
    leaf_spine,
    single_rack,
)
from gadgetopt.models.marl.placement.proving.certificate import closing as closing_checks
from gadgetopt.models.marl.placement.proving.certificate.check import (
    Closing,
    PlacementCertificate,
    check_bound,
    prices_of,
)
from gadgetopt.models.marl.placement.proving.certificate.closing import closing
from gadgetopt.models.marl.placement.proving.certificate.prices import (
    most_together,
    pays,
    priced,
)
from gadgetopt.models.marl.placement.proving.exact.closing_proof import (
    proof_of_optimum,
    proof_over_patterns,
    standard_form,
)
from gadgetopt.models.marl.placement.proving.exact.price_and_close import price_and_close
from gadgetopt.models.marl.subproblems.cluster import Measured
from gadgetopt.models.marl.subproblems.contents import Slowdowns, enumerate_contents, lots_of
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.files import packed, unpacked
from gadgetopt.proofs.tree_producer import need_for
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.certificate import certified_bound

from ...brute_force import (
    optimum,
    small_instance,
)

SECONDS = 60.0


def drawn(seed, racks=None):
    rng = np.random.default_rng(seed)
    while True:
        instance = small_instance(rng)
        best = optimum(instance) if instance.additive and instance.jobs else None
        if best is not None and (racks is None or len(instance.racks) == racks):
            return instance, Fraction(best), rng


def any_prices(instance, rng):
    """Prices of every job, the same for those that are alike; of some gangs by the tasks."""
    prices = rng.uniform(-1, 10, size=len(instance.jobs)).tolist()
    for j, job in enumerate(instance.jobs):
        together = most_together(instance, job)
        if job.num_tasks > 1 and together and rng.random() < 0.5:
            prices[j] = tuple(np.cumsum(rng.uniform(-1, 10, size=together)).tolist())
    for lot in lots_of(instance, merged=True):
        for j in lot.jobs:
            prices[j] = prices[lot.jobs[0]]
    return prices_of(prices)


@pytest.mark.parametrize("seed", range(30))
def test_a_tree_over_what_any_prices_leave_proves_the_optimum(seed):
    instance, best, rng = drawn(seed)
    prices, jobs = any_prices(instance, rng), len(instance.jobs)
    certificate = proof_of_optimum(instance, prices, best * jobs, lambda: SECONDS, folded=False)
    proved = check_bound(instance, certificate)
    assert best * (1 - Fraction(1, 10**8)) <= proved <= best
    folded = proof_of_optimum(instance, prices, best * jobs, lambda: SECONDS, folded=True)
    if len(instance.racks) == 1:
        assert folded is not None
    if folded is not None:
        assert check_bound(instance, folded) <= best


@pytest.mark.parametrize("seed", range(20))
def test_the_contents_are_those_of_enumeration(seed):
    instance, best, rng = drawn(100 + seed)
    prices = any_prices(instance, rng)
    lots = lots_of(instance, merged=True)
    slowdowns = Slowdowns(instance, lots)
    least_s, most = priced(instance, prices)
    target_s = best * len(instance.jobs) + int(rng.integers(0, 20))
    program = closing_checks._Program(instance, lots)
    near = closing_checks._Contents(instance, lots, prices, program.comm_s)
    for (gpus, cpus), largest in most.items():
        above = largest - (target_s - least_s)
        expected, largest_found = [], Fraction(0)
        for content in enumerate_contents(lots, gpus, cpus, 10**6):
            worth = Fraction(0)
            for (i, n), slowdown in zip(content, slowdowns.of(content), strict=True):
                lot = lots[i]
                share = Fraction(n, lot.tasks) if lot.gang else n
                apart = lot.gang and n < lot.tasks
                takes_s = lot.job_s * slowdown + (program.comm_s[i] if apart else 0)
                worth += pays(prices[lot.jobs[0]], n) - share * takes_s
            largest_found = max(largest_found, worth)
            if worth > above:
                expected.append(content)
        assert near.worth_more(gpus, cpus, above) == expected
        assert 0 <= largest - largest_found < Fraction(1, 10**6)


@cache
def honest():
    """Instances with their optimum and a proof of it."""
    found = []
    for seed in (0, 1, 4, 8):
        instance, best, rng = drawn(200 + seed)
        prices = any_prices(instance, rng)
        target_s = best * len(instance.jobs)
        proof = proof_of_optimum(instance, prices, target_s, lambda: SECONDS, folded=False).proof
        found.append((instance, best, proof))
    for preset, seed in ((single_rack, 3), (single_rack, 5), (leaf_spine, 5)):
        instance = preset(np.random.default_rng(seed), jobs=8)
        outcome = price_and_close(instance, Limits(), np.random.default_rng(0))
        if isinstance(outcome.certificate.proof, Closing):
            found.append((instance, outcome.claimed_objective, outcome.certificate.proof))
    assert len(found) >= 5
    return found


@pytest.mark.parametrize("seed", range(40))
def test_forged_proofs_prove_no_more_than_the_optimum(seed):
    rng = np.random.default_rng(seed)
    for instance, best, proof in honest():
        lines = list(unpacked(proof.proof))
        k = int(rng.integers(len(lines)))
        words = lines[k].split()
        way = rng.integers(6)
        if way == 0:
            del lines[k]
        elif way == 1:
            lines.insert(k, lines[k])
        elif way == 2 and len(words) > 1:
            words[int(rng.integers(1, len(words)))] = str(int(rng.integers(-9, 99)))
            lines[k] = " ".join(words)
        changes = {"proof": packed(lines)}
        if way == 3:
            changes = {"target_s": proof.target_s * Fraction(int(rng.integers(90, 130)), 100)}
        elif way == 4:
            changes = {"folded": not proof.folded}
        elif way == 5:
            changes = {"prices": any_prices(instance, rng)}
        forged = PlacementCertificate(proof=proof.model_copy(update=changes))
        try:
            bound = check_bound(instance, forged)
        except ValueError:
            continue
        assert bound <= best


def test_the_model_of_the_solver_is_that_of_the_check():
    instance, best, rng = drawn(3)
    prices = any_prices(instance, rng)
    model = closing(instance, prices, best * len(instance.jobs) + 5, folded=False).model
    read = exact_model(standard_form(model))
    assert read.rows == list(by_column(model))
    assert (read.costs, read.scale, read.upper) == (model.costs, model.scale, model.upper)
    assert need_for(read, Fraction(1)) == need_for(model, Fraction(1))


def by_column(model):
    """Rows with their terms in the order of columns."""
    for row in model.rows:
        pairs = sorted(zip(row.columns, row.coefficients, strict=True))
        yield row._replace(columns=[c for c, _ in pairs], coefficients=[a for _, a in pairs])


def test_measured_slowdowns_are_proved_over_patterns():
    instance = single_rack(np.random.default_rng(1), jobs=5, servers=3, types=2)
    measured = (Measured(victim=0, neighbours=(1, 1), slowdown=Fraction(3, 2)),)
    instance = instance.model_copy(update={"measured": measured})
    outcome = price_and_close(instance, Limits(), np.random.default_rng(0))
    best = Fraction(outcome.claimed_objective)
    certificate = proof_over_patterns(instance, best, lambda: SECONDS)
    bound = certified_bound(problem("marl_placement"), instance, certificate)
    assert float(bound) == pytest.approx(float(best), rel=1e-8)
    prices = (Fraction(1),) * len(instance.jobs)
    with pytest.raises(ValueError, match="slowdowns are measured"):
        closing(instance, prices, best, folded=True)


def test_too_many_contents_are_refused(monkeypatch):
    instance = single_rack(np.random.default_rng(0))
    prices = (Fraction(0),) * len(instance.jobs)
    with monkeypatch.context() as patch:
        patch.setattr(closing_checks, "MOST_STEPS", 100)
        with pytest.raises(ValueError, match="target_s: the check would take too long"):
            closing(instance, prices, Fraction(10**9), folded=True)
    monkeypatch.setattr(closing_checks, "MOST_CONTENTS", 100)
    with pytest.raises(ValueError, match="target_s: more than 100 contents of a server"):
        closing(instance, prices, Fraction(10**9), folded=True)


def test_jobs_that_are_alike_have_one_price():
    instance = single_rack(np.random.default_rng(0), jobs=2)
    single = instance.jobs[0].model_copy(update={"num_tasks": 1})
    instance = instance.model_copy(update={"jobs": (single, single)})
    with pytest.raises(ValueError, match="prices: jobs that are alike have several"):
        closing(instance, (Fraction(1), Fraction(2)), Fraction(1), folded=True)
