"""Lower bounds with certificates: `lagrangian`, of the model with the momentum cap."""
