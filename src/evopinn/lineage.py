"""Words for where a task comes from, by which whoever reads a run tells its rounds apart.

They are not among the searchers, which write them: looking at a run must not wait for the libraries of those.
"""

PROPOSED = "proposed"
"""By Bayesian optimisation."""

RETRAINED = "retrained best"
"""The best of a generation of random search, once more."""

CANDIDATE = "candidate"
"""For the final evaluations."""
