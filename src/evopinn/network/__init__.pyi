"""From a genome to a network: the layout of θ, the forward pass, the torch module."""

from .forward import forward, pre_activations
from .layout import LayerSlots, Layout, Slot
from .module import Network
from .starts import initial_theta

__all__ = ["LayerSlots", "Layout", "Network", "Slot", "forward", "initial_theta", "pre_activations"]
