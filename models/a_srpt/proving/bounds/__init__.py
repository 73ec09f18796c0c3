"""Lower bounds on the weighted sum of completions, each with a certificate.

- `combinatorial`: B0, B1 and B2, formulas that the check computes.
- `transportation`: B3, a linear program in which jobs may be interrupted.
- `time_indexed`: B4, the linear program of starts; `grid_program` solves it by column generation
  from the starts of a list schedule (`list_schedule`).
- `price`: B5, prices of GPU-time for thousands of jobs; `ascent` finds them, from
  `smith_prices` on.
- `server_price`: prices of parts of servers, which see fragmentation and communication, made of
  dual feasible functions (`dual_feasible`).
- `size_prices`: prices by size of job, which see that jobs are whole.
- `price_guided`: B5 with a schedule in the order of its prices.
- `outcome`: prices in doubles become certificates.
"""
