"""Statements of the paper, recalled and checked against its released source (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "transfer-alone",
        source="Table 2 as an objective",
        statement="the plan that moves the fewest bytes is a good plan",
        verdict="refuted",
        grade="refuted",
        check=part("checks:transfer_alone"),
        repair="compute or memory belongs in the objective or in a limit",
        proof="a group on which every device computes everything sends nothing: B to B is 0",
        witness=True,
        command="compare {} --methods all_broadcast,megatron,branch_and_bound",
        reconstructed=True,
    ),
    Statement(
        "volumes-of-the-compiler",
        source="Table 2 beside the released source",
        statement="the compiler's costs are the volumes of the table",
        verdict="refuted",
        grade="contradiction",
        check=part("checks:tables"),
        repair="two tables: `paper` and `oneflow`",
        proof="the source charges 1 for slicing and forbids conversions into partial values",
        witness=True,
        command="solve {}",
        reconstructed=True,
    ),
)
