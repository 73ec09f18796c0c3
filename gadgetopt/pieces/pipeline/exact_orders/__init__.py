"""Shortest orders of one plan's blocks.

- `windows`: by branch and bound on windows and sequences of blocks, and the proof that none are
  shorter; orders where windows leave little; `window_loops`: its loops
- `order_search`: the same; of very many microbatches by pairs of blocks; `order_loops`: its loop
"""
