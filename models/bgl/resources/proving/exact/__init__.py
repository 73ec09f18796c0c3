"""The exact method: parametric search (`parametric`)."""
