"""Adversarial online allocation and pricing: policies, their worst cases, and the game.

- `run`: a stream of requests and what policies make of it
- `sequence`: the worst stream for given prices
- `policy`: the best randomised policy for a grid of values
- `subproblems`: posted prices, their exact replay, the offline optimum, price curves
"""

from gadgetopt.system.declaration import Citation

CITATION = Citation(
    authors="B. Du, Z. Huang, C. Wu",
    title="Adversarial Deep Learning for Online Resource Allocation",
    venue="ACM Transactions on Modeling and Performance Evaluation of Computing Systems 6(4)",
    year=2021,
    doi="10.1145/3494526",
    arxiv="2111.10285",
)
