"""What closes games: by formula where there is one, else by a double oracle or a matrix.

- `minimax`: the method that the instance allows.
- `kept_share`: the policy that keeps ALG at a share of OPT; optimal for every horizon.
- `double_oracle`: sequences and policies are added until best responses meet.
- `matrix_game`: the best lottery over all non-decreasing tables.
- `master`, `seller`: program (2) on a growing set of histories, and policies for all of them.
- `worst_program`, `seller_program`: best responses of both players by HiGHS.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="kept_share",
        kind="exact",
        summary="keeps the welfare at a share of the offline optimum; closed form",
        reference="this project",
        run=part("kept_share:kept_share"),
        formulation="kept_share",
    ),
    Method(
        name="minimax",
        kind="exact",
        summary="keeps a share of OPT where that is optimal, else the double oracle",
        reference="this project",
        run=part("minimax:minimax"),
        formulation="minimax",
    ),
    Method(
        name="double_oracle",
        kind="exact",
        summary="program (2) on few sequences, to which worst sequences are added",
        reference="McMahan, Gordon and Blum 2003; Bosansky et al. 2014",
        run=part("double_oracle:double_oracle"),
        parameters={"seller": "tree", "oracle": "dp", "rounds": 1000},
        choices={"seller": ("tree", "share"), "oracle": ("dp", "milp")},
        formulation="double_oracle",
        backend="highs",
    ),
    Method(
        name="matrix_game",
        kind="approximation",
        summary="best lottery over non-decreasing tables; sequences by dynamic programming",
        reference="section 5.4 of the notes, reconstructed",
        run=part("matrix_game:matrix_game"),
        parameters={"rounds": 1000},
        formulation="matrix_game",
        backend="highs",
    ),
)
