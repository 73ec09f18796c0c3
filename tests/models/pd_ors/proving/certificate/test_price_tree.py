"""Trees of prices: what honest ones prove, and that forged ones prove nothing below the optimum."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gadgetopt.models.pd_ors.data.generate.presets import desk
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.proving.certificate.check import check_bound
from gadgetopt.models.pd_ors.proving.certificate.price_tree import (
    Pricing,
    tree_bound,
)
from gadgetopt.models.pd_ors.proving.exact.branch_and_price import branch_and_price
from gadgetopt.proofs.files import packed, unpacked
from gadgetopt.proofs.tree_kernel import Rejected
from gadgetopt.system.result import Limits

from ...brute_force import optimum
from ...tiny_instances import (
    cluster,
    job_j,
    tiny_instance,
)

#: Blocks of 3 units on machines of 5: by volume there is room for four, on the machines for three.
BLOCKS = cluster([5, 5, 5], 1, *(job_j(10.0 - k) for k in range(4))).model_copy(
    update={"locality": "internal_only"}
)
CONFLICT = "conflict 0 2 1 1 2 1 2 2 1 3 2 1"


def proved(instance, *lines):
    rows = instance.terms.classes.tolist()
    return float(tree_bound(Pricing(instance, rows), lines))


def solved(instance, time_s=None):
    return branch_and_price(instance, Limits(time_s=time_s))


def test_without_prices_each_job_is_alone_in_the_cluster():
    assert proved(BLOCKS, "l 0") == pytest.approx(10 + 9 + 8 + 7)


def test_a_conflict_takes_the_least_of_its_jobs_away():
    # A charge of 7 for each block, and three of them at most: 3 x 7 + 3 + 2 + 1 + 0.
    assert proved(BLOCKS, CONFLICT, "l 0 | 0 1 7") == pytest.approx(27)
    # At half the charge: 3 x 3.5 + 6.5 + 5.5 + 4.5 + 3.5.
    assert proved(BLOCKS, CONFLICT, "l 1 | 0 1 7") == pytest.approx(30.5)


def test_a_split_leaves_the_worse_side():
    # Job 3 has two workers inside a machine, or it is rejected: it cannot have fewer in one slot.
    assert proved(BLOCKS, "w 3 1 2 1", "l 0", "l 0") == pytest.approx(34)
    # Left: 3 x 8 + 2 + 1 + 0 - 1, as job 3 has to be there; right: 10 + 9 + 8.
    lines = CONFLICT, "w 3 1 2 1", "l 0 | 0 1 8", "l 0"
    assert proved(BLOCKS, *lines) == pytest.approx(27)


def test_a_job_that_must_and_cannot_be_done_closes_a_leaf():
    # J with 12 samples takes two slots.
    instance = cluster([3, 3], 3, job_j(10, 9, 4, samples=12))
    assert proved(instance, "c 0 1", "l 0", "l 0") == pytest.approx(9)
    assert proved(instance, "c 0 2", "l 0", "l 0") == pytest.approx(9)


REJECTED = {
    "conflict 0 2 1 1 2 1": "fit into a slot",
    "conflict 0 2 1 0 2 1 1 2 1 2 2 1 3 2 1": "a job twice",
    "conflict 0 0 1": "0 workers",
    "conflict 0 5 1": "5 workers",
    "conflict 4 1 1": "no job 4",
    "conflict 0 2": "not of the form",
    "conflict": "not of the form",
    "l 0 0 -1": "negative",
    "l 0 -1 1": "negative",
    "l 0 1 1": "index 1 is out of bounds",
    "l 0 0 1.5": "invalid literal",
    "l 0 0": "not of the form",
    "l 401": "not of the form",
    "l -1": "not of the form",
    "l 0 | 0 1 1": "out of range",
    "l 0 | 0 2 1": "no slot 2",
    "x 0": "in place of a split",
    "c 0": "in place of a split",
    "c -1 1": "no job -1",
    "w 0 1 1 2": "inside 2",
    "w 0 0 1 1": "no slot 0",
    "c 0 1": "ends before",
    "": "not enough values",
}


@pytest.mark.parametrize("line", REJECTED)
def test_what_is_no_proof_is_rejected(line):
    with pytest.raises(Rejected, match=REJECTED[line]):
        proved(BLOCKS, line)


def test_lines_after_the_tree_are_rejected():
    with pytest.raises(Rejected, match="after the tree"):
        proved(BLOCKS, "l 0", "l 0")


@pytest.fixture(scope="module")
def honest():
    """Instances with their optimum and the text of the tree that proves it."""
    instances = [tiny_instance(seed) for seed in (2, 4, 5, 10, 14, 54)]
    small = {"jobs": 6, "machines": 3, "horizon_slots": 4, "largest_batch": 6}
    instances += [desk(np.random.default_rng(seed), **small) for seed in (16, 31)]
    found = []
    for instance in instances:
        outcome = solved(instance)
        judged = evaluate(instance, outcome.solution)
        assert judged.feasible
        found.append((instance, judged.objective, list(unpacked(outcome.certificate.tree))))
    kinds = {line.split()[0] for _, _, lines in found for line in lines}
    assert kinds == {"conflict", "c", "w", "l"}
    return found


def test_honest_trees_prove_the_optimum(honest):
    for instance, best, lines in honest:
        assert best <= proved(instance, *lines) <= best * (1 + 1e-9)


def changed(lines, rng):
    """Return a copy with a line left out, repeated, moved or changed in a number or word."""
    lines = list(lines)
    k = rng.randrange(len(lines))
    what = rng.randrange(6)
    if what == 0:
        del lines[k]
    elif what == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines[k])
    elif what == 2:
        j = rng.randrange(len(lines))
        lines[j], lines[k] = lines[k], lines[j]
    else:
        words = lines[k].split()
        at = rng.randrange(len(words))
        if words[at].lstrip("-").isdigit():
            n = int(words[at])
            words[at] = str(rng.choice([0, 1, n + 1, n - 1, 2 * n, n // 2, -n, 3 * n + 1, 10**30]))
        else:
            words[at] = rng.choice(["c", "w", "l", "conflict", "|"])
        lines[k] = " ".join(words)
    return lines


@pytest.mark.parametrize("seed", range(3))
def test_forged_trees_prove_nothing_below_the_optimum(honest, seed):
    rng = random.Random(seed)
    outcomes = {"rejected": 0, "proved": 0}
    for _ in range(150):
        instance, best, lines = rng.choice(honest)
        for _ in range(rng.randint(1, 3)):
            lines = changed(lines, rng) or ["l 0"]
        try:
            assert proved(instance, *lines) >= best * (1 - 1e-12)
            outcomes["proved"] += 1
        except Rejected:
            outcomes["rejected"] += 1
    assert min(outcomes.values()) > 5


def random_tree(instance, rng, depth):
    """Return lines of a tree of any splits, with any prices at its leaves."""
    jobs, horizon = len(instance.jobs), instance.horizon_slots
    if depth == 0 or rng.random() < 0.3:
        rows = max(instance.terms.classes.tolist()) + 1
        places = horizon * rows * len(instance.resources)
        words = [f"{q} {rng.choice([0, 1, 3, 10, 40, 1000])}" for q in range(places)]
        return [" ".join(["l 3", *words])]
    i, t = rng.randrange(jobs), rng.randint(1, horizon)
    n = rng.randint(1, instance.jobs[i].global_batch)
    split = rng.choice([f"c {i} {t}", f"w {i} {t} {n} {rng.randrange(2)}"])
    return [
        split,
        *random_tree(instance, rng, depth - 1),
        *random_tree(instance, rng, depth - 1),
    ]


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 8, 9, 11, 14, 15, 18])
def test_no_tree_of_any_splits_and_prices_is_below_the_optimum(seed):
    instance = tiny_instance(seed)
    best, rng = optimum(instance), random.Random(seed)
    for _ in range(10):
        assert proved(instance, *random_tree(instance, rng, 4)) >= best * (1 - 1e-12)


@pytest.mark.parametrize("seed", [3, 7])
def test_searches_that_are_stopped_have_a_proof_of_their_bound(seed):
    instance = desk(np.random.default_rng(seed), jobs=12, machines=4, horizon_slots=8)
    for time_s in (0.0, 0.1, 0.5):
        outcome = solved(instance, time_s)
        bound = check_bound(instance, outcome.certificate)
        assert outcome.claimed_objective * (1 - 1e-9) <= bound
        if outcome.dual_bound is not None:
            assert bound <= outcome.dual_bound * (1 + 1e-9)


def test_a_tree_of_another_instance_proves_nothing_wrong(honest):
    other = tiny_instance(5)
    best = optimum(other)
    for _, _, lines in honest:
        try:
            assert proved(other, *lines) >= best * (1 - 1e-12)
        except Rejected:
            continue


def test_a_certificate_with_a_tree_says_where_it_is_wrong():
    certificate = solved(BLOCKS).certificate
    assert check_bound(BLOCKS, certificate) == pytest.approx(27)
    for tree, match in ((packed(["l"]), "tree: "), ("?", "tree: is not the compressed text")):
        with pytest.raises(ValueError, match=match):
            check_bound(BLOCKS, certificate.model_copy(update={"tree": tree}))
