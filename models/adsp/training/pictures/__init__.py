"""Pictures of training: `timeline`, `losses`, `time_to_target`, `shares`."""
