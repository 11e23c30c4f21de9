"""Search methods compared at equal cost: the paper's section 4."""
