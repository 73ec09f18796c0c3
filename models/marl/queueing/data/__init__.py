"""Instances: generators and the learned policy's training."""
