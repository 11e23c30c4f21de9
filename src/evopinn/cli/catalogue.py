"""The commands `problems`, `models` and `space`."""

from typing import Annotated

import typer

from evopinn.catalogue import catalogue
from evopinn.cli.shared import PROBLEM_HELP, JsonOption, SpaceOption, output
from evopinn.genome import Space, published_models
from evopinn.view.terminal.catalogue_tables import (
    models_data,
    models_table,
    problems_table,
    space_data,
    space_table,
)


def problems(
    name: Annotated[str | None, typer.Argument(help=PROBLEM_HELP)] = None,
) -> None:
    """List the catalogue, or check one problem and show its loss terms, weights, points and derivatives."""
    if name is None:
        output(problems_table(catalogue()).rich(), as_json=False)
        return
    from evopinn.cli.actions.training import show_problem

    show_problem(name)


def models(
    problem: Annotated[
        str | None, typer.Argument(help="klein-gordon, burgers or lame. Default: all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the 45 published models with their published errors."""
    found = published_models(problem)
    output(models_data(found) if as_json else models_table(found).rich(), as_json)


def space(bounds: SpaceOption = None, as_json: JsonOption = False) -> None:
    """Print the size of the search space."""
    given = Space.parse(bounds) if bounds else Space()
    output(space_data(given) if as_json else space_table(given), as_json)
