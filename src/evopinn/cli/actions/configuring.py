"""The configuration of a search from the options of the command and a file."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_type_hints

from evopinn.cli.shared import Sets
from evopinn.errors import SearchError
from evopinn.problem import absolute_spec
from evopinn.run.config import AMOUNTS, Config, read_config
from evopinn.search import DEFAULT_METHOD, METHODS, find_method
from evopinn.store.toml_text import toml_data

_WORD = re.compile(r"=\s*(?!(?:true|false|inf|nan)\s*$)([A-Za-z][A-Za-z-]*)\s*$")


def configured(command: Callable[..., None], arguments: Mapping[str, Any]) -> Config:
    """The configuration of a search from options and a file.

    Args:
        command: Whose options say by `Sets` which entry each sets.
        arguments: The command's, by name; `populations`, `trials`, `epochs`, `settings` and `config` are
            handled here.
    """
    file: Path | None = arguments["config"]
    values = {} if file is None else read_config(file)
    options = entries(command, arguments)
    amount = _workplan(arguments["populations"], arguments["trials"], arguments["epochs"])
    asked = _merged(_settings(arguments["settings"] or []), amount | options)
    if any(name in asked for name in AMOUNTS):
        values = {name: value for name, value in values.items() if name not in AMOUNTS}
    values = _merged(values, asked)
    if "problem" not in values:
        raise SearchError("no problem is given; `evopinn problems` lists the catalogue.")
    _check_method(command, options, str(values.get("method", DEFAULT_METHOD)))
    values["problem"] = absolute_spec(str(values["problem"]))
    return Config.of(values, "the command" if file is None else str(file))


def entries(command: Callable[..., None], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a configuration that the given options of a command set.

    Args:
        command: Some of its parameters are annotated with `Sets`.
        arguments: Its arguments, by name. None, and a flag that is off, set no entry.
    """
    found: dict[str, Any] = {}
    for name, sets in _setting_parameters(command):
        value = arguments[name]
        if value is not None and value is not False:
            table, _, entry = sets.entry.rpartition(".")
            place = found.setdefault(table, {}) if table else found
            place[entry] = sets.read(value)
    return found


def _check_method(command: Callable[..., None], options: Mapping[str, Any], method: str) -> None:
    """Refuse options for settings that the method lacks, such as `--faithful` without proposals."""
    known = find_method(method).setting_names
    for name, sets in _setting_parameters(command):
        table, _, entry = sets.entry.rpartition(".")
        if table == "settings" and entry in options.get(table, {}) and entry not in known:
            others = " or ".join(row.name for row in METHODS.values() if entry in row.setting_names)
            raise SearchError(
                f"--{name.replace('_', '-')} is not for the method {method}; leave it out, or give --method "
                f"{others}."
            )


def _setting_parameters(command: Callable[..., None]) -> Iterator[tuple[str, Sets]]:
    """The parameters of a command that set an entry, by name."""
    for name, annotation in get_type_hints(command, include_extras=True).items():
        for sets in getattr(annotation, "__metadata__", ()):
            if isinstance(sets, Sets):
                yield name, sets


def _workplan(populations: str | None, trials: int | None, epochs: str | None) -> dict[str, Any]:
    """A schedule or trials, as the table of a configuration that has them."""
    if populations is not None and trials is not None:
        raise SearchError("--populations and --trials are both given; the former are for evolution.")
    if (epochs is None) != (populations is None and trials is None):
        raise SearchError("--epochs goes with --populations or --trials, and these with --epochs.")
    if epochs is None:
        return {}
    numbers = _numbers("epochs", epochs)
    if populations is not None:
        return {"schedule": {"populations": _numbers("populations", populations), "epochs": numbers}}
    if len(numbers) != 1:
        raise SearchError(f"--epochs {epochs}: all trials have the same number of epochs; give one.")
    return {"trials": {"evaluations": trials, "epochs": numbers[0]}}


def _numbers(name: str, text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        raise SearchError(f"--{name} {text}: give whole numbers with commas, such as 80,26,16.") from None


def _settings(texts: list[str]) -> dict[str, Any]:
    """The table of settings, if there are any: values written as in TOML, `mutation.layers` for a part.

    A word needs no quotes, which a shell would take away.
    """
    for text in texts:
        if not all(part.strip() for part in text.partition("=")):
            raise SearchError(f"--set {text}: write name=value, such as --set elitists=0.2.")
    try:
        found = toml_data("\n".join(_WORD.sub(r'="\1"', text) for text in texts))
    except ValueError as error:
        raise SearchError(f"--set {' --set '.join(texts)}: {error}; write values as in TOML.") from None
    return {"settings": found} if found else {}


def _merged(before: object, over: object) -> Any:
    """A value with another put over it; of two tables all entries stay."""
    if not isinstance(before, dict) or not isinstance(over, dict):
        return over
    both = dict(cast(dict[str, Any], before))
    for name, value in cast(dict[str, Any], over).items():
        both[name] = _merged(both.get(name), value)
    return both
