"""Pictures: the worst sequence of a seller (`worst`)."""
