"""The command line: arguments in, exit code out; the only place that prints results."""

from evopinn.cli.application import app, main

__all__ = ["app", "main"]
