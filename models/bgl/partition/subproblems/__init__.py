"""What several rooms solve on the way.

- `elimination_order`: orders of the branched nodes with narrow frontiers.
- `completion`: parts of the nodes that are not branched on, at the least cost.
- `local_search`: moves and swaps, on arrays.
- `balance`: loads brought within the caps.
"""
