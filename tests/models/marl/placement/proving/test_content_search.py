"""The search finds the contents that an enumeration finds, and no others."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.marl.placement.proving.bounds.column_generation import content_costs
from gadgetopt.models.marl.placement.proving.certificate.prices import PricedContents
from gadgetopt.models.marl.placement.proving.content_search import ContentSearch
from gadgetopt.models.marl.placement.proving.terms import Terms
from gadgetopt.models.marl.subproblems.contents import Slowdowns, enumerate_contents

from ..brute_force import small_instance


def drawn(seed):
    rng = np.random.default_rng(seed)
    while True:
        instance = small_instance(rng)
        if instance.jobs:
            return instance, rng


def pairs(contents, row):
    return tuple(
        sorted(
            (i, n)
            for i, n in zip(contents.lot[row].tolist(), contents.tasks[row].tolist(), strict=True)
            if n
        )
    )


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_all_contents_are_found_with_their_slowdowns_and_costs(seed, merged):
    instance, _ = drawn(seed)
    terms = Terms(instance, merged=merged)
    slowdowns = Slowdowns(instance, terms.lots)
    for kind in terms.kinds:
        found = ContentSearch(terms, kind).all
        expected = enumerate_contents(terms.lots, kind.gpus, kind.cpus, 10**6)
        assert sorted(pairs(found, r) for r in range(len(found))) == expected
        costs = content_costs(terms, found)
        for r in range(len(found)):
            content = pairs(found, r)
            of_lot = dict(zip((i for i, _ in content), slowdowns.of(content), strict=True))
            used = found.tasks[r] > 0
            for i, slowdown in zip(found.lot[r][used], found.slowdown[r][used], strict=True):
                assert slowdown == pytest.approx(float(of_lot[i]), abs=1e-12)
            cost = sum(
                (n / terms.tasks[i] if terms.lots[i].gang else n)
                * (
                    float(terms.lots[i].job_s * of_lot[i])
                    + (float(terms.comm_s[i]) if n < terms.tasks[i] else 0)
                )
                for i, n in content
            )
            assert costs[r] == pytest.approx(cost)


@pytest.mark.parametrize("seed", range(25))
def test_a_threshold_leaves_out_exactly_what_is_worth_less(seed):
    instance, rng = drawn(seed)
    terms = Terms(instance)
    price = rng.uniform(-2, 10, size=len(terms.lots))
    for kind in terms.kinds:
        search = ContentSearch(terms, kind)
        every = search.above(price, -np.inf, most=10**6)
        if not len(every):
            continue
        for part in (0.0, 0.3, 0.7, 1.0):
            least = float(np.quantile(every.worth, part)) - 1e-9
            some = search.above(price, least, most=10**6)
            assert len(some) == int((every.worth >= least).sum())
            assert np.sort(some.worth) == pytest.approx(np.sort(every.worth[every.worth >= least]))
        assert search.best(price, most=10**6) == pytest.approx(max(0.0, every.worth.max()))
        few = search.above(price, -np.inf, most=max(0, len(every) - 1))
        assert few is None


@pytest.mark.parametrize("seed", range(40))
def test_the_check_by_profiles_finds_the_same_most_worth(seed):
    """Two searches that share no line: growing contents, and a dynamic program for every mix."""
    instance, rng = drawn(seed)
    terms = Terms(instance)
    prices = np.round(rng.uniform(-2, 10, size=len(terms.lots)), 3)
    of_job = [0] * len(instance.jobs)
    for lot, price in zip(terms.lots, prices, strict=True):
        for j in lot.jobs:
            of_job[j] = price
    contents = PricedContents(instance, [Fraction(str(x)) for x in of_job])
    for kind in terms.kinds:
        most = ContentSearch(terms, kind).best(prices, most=10**6)
        assert float(contents.most(kind.gpus, kind.cpus)) == pytest.approx(most, abs=1e-9)
