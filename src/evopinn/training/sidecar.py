"""What the file beside a network's tensors must say: every value is of the kind that the rest relies on."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evopinn.checks import MOST, MOST_SEED, shown
from evopinn.errors import StoredModelError
from evopinn.training.status import Status

# What JSON has no number for (`nan`, `inf`) is there as text.
Number = Annotated[float, Field(strict=False)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Names = Annotated[list[str], Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class HistoryTable(_Strict):
    """The course of a training, as it is written down."""

    losses: list[Number]
    error_epochs: list[Count]
    errors: dict[str, list[Number]]
    epochs: list[Number] = []


class Sidecar(_Strict):
    """All that is written down of a trained network, apart from its tensors."""

    format: int
    weights_sha256: str
    problem: str
    coordinates: Names
    fields: Names
    genome: Any
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)]
    optimizer: str
    settings: dict[str, Any]
    status: Annotated[Status, Field(strict=False)]
    epochs: Count
    evaluations: Count
    seconds: Number
    loss: Number
    errors: dict[str, Number]
    residuals: dict[str, Number] = {}
    history: HistoryTable


def read_sidecar(data: object, origin: str) -> Sidecar:
    """The sidecar of plain data; what is wrong with it is told in a sentence.

    Args:
        data: As JSON has it.
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
