"""What an engine asks of the vectors that it is given."""

from torch import Tensor

from evopinn.errors import EngineError


def check_vector(name: str, vector: Tensor, size: int, like: Tensor) -> None:
    """Refuse a vector that has not an engine's size, precision and device."""
    if not isinstance(vector, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise EngineError(f"{name} is a {type(vector).__name__}; give a torch tensor.")
    if vector.shape != (size,) or vector.dtype != like.dtype or vector.device != like.device:
        given = f"{tuple(vector.shape)}, {vector.dtype}, {vector.device}"
        raise EngineError(f"{name} is {given}; this engine takes ({size},), {like.dtype}, {like.device}.")
