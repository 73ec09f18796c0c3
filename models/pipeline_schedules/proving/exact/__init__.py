"""What closes gaps: bounds and many schedules, then CP-SAT by questions (`close_gap`)."""
