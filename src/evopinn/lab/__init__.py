"""Studies and benchmarks: the paper's experiments and ours, with their tables and figures."""
