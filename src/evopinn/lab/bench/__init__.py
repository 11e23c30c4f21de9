"""The benchmark: the engines beside their peers on one core, and the cost of searches.

Ratios are what counts: times depend on the machine, and on what else it does.
"""
