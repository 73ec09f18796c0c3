"""Instances from profiles of networks (`profiles`): PipeDream, DAPPLE and dnn-partitioning."""
