"""Interference- and topology-aware placement of training jobs: a family of two problems.

- `placement`: one batch of jobs, all of them placed at once, until each one's own end
- `queueing`: jobs arrive over time, and every slot they run somewhere or wait
- `subproblems`: what both share: clusters and jobs, slowdowns, contents of servers, placement rules
"""
