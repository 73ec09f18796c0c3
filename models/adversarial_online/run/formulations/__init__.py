"""The offline problem on paper (`packing`)."""
