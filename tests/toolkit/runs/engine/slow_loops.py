"""A loop that takes seconds and much memory to compile, but neither once it is in its cache."""

import math
import time

from numba.extending import overload

from gadgetopt.numbers.compiled import compiled

COMPILE_S, COMPILE_MB = 3.0, 400

ballast = []


def same(x):
    return x


@overload(same)
def _same(x):
    time.sleep(COMPILE_S)
    ballast.append(b"1" * (COMPILE_MB * 1_000_000))
    return lambda x: x


@compiled
def slowly_compiled(x):
    return same(x)


slowly_compiled.plain_s = math.inf  # as if it had had much to do
