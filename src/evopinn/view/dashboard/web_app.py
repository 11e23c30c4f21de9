"""The dashboard's web application: pages, their data, pictures, downloads, and stopping a run."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import quote

from fastapi import FastAPI, Query
from fastapi import Path as Part
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from evopinn.errors import EvopinnError, UnknownNameError
from evopinn.run.stopping import PATIENCE, stop_run
from evopinn.store.browser import Selection
from evopinn.store.reader import Reader
from evopinn.view.dashboard.assets import assets, shell
from evopinn.view.dashboard.downloads import find_download, opened, packed_network
from evopinn.view.dashboard.listing import RunListing, UnknownRunError
from evopinn.view.dashboard.picture_cache import PictureCache, PictureRequest
from evopinn.view.dashboard.queries import Queries
from evopinn.view.dashboard.sandbox import SECONDS, Sandbox, Threads
from evopinn.view.dashboard.security import Access, Guard

_BLOCK = 1 << 16

Number = Annotated[int, Part(ge=0, le=2**53)]


def make_app(
    root: Path,
    access: Access,
    patience: float = PATIENCE,
    limit: float = SECONDS,
    ending: threading.Event | None = None,
) -> Guard:
    """The dashboard of a directory.

    Args:
        root: The directory of the runs, which may not exist yet.
        access: The conditions of access.
        patience: Seconds to wait for a run to stop.
        limit: Seconds that may be spent where a problem's file is run.
        ending: Set when the dashboard ends, so that no long work starts or continues.
    """
    app = FastAPI(title="evopinn", docs_url=None, redoc_url=None, openapi_url=None)
    places, ending = RunListing(root), ending or threading.Event()
    sandbox = Sandbox(ending, limit)
    _add_pages(app)
    _add_data(app, Queries(places))
    _add_pictures(app, places, sandbox, ending)
    _add_downloads(app, places, sandbox, ending)
    _add_actions(app, places, patience)
    _add_errors(app)
    return Guard(app, access)


def _add_pages(app: FastAPI) -> None:
    """Add the pages, the same for all runs: a script reads the address and fetches the data."""

    def page(script: str) -> Callable[[], Response]:
        return lambda: HTMLResponse(shell(script))

    for path, script in {
        "/": "runs.js",
        "/compare": "compare.js",
        "/runs/{name}": "run.js",
        "/runs/{name}/tasks/{number}": "individual.js",
    }.items():
        app.get(path)(page(script))

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in assets():
            raise HTTPException(HTTPStatus.NOT_FOUND)
        text, media_type = assets()[name]
        return Response(text, media_type=media_type)

    del static


def _add_data(app: FastAPI, queries: Queries) -> None:
    def overview(request: Request) -> Response:
        return _data(request, queries.overview())

    def run(request: Request, name: str) -> Response:
        return _data(request, queries.run(name))

    def settings(request: Request, name: str) -> Response:
        return _data(request, queries.settings(name))

    def individuals(
        request: Request,
        name: str,
        sort: str = "task",
        descending: bool = False,
        status: str = "",
        generation: Annotated[int | None, Query(ge=0, le=2**53)] = None,
        after: str = "",
    ) -> Response:
        selection = Selection(sort, descending, status or None, generation, after)
        return _data(request, queries.individuals(name, selection))

    def individual(request: Request, name: str, number: Number) -> Response:
        return _data(request, queries.individual(name, number))

    def comparison(request: Request, run: Annotated[list[str] | None, Query()] = None) -> Response:
        return _data(request, queries.comparison(run or []))

    app.get("/api/runs")(overview)
    app.get("/api/compare")(comparison)
    app.get("/api/runs/{name}")(run)
    app.get("/api/runs/{name}/settings")(settings)
    app.get("/api/runs/{name}/individuals")(individuals)
    app.get("/api/runs/{name}/tasks/{number}")(individual)


def _add_pictures(app: FastAPI, places: RunListing, sandbox: Sandbox, ending: threading.Event) -> None:
    drawings = PictureCache(sandbox)
    here, elsewhere = Threads(2, ending), Threads(2, ending)

    def shown(name: str, what: str, task: int | None, load: bool) -> Response:
        """A picture, or the reason why there is none, which is a regular answer."""
        directory = places.find(name)
        try:
            best = task is None
            asked = (
                PictureRequest.of_best(what, directory, load)
                if best
                else PictureRequest(what, directory, task, load)
            )
            picture = drawings.picture(asked)
        except UnknownNameError:
            raise
        except EvopinnError as error:
            return _told(HTTPStatus.OK, str(error))
        return Response(picture.data, media_type=picture.media_type)

    async def of_task(name: str, number: Number, what: str, load: bool = False) -> Response:
        return await (elsewhere if load else here)(shown, name, what, number, load)

    async def of_best(name: str, what: str, load: bool = False) -> Response:
        return await (elsewhere if load else here)(shown, name, what, None, load)

    app.get("/api/runs/{name}/tasks/{number}/pictures/{what}")(of_task)
    app.get("/api/runs/{name}/pictures/{what}")(of_best)


def _add_downloads(app: FastAPI, places: RunListing, sandbox: Sandbox, ending: threading.Event) -> None:
    threads = Threads(2, ending)

    def network(name: str, number: Number) -> Response:
        stem = f"{name}-{number}"
        content = packed_network(places.find(name), number, _file_name(stem))
        return Response(content, media_type="application/zip", headers=_attached(f"{stem}.zip"))

    async def download(name: str, what: str) -> Response:
        return await threads(made, name, what)

    def made(name: str, what: str) -> Response:
        row = find_download(what)
        # Before the answer begins, so that a failure can still be told.
        file = opened(row, places.find(name), sandbox)

        def blocks() -> Iterator[bytes]:
            with file:
                while block := file.read(_BLOCK):
                    yield block

        return StreamingResponse(
            blocks(), media_type=row.media_type, headers=_attached(f"{name}{row.ending}")
        )

    app.get("/runs/{name}/downloads/networks/{number}")(network)
    app.get("/runs/{name}/downloads/{what}")(download)


def _add_actions(app: FastAPI, places: RunListing, patience: float) -> None:
    def stop(name: str) -> Response:
        directory = places.find(name)
        if not stop_run(directory, patience):
            text = f"the run was asked to stop but has not ended after {patience:g} s; check again later."
            return _answer(HTTPStatus.OK, {"stopped": False, "message": text})
        with Reader(directory) as reader:
            finished = reader.state() == "finished"
        text = "it was finished." if finished else f"`evopinn resume {directory}` resumes it."
        return _answer(HTTPStatus.OK, {"stopped": True, "message": f"The run has stopped; {text}"})

    app.post("/api/runs/{name}/stop")(stop)


def _add_errors(app: FastAPI) -> None:
    """Answer every error with a message, never a traceback."""

    def refused(_request: Request, error: Exception) -> Response:
        missing = isinstance(error, UnknownRunError | UnknownNameError)
        return _told(HTTPStatus.NOT_FOUND if missing else HTTPStatus.CONFLICT, str(error))

    def unfit(_request: Request, error: Exception) -> Response:
        first: dict[str, Any] = cast(RequestValidationError, error).errors()[0]
        place = ".".join(map(str, first["loc"]))
        return _told(HTTPStatus.UNPROCESSABLE_ENTITY, f"{place}: {first['msg']}.")

    def absent(_request: Request, error: Exception) -> Response:
        status = cast(HTTPException, error).status_code
        return _told(HTTPStatus(status), f"{HTTPStatus(status).phrase.lower()}.")

    def failed(_request: Request, _error: Exception) -> Response:
        text = "something went wrong; see the dashboard's terminal for details."
        return _told(HTTPStatus.INTERNAL_SERVER_ERROR, text)

    for kind, answer in {
        EvopinnError: refused,
        RequestValidationError: unfit,
        HTTPException: absent,
        Exception: failed,
    }.items():
        app.add_exception_handler(kind, answer)


def _told(status: HTTPStatus, message: str) -> Response:
    return _answer(status, {"message": message})


def _answer(status: HTTPStatus, data: dict[str, Any]) -> Response:
    return Response(_written(data), status, media_type="application/json")


def _data(request: Request, data: dict[str, Any]) -> Response:
    """Data, or only a note that the page already has it."""
    content = _written(data)
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers = {"ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, media_type="application/json", headers=headers)


def _written(data: dict[str, Any]) -> bytes:
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()


def _attached(name: str) -> dict[str, str]:
    """The header that has a browser save a file under any name."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def _file_name(name: str) -> str:
    """A file name that is valid on every system."""
    return "".join(each if each.isalnum() or each in "-_. " else "_" for each in name)
