"""Published schedules: GPipe and 1F1B (`one_f_one_b`)."""
