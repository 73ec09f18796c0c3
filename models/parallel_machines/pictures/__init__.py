"""Pictures of schedules: the jobs of each machine (`loads`)."""
