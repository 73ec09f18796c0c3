"""The checks of certificates, one file a kind of proof.

- `check`: the certificate and its check; formulas are in `relaxations.py`.
- `price_checks`: prices of GPU-time.
- `server_prices`: prices of parts of servers.
- `pool_exhaustion`, `cluster_exhaustion`: no schedule of the pool, or of its servers, is cheaper;
  `pool_loops`: the first in machine code.
"""
