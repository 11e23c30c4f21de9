"""Genomes, which describe networks independently of the problems that they solve, and their variation.

A genome is a structure (layers, neurons, shortcuts), an activation function (a tree of operators with
learnable parameters on its edges) and a start (how initial weights are made; the paper's if nothing is said).
It has a text form that a person can write:

    >>> from evopinn.genome import Genome
    >>> print(Genome.parse("layers=6 neurons=48 activation=a*tanh(b*x)*cos(x)"))
    layers=6 neurons=48 shortcuts=none activation=a*tanh(b*x)*cos(x)

The names are listed in `__init__.pyi`. Each is imported on use: genomes and models load no torch.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs]

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType]
