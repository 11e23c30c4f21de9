"""The network of a genome as an ordinary torch module."""

from collections.abc import Sequence

from torch import Tensor, nn

from evopinn.genome import Genome
from evopinn.network.forward import forward
from evopinn.network.layout import Layout
from evopinn.problem.scales import UNSCALED, Affine, Scales


class Network(nn.Module):
    """A genome's network: coordinates in, shape (n, inputs); fields out, shape (n, outputs).

    Args:
        genome: Structure and activation.
        inputs: Number of coordinates.
        outputs: Number of fields.
        theta: The flat vector of parameters; it is copied.
        scales: The maps of coordinates and fields.

    Examples:
        >>> import torch
        >>> from evopinn.network import Layout
        >>> genome = Genome.parse("layers=3 neurons=20 activation=tanh(x)")
        >>> theta = Layout.of_network(genome, 2, 1).initial(seed=0)
        >>> Network(genome, 2, 1, theta)(torch.zeros(5, 2, dtype=torch.float64)).shape
        torch.Size([5, 1])
    """

    coordinate_maps: Tensor | None
    field_maps: Tensor | None

    def __init__(
        self, genome: Genome, inputs: int, outputs: int, theta: Tensor, scales: Scales = UNSCALED
    ) -> None:
        super().__init__()
        self.genome = genome
        self.layout = Layout.of_network(genome, inputs, outputs)
        theta = theta.detach().clone()
        self.layers = nn.ModuleList()
        self.activations = nn.ParameterList()
        for layer in self.layout.layers:
            weight, bias = layer.weight.of(theta), layer.bias.of(theta)
            linear = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
            linear.weight, linear.bias = nn.Parameter(weight.clone()), nn.Parameter(bias.clone())
            self.layers.append(linear)
            if layer.activation.size:
                self.activations.append(nn.Parameter(layer.activation.of(theta).clone()))
        self.register_buffer("coordinate_maps", _rows(scales.coordinates, theta))
        self.register_buffer("field_maps", _rows(scales.fields, theta))

    def forward(self, points: Tensor) -> Tensor:
        """The fields on points."""
        if self.coordinate_maps is not None:
            points = (points - self.coordinate_maps[0]) / self.coordinate_maps[1]
        output = forward(self.genome, dict(self.named_parameters()), points)
        return output if self.field_maps is None else self.field_maps[0] + self.field_maps[1] * output

    @property
    def theta(self) -> Tensor:
        """The flat vector of parameters, a copy."""
        return self.layout.pack(dict(self.named_parameters())).detach()

    def extra_repr(self) -> str:
        """The genome, as text."""
        return str(self.genome)


def _rows(maps: Sequence[Affine], like: Tensor) -> Tensor | None:
    """The shifts and the sizes of maps, shape (2, n); None if there are none."""
    return like.new_tensor([[each.shift for each in maps], [each.size for each in maps]]) if maps else None
