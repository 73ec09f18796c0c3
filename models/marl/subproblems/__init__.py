"""What the problems of the family share.

- `cluster`: servers, jobs, interference, and the fields of an instance that both problems have.
- `contents`: contents of one server, and slowdowns in them.
- `loads`: how full a cluster is; `random_jobs`: random tables, jobs and clusters.
- `occupancy`: what lies where while a heuristic works.
- `orders`, `rules`, `jct_rule`, `placers`, `groups`: rules that place job after job.
- `learned`: policies that do.
- `heat_map`: the table of interference as a picture.
"""
