"""Execution of runs: isolated from each other, locally or on a Dask cluster.

The client (`client.py`, with Dask) hands each run to a *supervisor* (`supervisor.py`), the function
that a Dask worker's thread executes. The supervisor has a *solver process* (`solver_process.py`) of
its own do the solve and watches it from outside: whatever a method does to the process it runs in,
it costs that one run. The commands `solve` and `verify` have their one run or check done in such a
process too (`once.py`).
"""
