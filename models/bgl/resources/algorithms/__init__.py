"""The paper's enumeration of all shares (`brute_force`)."""
