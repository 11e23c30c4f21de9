"""What the options of a search say, as a configuration has it."""

import re
from typing import Any, cast

from evopinn.errors import SearchError

_WORD = re.compile(r"=\s*(?!(?:true|false|inf|nan)\s*$)([A-Za-z][A-Za-z-]*)\s*$")


def check_faithful(method: str) -> None:
    """Refuse `--faithful` for what is no Bayesian optimisation."""
    from evopinn.searchers import METHODS, find_method

    if find_method(method).layout != "trials":
        others = " or ".join(row.name for row in METHODS.values() if row.layout == "trials")
        raise SearchError(
            f"--faithful is for Bayesian optimisation, but the method is {method}; leave it out, or give "
            f"--method {others}."
        )


def amount(
    budget: str | None, preset: str | None, populations: str | None, trials: int | None, epochs: str | None
) -> dict[str, Any]:
    """How much to do, as the configuration says it."""
    if populations is not None and trials is not None:
        raise SearchError("--populations and --trials are both given; the former are for evolution.")
    if (epochs is None) != (populations is None and trials is None):
        raise SearchError("--epochs goes with --populations or --trials, and these with --epochs.")
    schedule = trial = None
    if epochs is not None and populations is not None:
        schedule = {"populations": _numbers("populations", populations), "epochs": _numbers("epochs", epochs)}
    elif epochs is not None:
        numbers = _numbers("epochs", epochs)
        if len(numbers) != 1:
            raise SearchError(f"--epochs {epochs}: all trials have the same number of epochs; give one.")
        trial = {"evaluations": trials, "epochs": numbers[0]}
    return {"budget": budget, "preset": preset, "schedule": schedule, "trials": trial}


def _numbers(name: str, text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        raise SearchError(f"--{name} {text}: give whole numbers with commas, such as 80,26,16.") from None


def settings_of(texts: list[str]) -> dict[str, Any]:
    """Settings as they stand in a configuration: values written as in TOML, `mutation.layers` for a part.

    A word needs no quotes, which a shell would take away.
    """
    from evopinn.run.toml_text import toml_data

    for text in texts:
        if not all(part.strip() for part in text.partition("=")):
            raise SearchError(f"--set {text}: write name=value, such as --set elitists=0.2.")
    try:
        return toml_data("\n".join(_WORD.sub(r'="\1"', text) for text in texts))
    except ValueError as error:
        raise SearchError(f"--set {' --set '.join(texts)}: {error}; write values as in TOML.") from None


def said(values: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def merged(before: object, given: object) -> Any:
    """A value with another put over it: of two tables all entries stay, those that both have as given."""
    if not isinstance(before, dict) or not isinstance(given, dict):
        return given
    both = dict(cast(dict[str, Any], before))
    for name, value in cast(dict[str, Any], given).items():
        both[name] = merged(both.get(name), value)
    return both
