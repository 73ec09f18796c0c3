"""Certificates of lower bounds on the makespan, and their checks: integers, no solver.

`check`: the certificate, and the bound that it proves.
`time_windows`: the bounds by the longest job, area and time windows.
`configurations`: the most that one slot can do at prices of iterations.
`mode_prices`: prices of modes, and what a job's iterations are worth at them.
`gpu_bins`: prices of jobs against what one GPU can run.
`exhaustion`: all schedules that could be shorter, pruned by prices of modes.
"""
