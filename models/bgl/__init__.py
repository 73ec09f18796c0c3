"""BGL, the data path of graph-learning training, as three problems.

- `partition`: which server stores which node of the graph.
- `cache`: in which order training nodes are visited, and which features a GPU keeps.
- `resources`: which share of cores and PCIe each stage of the pipeline gets.
"""

from gadgetopt.system.declaration import Citation

CITATION = Citation(
    authors="T. Liu, Y. Chen, D. Li, C. Wu, Y. Zhu, J. He, Y. Peng, H. Chen, H. Chen, C. Guo",
    title="BGL: GPU-Efficient GNN Training by Optimizing Graph Data I/O and Preprocessing",
    venue="NSDI, 103-118",
    year=2023,
    arxiv="2112.08541",
)
