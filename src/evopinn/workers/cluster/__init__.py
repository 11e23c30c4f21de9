"""Trainings on a Ray cluster.

The driver's process never loads Ray. It talks to a child process that does, the broker, so that Ray's output,
its signal handlers, calls that hang and a cluster that kills its clients when it dies do not affect it. On a
node, a Ray task is a thin shell around a supervised worker process, the same as a local one.
"""
