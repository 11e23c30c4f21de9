"""The activation functions in common use, from which a search starts and hyperparameter tuning chooses."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evopinn.errors import UnknownNameError
from evopinn.genome.activation import Activation


@dataclass(frozen=True)
class CommonActivation:
    """An activation function by name.

    Attributes:
        name: Its name.
        forms: Texts of trees that compute it. The first is the simplest; another is larger and gives mutation
            more to work on.
    """

    name: str
    forms: tuple[str, ...]

    @property
    def activation(self) -> Activation:
        """The simplest tree."""
        return Activation.parse(self.forms[0])

    @property
    def activations(self) -> tuple[Activation, ...]:
        """The trees of all forms."""
        return tuple(Activation.parse(form) for form in self.forms)


# A second form exists only where it computes the same with one parameter on one edge. The quotient form of
# tanh(a*x) would need its parameter on two edges.
_ROWS = (
    CommonActivation("tanh", ("tanh(x)", "(exp(x)-exp(-x))/(exp(x)+exp(-x))")),
    CommonActivation("atan", ("atan(x)",)),
    CommonActivation("sin", ("sin(x)",)),
    CommonActivation("cos", ("cos(x)",)),
    CommonActivation("asinh", ("asinh(x)",)),
    CommonActivation("sigmoid", ("sigmoid(x)", "1/(exp(-x)+1)")),
    CommonActivation("recu", ("recu(x)",)),
    CommonActivation("swish", ("swish(x)", "x*sigmoid(x)")),
    CommonActivation("parametric-tanh", ("tanh(a*x)",)),
    CommonActivation("parametric-sin", ("sin(a*x)",)),
    CommonActivation("parametric-cos", ("cos(a*x)",)),
    CommonActivation("parametric-sigmoid", ("sigmoid(a*x)", "1/(exp(-a*x)+1)")),
    CommonActivation("parametric-swish", ("x*sigmoid(a*x)", "x/(exp(-a*x)+1)")),
)

COMMON: Mapping[str, CommonActivation] = MappingProxyType({row.name: row for row in _ROWS})


def common_activation(name: str) -> Activation:
    """The common activation function of a name; `UnknownNameError` if there is none."""
    try:
        return COMMON[name].activation
    except KeyError:
        raise UnknownNameError("common activation", name, COMMON) from None
