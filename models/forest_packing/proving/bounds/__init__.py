"""Combinatorial upper bounds on the rate, each with a certificate.

- `partition`: the tree-packing number of symmetric networks and its tight partition.
- `subpartition`: the best allgather with free root shares and its tight subpartition.
- `rooted_cuts`: the tightest cut of a stage with given root shares.
"""
