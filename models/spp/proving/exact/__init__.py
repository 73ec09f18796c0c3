"""The exact method: all plans below the incumbent, and the best orders of each (`exact_spp`)."""
