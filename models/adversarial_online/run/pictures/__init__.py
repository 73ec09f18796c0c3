"""Pictures of streams (`stream`) and of price curves (`curves`)."""
