"""CP-SAT, HiGHS and SCIP agree with enumeration on Pyomo models, or refuse them with a reason.

`python tests/toolkit/solvers/exact_models.py 5000` does the same with more drawings.
"""

from __future__ import annotations

import collections

import pytest

from gadgetopt.solvers.formulations.backends import installed

from .exact_models import judged


@pytest.mark.parametrize("block", range(6))
def test_solvers_and_enumeration_agree_or_refuse(block):
    seen: collections.Counter[str] = collections.Counter()
    for seed in range(50 * block, 50 * block + 50):
        for backend in ("cpsat", "highs"):
            seen[judged(seed, backend)] += 1
        if installed("scip"):
            judged(seed, "scip")
    assert seen["agrees"] + seen["infeasible"] > 60
    assert seen["agrees"] > 20
