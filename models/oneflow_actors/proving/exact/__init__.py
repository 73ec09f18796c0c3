"""The search that closes the gap."""
