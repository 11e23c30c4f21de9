"""The parts of llvmlite that are used; the package has no types of its own."""

__version__: str
