"""From a genome to a network: the flat parameter vector, its start, the torch module."""

from evopinn.network.forward import forward, pre_activations
from evopinn.network.initial import initial_parameters
from evopinn.network.layout import Layout
from evopinn.network.module import Network

__all__ = ["Layout", "Network", "forward", "initial_parameters", "pre_activations"]
