"""The interface of an engine, and the numbers and vectors that pass through it."""

from typing import Protocol

import torch
from torch import Tensor

from evopinn.errors import EngineError
from evopinn.network import Layout

Scalar = float | Tensor
"""A number, or a tensor without axes if reading it would make the host wait."""


class Engine(Protocol):
    """The interface of an engine; it serves one thread at a time.

    Residuals are scaled so that the loss is the sum of their squares.
    """

    name: str
    layout: Layout

    def loss_and_gradient(self, theta: Tensor) -> tuple[Scalar, Tensor]:
        """The loss and its gradient with respect to θ."""
        ...

    def residuals(self, theta: Tensor) -> Tensor:
        """All residuals r, shape (residuals,)."""
        ...

    def residuals_and_jacobian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """The residuals r and J = ∂r/∂θ, shapes (residuals,) and (residuals, parameters)."""
        ...

    def jacobian_product(self, theta: Tensor, direction: Tensor) -> Tensor:
        """J·v for a direction v in θ, shape (residuals,)."""
        ...

    def transposed_product(self, theta: Tensor, weighting: Tensor) -> Tensor:
        """Jᵀ·w for a weighting w of the residuals, shape (parameters,)."""
        ...


def check_vector(name: str, vector: Tensor, size: int, like: Tensor) -> None:
    """Refuse a vector that does not have an engine's size, precision and device."""
    if not isinstance(vector, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise EngineError(f"{name} is a {type(vector).__name__}; give a torch tensor.")
    if vector.shape != (size,) or vector.dtype != like.dtype or vector.device != like.device:
        given = f"{tuple(vector.shape)}, {vector.dtype}, {vector.device}"
        raise EngineError(f"{name} is {given}; this engine takes ({size},), {like.dtype}, {like.device}.")


def read_if_free(number: Tensor) -> Scalar:
    """A number from a tensor in the host's memory; a tensor on another device stays a tensor."""
    return number.item() if number.device.type == "cpu" else number


def read_numbers(*numbers: Scalar) -> list[float]:
    """Read numbers from any device, with a single wait.

    Args:
        numbers: Those that are tensors must be on one device.

    Examples:
        >>> read_numbers(0.5, torch.tensor(2.0), torch.tensor(True))
        [0.5, 2.0, 1.0]
    """
    away = [each for each in numbers if isinstance(each, Tensor) and not each.is_cpu]
    if not away:
        return [float(each) for each in numbers]
    read = iter(read_together(away))
    return [next(read) if any(each is far for far in away) else float(each) for each in numbers]


def read_together(numbers: list[Tensor]) -> list[float]:
    """Read numbers from one device with a single copy."""
    return [float(each) for each in torch.stack(numbers).cpu().numpy()]
