"""Runs: their configuration, driver, sessions, records and results.

Nothing is imported here: a worker's first act is to bind its life to its parent's, before anything heavy.
"""
