"""A report in a real browser: it sorts, fits a phone, is dark where that is wished, and asks nobody.

Debian's chromium is driven. Where there is none, these tests are skipped, unless `EVOPINN_REQUIRE_BROWSER`
says that there must be one.
"""

import os
import shutil

import pytest
from figured import NETWORK, make_run

import evopinn as ep

CHROMIUM = shutil.which("chromium")
REQUIRED = bool(os.environ.get("EVOPINN_REQUIRE_BROWSER"))

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not REQUIRED, reason="there is no chromium; `apt-get install chromium` brings it"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    network = ep.train("heat", NETWORK, epochs=2, engine="autograd")
    run = make_run(tmp_path_factory.mktemp("runs") / "</script><script>alert(1)</script>", weights=network)
    return run.report().as_uri()


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

    def open_it(width=1200, scheme="light"):
        contexts.append(
            chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        )
        page = contexts[-1].new_page()
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda request: asked.add(request.url.partition(":")[0]))
        page.goto(address)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert troubles == []
    assert asked <= {"file", "data"}


def column(page, number):
    cells = page.locator("#hall ~ .scroll tbody tr").locator(f"td:nth-child({number})")
    return [float(each.get_attribute("data-value")) for each in cells.all()]


def test_tables_are_sorted_by_mouse_and_keyboard(opened):
    page = opened()
    losses = column(page, 2)
    assert losses == sorted(losses)
    header = page.locator("#hall ~ .scroll th", has_text="parameters")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert column(page, 8) == sorted(column(page, 8))
    page.keyboard.press("Enter")  # the focus is on the button
    assert header.get_attribute("aria-sort") == "descending"
    assert column(page, 8) == sorted(column(page, 8), reverse=True)
    by_loss = page.locator("#hall ~ .scroll th", has_text="loss")
    by_loss.get_by_role("button").focus()
    page.keyboard.press("Space")
    assert column(page, 2) == losses
    assert header.get_attribute("aria-sort") is None


@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_is_not_wider_than_its_window(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("img").evaluate_all("all => all.every(each => each.naturalWidth > 0)")


def test_formulas_are_drawn_and_colours_follow_the_wish(opened):
    light, dark = opened(), opened(scheme="dark")
    box = light.locator("math").first.bounding_box()
    assert box["height"] > 10
    shades = [page.evaluate("getComputedStyle(document.body).backgroundColor") for page in (light, dark)]
    assert shades == ["rgb(251, 251, 250)", "rgb(20, 23, 26)"]
