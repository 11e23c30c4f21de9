"""Runs in a browser, live while they go: a small server that reads stores and never writes to one."""
