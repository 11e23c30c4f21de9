"""The sensitivity study: how much each choice of an architecture matters (the paper's section 2.2)."""
