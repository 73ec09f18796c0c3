"""ADSP: commit rates of distributed SGD on workers of different speeds; a family of two problems.

- `rates`: how often each worker commits, against a model of the error (static, solved exactly).
- `training`: which synchronisation policy trains a model soonest (simulated, rates found online).
"""

from gadgetopt.system.declaration import Citation

CITATION = Citation(
    authors="H. Hu, D. Wang, C. Wu",
    title="Distributed Machine Learning through Heterogeneous Edge Systems",
    venue="AAAI 34(05), 7179-7186",
    year=2020,
    arxiv="1911.06949",
)
