"""SMD: admission of training jobs with reservations, and workers and servers for each."""
