"""A report in a real browser: it sorts, fits phones and desktops, is dark where wished, and asks nobody.

Debian's chromium is driven. Where there is none, these tests are skipped, unless `EVOPINN_REQUIRE_BROWSER`
says that there must be one.
"""

import os
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from figured import CONFIG, NETWORK, VERSIONS, make_history, make_run

import evopinn as ep
from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.store.records import Evaluation
from evopinn.store.store import Store
from evopinn.view.run_tables import HALL_OF_FAME

LONG = "a*(erfc(b*x)+swish(c*x))*tanh(x)+asinh(x)"
CHROMIUM = shutil.which("chromium")
REQUIRED = bool(os.environ.get("EVOPINN_REQUIRE_BROWSER"))

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not REQUIRED, reason="there is no chromium; `apt-get install chromium` brings it"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    network = ep.train("heat", NETWORK, epochs=2, optimizer="lbfgs", engine="autograd")
    run = make_run(tmp_path_factory.mktemp("runs") / "</script><script>alert(1)</script>", weights=network)
    return run.report().as_uri()


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory, address):
    """Runs of two problems, with numbers as large and names as long as they are after a day."""
    place = tmp_path_factory.mktemp("several")
    paths = [make_long(place / f"a-name-of-{number}-that-says-it-all", number) for number in range(2)]
    return [make_report(place, paths), make_report(place, paths[:1])]


def make_report(place, paths):
    return ep.report(paths, place / f"{len(paths)}.html").as_uri()


def make_long(directory, number):
    """A run of ten individuals and two finalists, trained for long."""
    config = CONFIG.format(problem="heat").replace("as its author", f"as author {number}")
    with Store.create(directory, config, VERSIONS) as store:
        for task in range(14):
            genome = Genome.parse(f"layers={5 + task % 10} neurons=50 shortcuts=0-1,1-3 activation={LONG}")
            final = task >= 10
            origin = Origin(("candidate",), (0,)) if final else Origin(("insert layer", "change neurons"), ())
            store.add_tasks([Task(task, 3 if final else 2, genome, 150_000, 11_000 + task, origin)])
            outcome = {"loss": 1.23e-14 * (1 + task), "errors": {"u": 3.21e-8}, "epochs": 150_000}
            times = {"started": 1.7e9, "ended": 1.7e9 + 90_000, "seconds": 45_240.0}
            store.record([Evaluation(task, "finished", history=make_history(1e-8), **outcome, **times)])
        store.note("finished")
    return directory


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    assert CHROMIUM is not None, "EVOPINN_REQUIRE_BROWSER is set, and there is no chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, address):
    """Opens the report; nothing may go wrong in it, and nothing be asked for but the file."""
    contexts, troubles, asked = [], [], set()

    def open_it(width=1200, scheme="light", other=None):
        contexts.append(
            chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        )
        page = contexts[-1].new_page()
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda request: asked.add(request.url.partition(":")[0]))
        page.goto(other or address)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert troubles == []
    assert asked <= {"file", "data"}


def column(page, name):
    """The values of a column of the hall of fame."""
    place = [each.name for each in HALL_OF_FAME].index(name)
    cells = page.locator("#hall ~ .scroll tbody tr").locator(f"td:nth-child({place + 1})")
    return [float(each.get_attribute("data-value")) for each in cells.all()]


def header_of(page, name):
    return page.locator(f"#hall ~ .scroll th:has(button:text-is('{name}'))")


def test_tables_are_sorted_by_mouse_and_keyboard(opened):
    page = opened()
    losses = column(page, "loss")
    assert losses == sorted(losses)
    assert len(losses) == 3
    header = header_of(page, "parameters")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert column(page, "parameters") == sorted(column(page, "parameters"))
    page.keyboard.press("Enter")  # the focus is on the button
    assert header.get_attribute("aria-sort") == "descending"
    assert column(page, "parameters") == sorted(column(page, "parameters"), reverse=True)
    header_of(page, "loss").get_by_role("button").focus()
    page.keyboard.press("Space")
    assert column(page, "loss") == losses
    assert header.get_attribute("aria-sort") is None


def test_a_script_that_is_not_the_reports_does_not_run(chromium, address, tmp_path):
    text = Path(unquote(urlsplit(address).path)).read_text(encoding="utf-8")
    harmed = tmp_path / "harmed.html"
    harmed.write_text(text.replace("</body>", "<script>document.title = 'harmed'</script></body>"))
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto(harmed.as_uri())
    assert page.title() != "harmed"
    assert page.locator("#hall ~ .scroll th button").count() > 3  # ours has run
    context.close()


@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_is_not_wider_than_its_window(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("img").evaluate_all("all => all.every(each => each.naturalWidth > 0)")


@pytest.mark.parametrize("words", ["10, of 50,000 epochs", "what_somebody_calls_a_problem.py"])
def test_what_stands_in_a_tile_stays_in_it(opened, words):
    page = opened(1300)
    tiles = page.locator(".tile")
    tiles.locator("dd").first.evaluate("(each, words) => each.textContent = words", words)
    assert tiles.count() == 6
    assert tiles.evaluate_all("all => all.every(each => each.scrollWidth <= each.clientWidth)")


@pytest.mark.parametrize("width", [1000, 1280, 1920])
def test_tables_are_seen_whole_on_a_desktop(opened, side_by_side, width):
    for place in side_by_side:
        page = opened(width, other=place)
        page.evaluate("document.querySelectorAll('details.run').forEach(each => each.open = true)")
        frames = page.locator(".scroll:has(table[data-sortable])")
        assert frames.count() == (2 if place == side_by_side[1] else 5)
        for frame in frames.all():
            if width == 1000 and frame.get_attribute("aria-label") == "Side by side":
                continue  # it has the most columns, and is moved in its frame
            assert frame.evaluate("each => each.scrollWidth") <= frame.evaluate("each => each.clientWidth")


def test_a_shadow_says_that_a_table_goes_on(opened):
    page = opened(390)
    frame = page.locator("#hall ~ .scroll")
    assert frame.evaluate("each => each.scrollWidth > each.clientWidth")
    assert frame.evaluate("each => getComputedStyle(each).backgroundImage").count("gradient") == 4


def test_formulas_are_drawn_and_colours_follow_the_wish(opened):
    light, dark = opened(), opened(scheme="dark")
    box = light.locator("math").first.bounding_box()
    assert box["height"] > 10
    shades = [page.evaluate("getComputedStyle(document.body).backgroundColor") for page in (light, dark)]
    assert shades == ["rgb(251, 251, 250)", "rgb(20, 23, 26)"]
