"""The element-wise part of a layer by torch operations, on any device."""

from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor

from evopinn.engine.channels import Channels
from evopinn.engine.layer_formulas import LayerFormulas
from evopinn.engine.program import BoundProgram, Program, saved_for
from evopinn.engine.propagation import ArraySource, LayerArrays
from evopinn.genome import Activation
from evopinn.symbolic import Symbol


@dataclass(frozen=True)
class LayerPrograms:
    """The programs of an activation on a set of channels.

    Attributes:
        formulas: Their formulas.
        saved: The results of the forward pass that the others need.
        forward: From z to a and the saved results.
        adjoint: From a_bar to z_bar and the parameters' adjoints.
        tangent: From z_dot to a_dot.
    """

    formulas: LayerFormulas
    saved: tuple[Symbol, ...]
    forward: Program
    adjoint: Program
    tangent: Program


@lru_cache(maxsize=64)
def layer_programs(activation: Activation, channels: Channels) -> LayerPrograms:
    """The programs of an activation on a set of channels, made once."""
    formulas = LayerFormulas(activation, channels)
    saved = saved_for(formulas.adjoint, formulas.forward)
    return LayerPrograms(
        formulas,
        saved,
        Program.of([*formulas.forward, *saved]),
        Program.of(formulas.adjoint, saved),
        Program.of(formulas.tangent, saved),
    )


class PortableKernels:
    """Makes element-wise parts of layers that run torch operations.

    Args:
        activation: The activation of all layers.
    """

    def __init__(self, activation: Activation) -> None:
        self._activation = activation

    def bind(
        self, channels: Channels, arrays: LayerArrays, own: ArraySource, shared: ArraySource
    ) -> "PortableLayer":
        """The element-wise part of a layer on these arrays."""
        return PortableLayer(layer_programs(self._activation, channels), arrays, own, shared)


class PortableLayer:
    """The element-wise part of a layer by torch operations on arrays that are kept."""

    def __init__(
        self, programs: LayerPrograms, arrays: LayerArrays, own: ArraySource, shared: ArraySource
    ) -> None:
        self._programs = programs
        self._arrays = arrays
        formulas = programs.formulas
        shape = tuple(arrays.a.shape[1:])
        saved = [own(f"saved{number}-", shape) for number in range(len(programs.saved))]
        buffers = [
            shared(f"buffer{number}", shape)
            for number in range(
                max(programs.forward.buffers, programs.adjoint.buffers, programs.tangent.buffers)
            )
        ]
        known = {**_paired(formulas.z, arrays.z), **dict(zip(programs.saved, saved, strict=True))}
        self._forward: BoundProgram = programs.forward.bind(
            _paired(formulas.z, arrays.z), buffers, [*arrays.a.unbind(), *saved]
        )
        self._adjoint: BoundProgram = programs.adjoint.bind(
            known | _paired(formulas.a_bar, arrays.a_bar),
            buffers,
            [*arrays.z_bar.unbind(), *arrays.parameter_bars.unbind()],
        )
        self._tangent: BoundProgram = programs.tangent.bind(
            known | _paired(formulas.z_dot, arrays.z_dot), buffers, arrays.a_dot.unbind()
        )

    def forward(self, bias: Tensor, parameters: Tensor) -> None:
        """From z, to which the bias is added, to a."""
        self._arrays.z[0] += bias
        self._forward(_paired(self._programs.formulas.parameters, parameters))
        if self._arrays.carried is not None:
            self._arrays.a.add_(self._arrays.carried)

    def adjoint(self, parameters: Tensor) -> Tensor:
        """From a_bar to z_bar and the parameters' adjoints."""
        return self.adjoint_by_element(parameters).sum(dim=(1, 2))

    def adjoint_by_element(self, parameters: Tensor) -> Tensor:
        """From a_bar to z_bar and the parameters' adjoints at each element."""
        self._adjoint(_paired(self._programs.formulas.parameters, parameters))
        return self._arrays.parameter_bars

    def tangent(self, parameters: Tensor, parameter_dots: Tensor) -> None:
        """From z_dot to a_dot."""
        formulas = self._programs.formulas
        self._tangent(
            _paired(formulas.parameters, parameters) | _paired(formulas.parameter_dots, parameter_dots)
        )


def _paired(symbols: tuple[Symbol, ...], values: Tensor) -> dict[Symbol, Tensor]:
    return dict(zip(symbols, values.unbind(), strict=True))
