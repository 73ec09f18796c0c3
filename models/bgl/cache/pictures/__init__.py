"""Pictures: what a cache holds (`retention`), and what its size and the order change (`curves`)."""
