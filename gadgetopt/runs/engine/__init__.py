"""Execution of runs: isolated from each other, on this machine or on a Dask cluster.

The client hands each run to a supervisor, a function in a thread of this process or of a Dask
worker elsewhere. The supervisor has its own solver process, which does the run, and enforces the
limits from outside: whatever a method does to its process, it costs that one run.

client           hands runs to threads and receives rows
here             threads of this process that supervise runs
elsewhere        what the workers of a cluster tell beside the rows
worker           the Dask worker whose thread this is, if any
batch            the runs that a store lacks, and how their results are recorded
supervisor       watches a solver process and stops it at a limit
copied           a solver process that begins as a copy of the command line
process_handle   the supervisor's side of a solver process
solver_process   does runs, one after another
once             a single solve or check, for the commands `solve` and `verify`
prover           searches for proofs of finished runs, for the command `certify`
searches         the searches for proofs at work, for the progress of a comparison
waiting          lines on standard error while a command waits
budget           how long the bound of a run may be worked on
work             messages between client, supervisor and solver process
finish           the row of a run, however it ended
interrupts       Ctrl-C as a request to finish
quiet            Dask's log kept off the terminal
machine          the memory and cores of this machine or container
"""
