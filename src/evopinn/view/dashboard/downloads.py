"""Downloads: a network, the report, the evaluations as a table, the whole record of a run."""

import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from evopinn.errors import UnknownNameError
from evopinn.run.export import export_evaluations
from evopinn.store.browser import Browser
from evopinn.store.directory import DATABASE, WEIGHTS
from evopinn.view.dashboard.listing import contained, sound
from evopinn.view.dashboard.sandbox import Sandbox


@dataclass(frozen=True)
class Download:
    """A file that is made on request.

    Attributes:
        ending: Of its name.
        media_type: What a browser calls it.
        write: Writes it, of a run's directory to a path.
        runs_a_program: Whether the problem's file may be run for it.
    """

    ending: str
    media_type: str
    write: Callable[[Path, Path], object]
    runs_a_program: bool = False


def write_page(directory: Path, path: Path) -> None:
    """Write the report of a run."""
    from evopinn.view.report import write_report  # it takes a second to load

    with sound(directory):
        write_report([directory], path)


def _copy(directory: Path, path: Path) -> None:
    with Browser(directory) as browser:
        browser.copy(path)


DOWNLOADS: Mapping[str, Download] = MappingProxyType(
    {
        "report": Download(".html", "text/html", write_page, runs_a_program=True),
        "evaluations": Download(".csv", "text/csv", export_evaluations),
        "record": Download(f"-{DATABASE}", "application/vnd.sqlite3", _copy),
    }
)
"""What can be taken away of a run, by name."""


def find_download(what: str) -> Download:
    """The download of a name."""
    try:
        return DOWNLOADS[what]
    except KeyError:
        raise UnknownNameError("download", what, DOWNLOADS) from None


def opened(download: Download, directory: Path, sandbox: Sandbox) -> BinaryIO:
    """The file of a download, open for reading and already unlinked."""
    with (
        sound(directory),
        tempfile.TemporaryDirectory(prefix="evopinn-", ignore_cleanup_errors=True) as place,
    ):
        path = Path(place) / f"run{download.ending}"
        if download.runs_a_program:
            sandbox.run(download.write, directory, path)
        else:
            download.write(directory, path)
        return path.open("rb")


def packed_network(directory: Path, task: int, name: str) -> bytes:
    """Both files of a kept network in an archive, whose content `evopinn.load` reads."""
    buffer = io.BytesIO()
    with sound(directory), zipfile.ZipFile(buffer, "w") as archive:
        for ending in ("safetensors", "json"):
            path = contained(directory, f"{WEIGHTS}/{task:08d}.{ending}")
            archive.writestr(f"{name}.{ending}", path.read_bytes())
    return buffer.getvalue()
