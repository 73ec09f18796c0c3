"""Picture of a solution: the matrix, its classes of rows, and what the solution uses (`matrix`)."""
