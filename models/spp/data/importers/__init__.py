"""Instances from profiles of real networks: PipeDream's, DAPPLE's and dnn-partitioning's."""
