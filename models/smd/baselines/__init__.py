"""Baselines of the paper.

- `policies`: equal servers and workers (ESW), its best number, and Optimus
- `admission`: how they admit jobs
"""
