"""Exact methods, and the heuristic that they share.

- `portfolio`: the default method, `branch_and_price` and then `branch_and_check`.
- `branch_and_price`, `branching`: schedule columns in a tree.
- `branch_and_check`: a master without machines (`aggregated_mip`), schedules that meet its
  deadlines (`deadline_schedules`), packings of their slots (`slot_checks`, `slot_repair`), and
  a proof of what the master closed (`master_proof`).
- `slot_packing`, `machine_patterns`: the jobs of a slot onto its machines; `job_placement`: jobs
  placed one by one.
- `priced_search`: ruin and recreate at the prices of the column relaxation.
- `repacking_search`, `repacking_loops`, `repacking_moves`, `repacking_state`: the same, compiled,
  and slots are packed again.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "portfolio",
        kind="exact",
        summary="branch-and-price where the cluster is small, then or otherwise branch and check",
        reference="schedule columns and aggregated relaxation (reconstructed)",
        run=part("portfolio:portfolio"),
        parameters={"placing": "repacking"},
        choices={"placing": ("repacking", "choice")},
        formulation="aggregated",
        backend="highs",
        stochastic=True,
    ),
    Method(
        "branch_and_check",
        kind="exact",
        summary="completion slots without machines, then slots packed one by one, with cuts",
        reference="aggregated relaxation, slot checks (reconstructed)",
        run=part("branch_and_check:branch_and_check"),
        parameters={"placing": "repacking"},
        choices={"placing": ("repacking", "choice")},
        formulation="aggregated",
        backend="highs",
    ),
    Method(
        "branch_and_price",
        kind="exact",
        summary="schedule columns priced by the kernel, in a tree that keeps the kernel",
        reference="(10), (11), branching (reconstructed)",
        run=part("branch_and_price:branch_and_price"),
        formulation="schedule_columns",
        backend="highs",
    ),
    Method(
        "priced_search",
        kind="heuristic",
        summary="jobs placed at the prices of the column relaxation, some taken out and "
        "placed again",
        reference="ruin and recreate (reconstructed)",
        run=part("priced_search:priced_search"),
        parameters={"rounds": 300},
        formulation="column_lp",
        stochastic=True,
    ),
)
