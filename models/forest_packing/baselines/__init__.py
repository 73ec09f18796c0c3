"""Plans that forest packing is compared with, all written as tree pairs with rates.

- `forestcoll`: ForestColl's allgather trees and its allreduce.
- `rings_and_servers`: rings, parameter servers, double binary tree, recursive halving and doubling.
- `ring_order`: the best ring, by CP-SAT.
- `blueconnect`: rings along the axes of a grid of workers.
- `trees`: a widest spanning tree, and greedy peeling of widest trees.
- `blink`: trees from one GPU, reduced to a few.
"""
