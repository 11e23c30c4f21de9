"""Numbers on their way from a device to the host, which has to wait for the device whenever it reads one."""

import torch
from torch import Tensor

Number = float | Tensor
"""A number, or a tensor without axes where to read it would make the host wait."""


def read_if_free(number: Tensor) -> Number:
    """A number that lies in the host's memory as such; on another device it stays where it is."""
    return number.item() if number.device.type == "cpu" else number


def fetched(*numbers: Number) -> list[float]:
    """Numbers wherever they are, for one wait in all.

    Args:
        numbers: Those that are tensors must be on one device.

    Examples:
        >>> fetched(0.5, torch.tensor(2.0), torch.tensor(True))
        [0.5, 2.0, 1.0]
    """
    away = [each for each in numbers if isinstance(each, Tensor) and not each.is_cpu]
    if not away:
        return [float(each) for each in numbers]
    read = iter(together(away))
    return [next(read) if any(each is far for far in away) else float(each) for each in numbers]


def together(numbers: list[Tensor]) -> list[float]:
    """Numbers that lie on one device, by one copy from there."""
    return [float(each) for each in torch.stack(numbers).cpu().numpy()]
