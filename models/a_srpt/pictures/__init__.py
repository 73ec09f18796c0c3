"""Pictures: `gantt`, `prices`, `ladder`, `flow_times`, `prediction_errors`."""
