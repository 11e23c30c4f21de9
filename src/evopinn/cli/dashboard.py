"""The command that shows runs in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from evopinn.cli.shared import stop_on_termination
from evopinn.errors import DashboardError
from evopinn.store.directory import RUNS
from evopinn.view.terminal.console import meanwhile, note

PORT = 8710


def dashboard(
    directory: Annotated[Path, typer.Argument(help="Directory of the runs.")] = RUNS,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")] = PORT,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Other machines can reach any address but 127.0.0.1.")
    ] = "127.0.0.1",
    open_browser: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
) -> None:
    """Show the runs of a directory in a browser, live."""
    if directory.exists() and not directory.is_dir():
        raise DashboardError(f"{directory} is a file; give the directory that the runs lie in.")
    with meanwhile("starting the dashboard"):
        from evopinn.view.dashboard.server import serve

    def announce(address: str, private: bool) -> None:
        if not directory.exists():
            note(f"{directory} does not exist yet; runs appear when there are any.")
        if not private:
            note(
                "warning: other machines can reach this. Whoever sees the address or listens to the network "
                "can look at all runs and stop them; 127.0.0.1 and an SSH tunnel are safer."
            )
        note(f"the runs in {directory} are shown at this address until Ctrl-C:")
        typer.echo(address)
        if open_browser:
            import webbrowser

            webbrowser.open(address)

    stop_on_termination()
    serve(directory, host, port, announce)
