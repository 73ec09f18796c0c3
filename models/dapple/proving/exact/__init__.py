"""What closes gaps: all plans by labels, schedules of those that are left (`plans`)."""
