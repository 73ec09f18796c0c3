"""Interference- and topology-aware placement of training jobs: a family of two problems.

- `placement`: one batch of jobs, all of them placed at once, until each one's own end
- `queueing`: jobs arrive over time, and every slot they run somewhere or wait
- `subproblems`: what both share: clusters and jobs, slowdowns, contents of servers, placement rules
"""

from gadgetopt.system.declaration import Citation

CITATION = Citation(
    authors="X. Zhao, C. Wu",
    title="Large-Scale Machine Learning Cluster Scheduling via Multi-Agent Graph Reinforcement "
    "Learning",
    venue="IEEE Transactions on Network and Service Management 19(4), 4962-4974",
    year=2022,
    doi="10.1109/TNSM.2021.3139607",
    arxiv="2112.13354",
)
