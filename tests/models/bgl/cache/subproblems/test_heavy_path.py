"""Heavy paths are those of the plain algorithm, which looks at all pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.bgl.cache.subproblems.ordering import heavy_path


def plain(weight, first):
    count = len(weight)
    path = [first]
    while left := set(range(count)) - set(path):
        path.append(max(left, key=lambda k: (weight[path[-1]][k], -k)))
    improved = True
    while improved:
        improved = False
        for i in range(count - 1):
            gains = {}
            for j in range(i + 1, count):
                gains[j] = weight[path[i]][path[j]] - weight[path[i]][path[i + 1]]
                if j + 1 < count:
                    gains[j] += weight[path[i + 1]][path[j + 1]] - weight[path[j]][path[j + 1]]
            j = max(gains, key=lambda k: (gains[k], -k))
            if gains[j] > 0:
                path[i + 1 : j + 1] = path[i + 1 : j + 1][::-1]
                improved = True
    return path


@given(st.integers(1, 9), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_it_is_that_of_the_plain_algorithm(count, share, seed):
    rng = np.random.default_rng(seed)
    half = np.triu(rng.integers(0, 5, (count, count)) * (rng.random((count, count)) < share), 1)
    first = int(rng.integers(count))
    assert heavy_path(half + half.T, first) == plain((half + half.T).tolist(), first)
