"""Pictures of policies on their worst sequence (`worst`), and of what predictions cost."""
