"""GPUs of gangs: as many as asked for, never two gangs on one, neighbours where possible."""

import numpy as np
import pytest

from gadgetopt.pieces.gangs import assigned_gpus, runs


def test_runs_are_maximal_and_in_order():
    assert runs([]) == []
    assert runs([0, 1, 3, 4, 5, 9]) == [[0, 1], [3, 4, 5], [9]]


def test_the_smallest_run_that_holds_the_gang_is_taken():
    """GPUs 0, 2 and 3 are free when the third gang of two starts."""
    placed = assigned_gpus([4], [0, 0, 1], [1, 5, 3], [{0: 1}, {0: 1}, {0: 2}])
    assert placed == [{0: (0,)}, {0: (1,)}, {0: (2, 3)}]


@pytest.mark.parametrize("seed", range(20))
def test_no_gpu_is_held_twice(seed):
    rng = np.random.default_rng(seed)
    capacities, start, end, placement = [3, 2, 4], [], [], []
    free_at = [[0] * c for c in capacities]
    for _ in range(30):
        counts = {s: int(rng.integers(0, c + 1)) for s, c in enumerate(capacities)}
        held = [(s, i) for s, n in counts.items() for i in np.argsort(free_at[s])[:n].tolist()]
        begin = max((free_at[s][i] for s, i in held), default=0)
        for s, i in held:
            free_at[s][i] = begin + int(rng.integers(1, 4))
        finish = max((free_at[s][i] for s, i in held), default=begin + 1)
        for s, i in held:
            free_at[s][i] = finish
        start.append(begin)
        end.append(finish)
        placement.append(counts)
    ids = assigned_gpus(capacities, start, end, placement)
    for a in range(30):
        assert {s: len(held) for s, held in ids[a].items()} == {
            s: n for s, n in placement[a].items() if n
        }
        for b in range(a):
            if start[a] < end[b] and start[b] < end[a]:
                for s in ids[a].keys() & ids[b].keys():
                    assert not set(ids[a][s]) & set(ids[b][s])
