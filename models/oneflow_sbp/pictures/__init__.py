"""Pictures: `plan`, `edge`, `pareto`, `phases`."""
