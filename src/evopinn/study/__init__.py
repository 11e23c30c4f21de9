"""Studies: the paper's experiments as files, carried out as runs that can be stopped at any moment."""
