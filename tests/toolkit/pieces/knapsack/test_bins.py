"""Items of a few sizes and bins: against every server for every item, and all bins there are."""

from itertools import islice, product

import numpy as np
import pytest

from gadgetopt.pieces.knapsack.bins import (
    arrangements,
    blocks_of,
    distributions,
    enough_bins,
    fit,
    fit_apart,
)


def packs(blocks, free):
    """Return True if blocks, given one by one, fit into bins: every bin for every block."""
    if not blocks:
        return True
    return any(
        packs(blocks[1:], (*free[:m], f - blocks[0], *free[m + 1 :]))
        for m, f in enumerate(free)
        if f >= blocks[0]
    )


def drawn(rng):
    """Draw sizes with their counts, and bins."""
    sizes = rng.choice([1, 2, 3, 4, 5, 6], 3).tolist()
    counts = rng.integers(0, 4, 3).tolist()
    return sizes, counts, tuple(rng.integers(0, 9, int(rng.integers(1, 5))).tolist())


def test_blocks_fit_where_some_packing_holds_them():
    rng = np.random.default_rng(0)
    answers = set()
    for _ in range(1000):
        sizes, counts, free = drawn(rng)
        each = [t for t, k in zip(sizes, counts, strict=True) for _ in range(k)]
        found = fit(blocks_of(sizes, counts), free)
        assert found == packs(tuple(sorted(each, reverse=True)), free), (sizes, counts, free)
        answers.add(found)
    assert answers == {True, False}
    assert not fit(((2, 1),), (1, 1))


def test_where_the_best_fit_fails_another_packing_is_found():
    """4, 3, 3, 3 in 7 and 6: 4 fills 6 best, and then a 3 is left; 4 + 3 and 3 + 3 fit.

    In 8 and 5 they do not, though 13 is 13: 5 takes one of them, 8 two.
    """
    assert fit(((4, 1), (3, 3)), (7, 6))
    assert not fit(((4, 1), (3, 3)), (8, 5))


def test_some_blocks_stay_out_of_the_first_bins():
    """Every bin for every block, those that stay out first and in the other bins alone."""
    rng = np.random.default_rng(2)
    answers = {True: 0, False: 0}
    for _ in range(1000):
        (out, *sizes), (number, *counts), free = drawn(rng)
        apart = int(rng.integers(0, len(free) + 1))
        each = [t for t, k in zip(sizes, counts, strict=True) for _ in range(k)]
        largest_first = tuple(sorted(each, reverse=True))
        expected = any(
            packs(largest_first, (*free[:apart], *left))
            for left in all_left(out, number, free[apart:])
        )
        blocks = blocks_of(sizes, counts)
        found = fit_apart(blocks, free[:apart], (out, number), free[apart:])
        assert found == expected, (blocks, free, apart, out, number)
        answers[found] += 1
    assert min(answers.values()) > 200


def all_left(size, number, free):
    """Yield what is left of bins beside items of one size, in every way."""
    for counts in product(*(range(f // size + 1) for f in free)):
        if sum(counts) == number:
            yield tuple(f - size * x for f, x in zip(free, counts, strict=True))


def test_enough_bins_are_enough_and_the_last_one_is_needed():
    rng = np.random.default_rng(1)
    for _ in range(400):
        sizes, counts, free = drawn(rng)
        blocks = blocks_of(sizes, counts)
        if not fit(blocks, free):
            continue
        for consolidate in (False, True):
            chosen = enough_bins(free, blocks, consolidate=consolidate)
            held = [free[m] for m in chosen]
            assert fit(blocks, held)
            assert not chosen or not fit(blocks, held[:-1])
            assert held == sorted(held) or consolidate
        if chosen:  # no smaller bin would do in place of the last one
            assert not any(
                fit(blocks, [*held[:-1], free[m]])
                for m in range(len(free))
                if m not in chosen and free[m] < held[-1]
            )
            assert held[:-1] == sorted(free, reverse=True)[: len(held) - 1]


@pytest.mark.parametrize("capacities", [(), (3,), (1, 2, 3), (2, 2, 2, 1), (4, 1, 1)])
@pytest.mark.parametrize("total", range(8))
def test_arrangements_are_all_there_are(total, capacities):
    every = [row for row in product(*(range(c + 1) for c in capacities)) if sum(row) == total]
    assert list(arrangements(total, capacities)) == sorted(every, reverse=True)


def test_distributions_are_all_there_are_the_first_bins_full_first():
    rng = np.random.default_rng(0)
    for _ in range(200):
        bins = int(rng.integers(0, 5))
        capacities = rng.integers(0, 4, bins).tolist()
        alike = [m > 0 and bool(rng.random() < 0.4) for m in range(bins)]
        total, most = int(rng.integers(0, 8)), int(rng.integers(1, 4))

        def may_go_on(row, need, most=most):
            return row[-1] <= most and need != 1

        ways = [
            row
            for row in product(*(range(c + 1) for c in capacities))
            if sum(row) == total and all(not alike[m] or row[m] <= row[m - 1] for m in range(bins))
        ]
        ways.sort(reverse=True)
        assert list(distributions(total, capacities, alike)) == ways
        kept = [
            row
            for row in ways
            if all(may_go_on(row[: m + 1], total - sum(row[: m + 1])) for m in range(bins))
        ]
        assert list(distributions(total, capacities, alike, may_go_on)) == kept


def test_distributions_over_thousands_of_bins():
    bins = 2000
    alike = [False, *[True] * (bins - 1)]
    first, second = islice(distributions(bins, [2] * bins, alike), 2)
    assert first == (2,) * (bins // 2) + (0,) * (bins // 2)
    assert second == (2,) * (bins // 2 - 1) + (1, 1) + (0,) * (bins // 2 - 1)
    assert list(distributions(bins, [1] * bins, alike)) == [(1,) * bins]
