"""Certificates of bounds, and their checks.

`check`: the certificate and its check, with the bounds on one slot by total capacity or by prices.
`epoch_prices`: the bound on all slots by prices of capacity between arrivals.
`exact_utility`: utilities as exact fractions, rounded up.
`epochs`: the intervals between arrivals.
`largest_ring`: the largest ring that a job alone could have.
`bandwidth_tightening`: what sets of jobs can use of a link.
"""
