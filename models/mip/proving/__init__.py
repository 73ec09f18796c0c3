"""What proves optima: the solver that suits a model. Proofs of its bounds are the toolkit's."""
