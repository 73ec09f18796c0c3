"""Pictures: `reservations`, `surface`, `timeline`, `ratio_over_cluster`."""
