"""The fast share policy is the printed one."""

from collections import defaultdict
from fractions import Fraction

import numpy as np

from gadgetopt.models.adversarial_online.policy.algorithms import plain
from gadgetopt.models.adversarial_online.policy.algorithms.share_policy import share_policy

from ..brute_force import game, random_game


def test_the_fast_lottery_is_the_printed_one():
    for seed in range(150):
        rng = np.random.default_rng(seed)
        instance = random_game(rng)
        expected = defaultdict(Fraction)
        for chance, table in plain.share_policy(instance):
            expected[table] += chance
        fast = share_policy(instance).solution
        assert {posted.prices[0]: posted.probability for posted in fast.lottery} == expected


def test_shares_by_hand():
    # alpha* = 1 + 1/2 + 1/2 = 2: half of the units for all, a quarter from 2 on, one for 4.
    instance = game((1, 2, 4), 4, 12)
    assert plain.share_policy(instance) == [(1, (1, 1, 2, 4))]
