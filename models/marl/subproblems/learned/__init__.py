"""What learned policies are made of (reconstructed).

- `fabric`: agents and their servers; the graphs of a server and of the data centre
- `sight`: what a policy sees when it places a task
- `network`: the two-level graph network; `linear`: a linear score
- `policies`: either of them from a file
- `placer`: a policy at work, as a placement rule
"""
