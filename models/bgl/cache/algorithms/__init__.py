"""The paper's algorithm: proximity-aware orders and a FIFO cache (`bgl`)."""
