"""Commands that look things up: problems, published models, the search space."""

from typing import Annotated

import typer

from evopinn.cli.shared import PROBLEM_HELP, JsonOption, SpaceOption, output


def problems(
    name: Annotated[str | None, typer.Argument(help=PROBLEM_HELP)] = None,
) -> None:
    """List the catalogue, or show and check one problem: its terms, weights, points and derivatives."""
    from evopinn.problems import catalogue, find_problem
    from evopinn.view.tables import problem_table, problems_table

    output(problems_table(catalogue()) if name is None else problem_table(find_problem(name)), as_json=False)


def models(
    problem: Annotated[
        str | None, typer.Argument(help="klein-gordon, burgers or lame; all if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the 45 published models with their published errors."""
    from evopinn.genome import published_models
    from evopinn.view.tables import models_data, models_table

    found = published_models(problem)
    output(models_data(found) if as_json else models_table(found), as_json)


def space(bounds: SpaceOption = None, as_json: JsonOption = False) -> None:
    """Print the size of the search space."""
    from evopinn.genome import Space
    from evopinn.view.tables import space_data, space_table

    given = Space.parse(bounds) if bounds else Space()
    output(space_data(given) if as_json else space_table(given), as_json)
