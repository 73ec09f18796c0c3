"""What several rooms solve on the way, and the structures they share."""
