"""What proves that no seller is better, and what finds the best one."""
