"""BGL, the data path of graph-learning training, as three problems.

- `partition`: which server stores which node of the graph.
- `cache`: in which order training nodes are visited, and which features a GPU keeps.
- `resources`: which share of cores and PCIe each stage of the pipeline gets.
"""
