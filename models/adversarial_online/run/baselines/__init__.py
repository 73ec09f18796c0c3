"""What the theory's policies are compared with (`policies`)."""
