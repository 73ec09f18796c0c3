"""Jobs of cluster traces: formats, times and selections of rows, networks, windows as instances."""
