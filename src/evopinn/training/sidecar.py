"""The schema of the file that describes a network's tensors, with the type of every value."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from evopinn.checks import MAX_COUNT, MAX_SEED, shown
from evopinn.errors import StoredModelError
from evopinn.training.status import Status

# What JSON has no number for (`nan`, `inf`) is there as text.
Number = Annotated[float, Field(strict=False)]
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Names = Annotated[list[str], Field(min_length=1)]


def _of_a_result(status: Status) -> Status:
    if not status.has_result:
        raise ValueError("a training that ends like this has no result")
    return status


class _SidecarTable(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class HistoryTable(_SidecarTable):
    """The history of a training."""

    losses: list[Number]
    error_epochs: list[Count]
    errors: dict[str, list[Number]]
    epochs: list[Number] = []


class Sidecar(_SidecarTable):
    """The description of a trained network: everything but its tensors."""

    format: int
    weights_sha256: str
    problem: str
    coordinates: Names
    fields: Names
    scales: Any = None
    genome: Any
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)]
    optimizer: str
    settings: dict[str, Any]
    status: Annotated[Status, Field(strict=False), AfterValidator(_of_a_result)]
    epochs: Count
    evaluations: Count
    seconds: Number
    loss: Number
    errors: dict[str, Number]
    residuals: dict[str, Number] = {}
    history: HistoryTable


def read_sidecar(data: object, origin: str) -> Sidecar:
    """The sidecar from plain data; an error names the wrong value.

    Args:
        data: The contents of the JSON file.
        origin: The file.
    """
    try:
        return Sidecar.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        fault = "it must be an object" if first["type"] == "model_type" else first["msg"]
        raise StoredModelError(
            f"{origin} is not a model saved by evopinn, or is damaged: {place} is {shown(first['input'])}; "
            f"{fault[:1].lower()}{fault[1:]}."
        ) from None
