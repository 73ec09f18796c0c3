"""Models whose rows no solver resolves: what they found is kept, and bounds are proved exactly."""

from gadgetopt.system.files import read_instance
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.run import solve

#: The optimum is 37999, with one x. Solvers lose the remainder that it takes.
LARGE = """maximize
 value: 3 x + 2 y + 2 z
subject to
 room: 900000000000003 x + 700000000000001 y + 500000000000007 z <= 9500000000000000001
bounds
 x <= 100000
 y <= 100000
 z <= 100000
general
 x y z
end
"""

#: Every point satisfies the row, so the bounds of the columns prove the optimum.
ROOMY = """maximize
 value: x + y
subject to
 room: 35184372088833 x + 35184372088832 y <= 73786976294840000000
bounds
 x <= 1048576
 y <= 1048576
general
 x y
end
"""


def run_of(text, tmp_path):
    path = tmp_path / "model.lp"
    path.write_text(text)
    document = read_instance(path)
    return document, solve(document, "model@highs", Limits(time_s=60))


def test_what_the_root_proves_is_optimal(tmp_path):
    _, result = run_of(ROOMY, tmp_path)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 2**21, 2**21)
    assert result.bound_voucher is Voucher.VERIFIED


def test_tiny_duals_keep_their_digits_and_a_search_goes_for_the_objective(tmp_path):
    document, result = run_of(LARGE, tmp_path)
    assert result.objective <= 37999 <= result.bound <= 38000
    certified = certify(document, result, 60)
    assert certified.bound == 37999
    assert certified.bound_voucher is Voucher.VERIFIED
