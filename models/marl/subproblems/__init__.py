"""What the problems of the family share.

- `cluster`: servers, jobs, interference, and the fields of an instance that both problems have.
"""
