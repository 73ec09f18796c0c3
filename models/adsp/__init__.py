"""ADSP: commit rates of distributed SGD on workers of different speeds; a family of two problems.

- `rates`: how often each worker commits, against a model of the error (static, solved exactly).
- `training`: which synchronisation policy trains a model soonest (simulated, rates found online).
"""
