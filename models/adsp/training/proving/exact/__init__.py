"""The exact method: all policies that are offered, each simulated (`enumeration`)."""
