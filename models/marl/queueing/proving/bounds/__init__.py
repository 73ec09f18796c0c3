"""Lower bounds with certificates.

- `relaxations`: every job alone; the cluster as one machine.
"""
