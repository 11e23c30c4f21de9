"""Trainings on a Ray cluster.

The driver's process never loads Ray. It talks to a broker, a child process that does: so what Ray prints,
its signal handlers, a call that hangs and a cluster that takes its clients with it when it dies stay outside.
On a node, a task of Ray is a thin shell around a supervised worker process, the same as a local one.
"""
