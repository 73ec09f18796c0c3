"""Multi-dimensional and multiple-choice knapsacks, and the public benchmarks of both."""
