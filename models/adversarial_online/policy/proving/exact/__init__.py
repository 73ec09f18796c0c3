"""What closes games: by formula where there is one, else by a double oracle or a matrix.

- `kept_share`: the policy that keeps ALG at a share of OPT; optimal for every horizon.
- `minimax`: the method that the instance allows.
- `double_oracle`: sequences and policies are added until best responses meet.
- `matrix_game`: the best lottery over all non-decreasing tables.
- `master`, `seller`: program (2) on a growing set of histories, and policies for all of them.
- `worst_program`, `seller_program`: best responses of both players by HiGHS.
"""
