"""The exact methods: elimination, and branch and bound around it.

- `branch_and_bound`: elimination; with a memory limit, or where tables are too large, cases;
  CP-SAT for what they leave of small models. `division` divides cases.
- `elimination`: one elimination, refused where that cannot be exact.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="branch_and_bound",
        kind="exact",
        summary="elimination with memory priced in; then cases, best bound first",
        reference="3.7, 3.8 (ii); reconstructed",
        run=part("branch_and_bound:branch_and_bound"),
        parameters={"most_sums": 2**26},
        formulation="elimination",
    ),
    Method(
        name="elimination",
        kind="exact",
        summary="bucket elimination, smallest table first; without a memory limit",
        reference="3.7; reconstructed",
        run=part("elimination:elimination"),
        parameters={"most_sums": 2**32},
        formulation="elimination",
    ),
)
