"""What several rooms solve on the way.

- `heavy_edge`, `mapping_search`: mappings of one job onto given servers; `mapper` keeps them.
- `free_servers`: servers by free GPUs, and which of them a job gets.
- `cluster`: the cluster as time goes by; `simulation` drives a policy through its events.
- `arrivals`, `predictors`, `shrunk`, `forest`: how many iterations a job will run, from what is
  known; `forecasts` says how good that was.
"""
