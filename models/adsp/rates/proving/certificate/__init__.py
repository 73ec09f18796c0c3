"""The checks of certificates, one file a kind of proof.

- `check`: the certificate and its check.
- `staircase`: thresholds and windows; no rates below the bound are left.
- `momentum_labels`: under the momentum cap, multipliers and labels.
"""
