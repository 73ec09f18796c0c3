"""Pictures of partitions."""
