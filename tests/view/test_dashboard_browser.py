"""The dashboard in a real browser: what a person sees, presses and waits for.

Debian's chromium is driven. Where there is none, these tests are skipped, unless `EVOPINN_REQUIRE_BROWSER`
says that there must be one.
"""

import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from dashboards import make_evaluation, served
from figured import NETWORK, make_history, make_run
from hostile import WORDS, make_hostile_run

import evopinn as ep
from evopinn.store.directory import holder_of
from evopinn.store.reader import Reader
from evopinn.store.store import Store

CHROMIUM = shutil.which("chromium")
REQUIRED = bool(os.environ.get("EVOPINN_REQUIRE_BROWSER"))
PATIENCE = 60_000
HOSTILE = "<b>&?#%2F ’\"'; x"
PROBLEM = """
import torch

import evopinn as ep

problem = ep.Problem(
    domain=ep.Interval(0, 1),
    fields=["u"],
    residual=lambda u, x: u.xx + torch.pi**2 * torch.sin(torch.pi * x),
    conditions=[ep.Boundary(lambda u: u, weight=10)],
    points=ep.Grid(interior=20, boundary=2, test=21),
    solution=lambda x: torch.sin(torch.pi * x),
    title="<img src=x onerror=alert(1)>",
    name="<i>poisson</i>",
)
"""

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not REQUIRED, reason="there is no chromium; `apt-get install chromium` brings it"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    runs = tmp_path_factory.mktemp("place") / "runs"
    network = ep.train("heat", NETWORK, epochs=2, seed=0)
    make_run(runs / "done", weights=network)
    make_run(runs / "half", upto=8, finished=False)
    make_run(runs / HOSTILE, upto=8, finished=False)
    make_hostile_run(runs / "harm")
    for number in range(6):
        shutil.copytree(runs / "half", runs / f"half {number}")
    for number, database in enumerate(sorted(runs.glob("*/run.sqlite"))):
        with closing(sqlite3.connect(database)) as connection:  # long ago: their ages stay what they are
            connection.execute("UPDATE run SET created = ?", (1.7e9 + number,))
            connection.commit()
    (runs / "broken").mkdir()
    (runs / "broken" / "run.sqlite").write_text("no database")
    return runs


@pytest.fixture(scope="module")
def address(root):
    with served(root) as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    assert CHROMIUM is not None, "EVOPINN_REQUIRE_BROWSER is set, and there is no chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def looking(chromium, address, *, width=1280, scheme="light", admitted=True, refused=False):
    """A page; nothing may go wrong in it, and nothing be asked of another machine.

    With `refused`, the dashboard may have said of something that it cannot be had.
    """
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    troubles, hosts = [], set()
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
    if admitted:
        page.goto(address)
    try:
        yield page
        assert [each for each in troubles if not (refused and each.startswith("Failed to load"))] == []
        assert hosts <= {"", urlsplit(address).netloc}  # pictures are taken from memory, which is no host
    finally:
        context.close()


def url(address, path):
    return f"{address.partition('/?')[0]}{path}"


def overflow(page):
    """By how many pixels the page is wider than its window."""
    root = page.locator("html")
    return root.evaluate("root => root.scrollWidth - root.clientWidth")


def test_the_token_opens_it_and_leaves_the_address(chromium, address):
    with looking(chromium, address) as page:
        assert page.url == url(address, "/")
        page.get_by_role("link", name="done").wait_for()


def test_without_the_token_it_stays_closed(chromium, address):
    context = chromium.new_context()
    page = context.new_page()
    answer = page.goto(url(address, "/"))
    assert answer.status == 401
    assert page.get_by_role("heading", name="closed").is_visible()
    # It has its own look, which its policy allows.
    assert page.locator("body").evaluate("body => getComputedStyle(body).maxWidth") == "544px"
    context.close()


def test_runs_are_listed_with_what_is_wrong_with_them(chromium, address):
    with looking(chromium, address) as page:
        row = page.get_by_role("row").filter(has_text="done")
        assert "finished" in row.inner_text()
        assert "14 of 14" in row.inner_text()
        assert "is not a database" in page.get_by_role("row").filter(has_text="broken").inner_text()
        assert page.get_by_role("link", name=HOSTILE, exact=True).is_visible()
        page.get_by_role("button", name="run", exact=True).click()
        names = page.locator("tbody th").all_inner_texts()
        assert names == [
            HOSTILE,
            "broken",
            "done",
            "half",
            *(f"half {number}" for number in range(6)),
            "harm",
        ]
        first = page.locator("thead th").nth(1)
        assert first.get_attribute("aria-sort") == "ascending"
        page.get_by_role("button", name="run", exact=True).click()
        assert page.locator("tbody th").all_inner_texts() == names[::-1]


def test_a_hostile_name_is_text_on_all_pages(chromium, address):
    with looking(chromium, address) as page:
        page.get_by_role("link", name=HOSTILE, exact=True).click()
        page.get_by_role("heading", name=HOSTILE, exact=True).wait_for()
        page.get_by_text("8 of at most").wait_for()
        name = quote(HOSTILE, safe="'")
        assert page.url == url(address, f"/runs/{name}")
        assert page.locator("main b").count() == 0


@pytest.mark.parametrize(
    ("path", "places"),
    [
        (
            "/runs/harm",
            [
                "H · H, seed 7 · H",  # problem, method and plan
                "1 10 0.100 0.100 10 11.0 s 3 H – H",  # a genome in the hall of fame
                "5 1 H ∞ – 10 6.0 s H",  # status and genome among the individuals
                "H 1 0 5 H",  # the note, among the failures
                "finished: H",  # events
                "H: H",
                "H H problem = 'H' method = 'H'",  # versions and settings
            ],
        ),
        ("/runs/harm/tasks/5", ["Task 5 H status H loss", "Note H Network", "made by H"]),
        ("/runs/harm/tasks/8", ["error of H 0.100", "3 1 1.00 H H"]),
        ("/compare?run=harm&run=done", ["harm finished H H 7 0.100", "– H 10"]),
        ("/", ["harm finished 0.100 1 0.100 H 14 of 14 gen 3 H"]),
    ],
)
def test_hostile_words_are_text(chromium, address, path, places):
    with looking(chromium, address, refused=True) as page:
        page.goto(url(address, path))
        page.get_by_text(WORDS).first.wait_for()
        for summary in page.locator("details > summary").all():
            summary.click()
        content = page.locator("main")

        def lacking():
            text = " ".join(content.inner_text().replace(WORDS, "H").split())
            return [place for place in places if place not in text]

        wait_until(lambda: not lacking(), page, lacking)
        assert content.locator("b, script, img[src=x]").count() == 0


def test_a_run_and_one_of_its_individuals(chromium, address):
    with looking(chromium, address) as page:
        page.goto(url(address, "/runs/done"))
        page.get_by_text("14 of 14 trainings").wait_for()
        losses = page.get_by_role("img", name="Losses by generation")
        assert losses.locator("path.mark").count() >= 3
        page.get_by_alt_text("solution, reference and error over the domain").wait_for()
        hall = page.get_by_role("region", name="Hall of fame")
        assert hall.locator("tbody tr").first.locator("td").nth(2).inner_text() == "0.100"
        for _ in range(2):  # rising, then falling
            hall.get_by_role("button", name="loss", exact=True).click()
        losses = [float(text) for text in hall.locator("tbody tr td:nth-child(3)").all_inner_texts()]
        assert losses == sorted(losses, reverse=True)
        hall.get_by_role("link", name="10", exact=True).click()
        page.get_by_role("heading", name="Task 10", exact=True).wait_for()
        page.get_by_alt_text("layers and shortcuts: layers=7").first.wait_for()
        page.get_by_alt_text("the activation and its derivatives").wait_for()
        loss = page.get_by_role("img", name="Loss by epoch")
        assert loss.locator("path.mark.line").count() == 1
        assert page.get_by_text("change node").first.is_visible()
        page.get_by_role("region", name="Ancestors").get_by_role("link", name="3", exact=True).click()
        page.get_by_role("heading", name="Task 3", exact=True).wait_for()


def test_individuals_are_sorted_and_chosen_on_the_server(chromium, address):
    with looking(chromium, address) as page:
        page.goto(url(address, "/runs/done"))
        table = page.get_by_role("region", name="All individuals")
        first = table.locator("tbody tr").first
        first.get_by_text("13", exact=True).wait_for()  # the newest
        table.get_by_role("button", name="loss", exact=True).click()
        first.get_by_text("0.100", exact=True).wait_for()
        page.locator("label select").first.select_option("not-finite")
        page.get_by_text("1 evaluation, page 1 of 1").wait_for()
        assert table.locator("tbody tr").count() == 1
        page.locator("label select").first.select_option("")
        generation = page.get_by_role("spinbutton", name="generation")
        generation.fill("2")
        generation.press("Enter")
        four = page.get_by_text(re.compile(r"^4 evaluations, .*\b1\b.*\b1$"))
        four.wait_for()
        generation.fill("4")  # there are three
        generation.press("Enter")
        assert not generation.evaluate("input => input.validity.valid")
        assert four.is_visible()


def test_what_was_chosen_is_still_chosen_when_one_comes_back(chromium, address):
    with looking(chromium, address) as page:
        page.goto(url(address, "/runs/done"))
        table = page.get_by_role("region", name="All individuals")
        table.get_by_role("button", name="loss", exact=True).click()
        page.locator("label select").first.select_option("not-finite")
        page.get_by_text("1 evaluation, page 1 of 1").wait_for()
        table.locator("tbody a").first.click()
        page.get_by_role("heading", name="Lineage").wait_for()
        page.go_back()
        page.get_by_text("1 evaluation, page 1 of 1").wait_for()
        assert page.locator("label select").first.input_value() == "not-finite"
        assert table.locator("th[aria-sort=ascending]").inner_text() == "loss"


def test_an_attempt_that_is_made_again_is_shown(chromium, address, root):
    with looking(chromium, address) as page:
        page.goto(url(address, "/runs/half%205"))
        page.get_by_text("8 evaluations, page 1 of 1").wait_for()
        with Store.open(root / "half 5") as store:
            store.record([make_evaluation(8, math.inf, "crashed", final=False)])
        page.get_by_text("crashed (attempt 1)").wait_for()


def test_charts_can_be_read_as_tables(chromium, address):
    with looking(chromium, address) as page:
        page.goto(url(address, "/runs/done"))
        losses = page.get_by_role("img", name="Losses by generation")
        losses.locator("text.tick", has_text="final").wait_for()
        assert losses.locator("text.tick").all_inner_texts().count("3") == 0  # the final one is no third
        page.goto(url(address, "/runs/done/tasks/8"))
        page.get_by_text("As a table").click()
        rows = page.get_by_role("region", name="Loss and error by epoch").locator("tbody tr")
        history = make_history(0.125)
        shown = [row.split("\t") for row in rows.all_inner_texts()]
        assert [float(value) for name, _, value in shown if name == "loss"] == [
            pytest.approx(loss, rel=0.005) for loss in history.losses
        ]
        assert [name for name, *_ in shown].count("error of u") == len(history.errors["u"])
        page.goto(url(address, "/compare?run=done&run=half"))
        page.get_by_text("As a table").click()
        rows = page.get_by_role("region", name="Best losses so far").locator("tbody tr")
        rows.first.wait_for()
        assert rows.first.inner_text().split("\t") == ["done", "10", "8.00e0"]
        assert rows.last.inner_text().split("\t") == ["half", "80", "2.50e-1"]
        assert rows.count() == len(set(rows.all_inner_texts()))


def test_the_map_says_which_training_it_is_of(chromium, address):
    with looking(chromium, address) as page:
        page.goto(url(address, "/runs/done"))
        page.get_by_text("(task 10)").wait_for()
        assert page.get_by_text("final evaluations.").is_visible()


@pytest.mark.parametrize(
    ("label", "name", "start"),
    [
        ("Best network", r".*\.zip", b"PK"),
        ("Report", r".*\.html", b"<!doctype html>"),
        ("Evaluations (CSV)", r".*\.csv", b"task,"),
        ("Record (SQLite)", r".*\.sqlite", b"SQLite format 3"),
    ],
)
def test_files_are_downloaded(chromium, address, label, name, start):
    with looking(chromium, address) as page:
        page.goto(url(address, "/runs/done"))
        with page.expect_download() as waited:
            page.get_by_role("link", name=label, exact=True).click()
        download = waited.value
        assert re.fullmatch(name, download.suggested_filename)
        content = Path(download.path()).read_bytes()
        assert content.lower().startswith(start.lower())


def test_runs_are_compared(chromium, address):
    with looking(chromium, address) as page:
        page.get_by_role("checkbox", name="choose done to compare").check()
        page.get_by_role("checkbox", name="choose half to compare").check()
        page.get_by_role("link", name="Compare 2 runs").click()
        page.get_by_role("heading", name="Runs side by side").wait_for()
        chart = page.get_by_role("img", name="Best loss so far")
        chart.locator("path.mark.steps").nth(1).wait_for()
        page.locator("label select").select_option("trainings")
        chart.get_by_text("trainings", exact=True).wait_for()
        assert page.get_by_role("row").filter(has_text="half").is_visible()


def test_no_more_runs_are_chosen_than_can_be_compared(chromium, address):
    with looking(chromium, address) as page:
        page.get_by_role("link", name="done").wait_for()
        boxes = page.get_by_role("checkbox")
        assert boxes.count() == 10
        for index in range(8):
            boxes.nth(index).check()
        assert [boxes.nth(index).is_enabled() for index in range(10)] == [True] * 8 + [False] * 2
        page.get_by_role("link", name="Compare 8 runs").wait_for()
        boxes.nth(0).uncheck()
        assert boxes.nth(9).is_enabled()
        names = ["done", "half", "harm", *(f"half {number}" for number in range(6))]
        page.goto(url(address, "/compare?" + "&".join(f"run={quote(name)}" for name in names)))
        page.locator(".notice").get_by_text(re.compile(r"\b8\b.*\b9\b")).wait_for()
        rows = page.get_by_role("table").locator("tbody tr")
        wait_until(lambda: rows.count() == 8, page)


COUNT_BLOBS = """
    window.held = 0;
    const make = URL.createObjectURL, free = URL.revokeObjectURL;
    URL.createObjectURL = (blob) => { window.held += 1; return make.call(URL, blob); };
    URL.revokeObjectURL = (address) => { window.held -= 1; return free.call(URL, address); };
"""


def test_pictures_are_not_kept_twice(chromium, address):
    with looking(chromium, address) as page:
        page.add_init_script(COUNT_BLOBS)
        page.goto(url(address, "/runs/done"))
        image = page.get_by_alt_text("solution, reference and error over the domain")
        image.wait_for()
        assert image.evaluate("image => image.complete && image.naturalWidth > 100")
        wait_until(lambda: image.evaluate("() => window.held") == 0, page)


COUNT_CHANGES = """main => {
    window.changes = 0;
    const watch = { subtree: true, childList: true, characterData: true, attributes: true };
    new MutationObserver((list) => { window.changes += list.length; }).observe(main, watch);
}"""


@pytest.mark.parametrize("path", ["/", "/runs/done", "/runs/done/tasks/8", "/compare?run=done&run=half"])
def test_what_has_not_changed_is_left_alone(chromium, address, path):
    with looking(chromium, address) as page:
        page.goto(url(address, path))
        page.locator("table tbody tr").first.wait_for(state="attached")
        page.wait_for_load_state("networkidle")
        main = page.locator("main")
        main.evaluate(COUNT_CHANGES)
        answers = []
        page.on("response", lambda response: answers.append(response.status))
        wait_until(lambda: len(answers) >= 2, page)
        assert set(answers) == {304}
        assert main.evaluate("() => window.changes") == 0


PAGES = ("/", "/runs/done", "/runs/done/tasks/8", "/compare?run=done&run=half")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_by_day_and_night(chromium, address, scheme):
    with looking(chromium, address, width=390, scheme=scheme) as page:
        for path in PAGES:
            page.goto(url(address, path))
            page.locator("table tbody tr").first.wait_for(state="attached")
            assert overflow(page) <= 0, path
        page.goto(url(address, "/"))
        page.get_by_role("link", name="done").wait_for()
        seen = page.get_by_role("button", name="loss", exact=True).bounding_box()
        assert seen["x"] + seen["width"] <= 390  # what one looks for is there without pushing the table aside
        paper, ink = (
            page.locator("body").evaluate(f"body => getComputedStyle(body).{name}")
            for name in ("backgroundColor", "color")
        )
    dark = [sum(map(int, colour[4:-1].split(","))) < 380 for colour in (paper, ink)]
    assert dark == ([True, False] if scheme == "dark" else [False, True])


def test_a_run_that_is_not_there_is_told(chromium, address):
    with looking(chromium, address, width=390, refused=True) as page:
        for path in ("/runs/nothing", "/runs/nothing/tasks/8", "/runs/done/tasks/800"):
            page.goto(url(address, path))
            told = page.locator(".notice").first
            told.wait_for()
            assert "nothing" in told.inner_text() or "no task 800" in told.inner_text()
            assert page.get_by_role("heading", level=2).count() == 0  # and nothing empty below
            assert overflow(page) <= 0, path


def test_everything_can_be_done_by_keyboard(chromium, address):
    with looking(chromium, address) as page:
        page.get_by_role("link", name="done").wait_for()
        page.keyboard.press("Tab")
        assert page.locator(":focus").get_attribute("href") == "#content"
        page.keyboard.press("Enter")
        reach(page, "run")  # a header that sorts
        page.keyboard.press("Enter")
        assert page.locator("thead th").nth(1).get_attribute("aria-sort") == "ascending"
        reach(page, "done")
        outline = page.locator(":focus").evaluate("element => getComputedStyle(element).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="done", exact=True).wait_for()
        page.get_by_role("region", name="Hall of fame").get_by_role("link", name="10", exact=True).wait_for()
        reach(page, "10")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Task 10", exact=True).wait_for()


def focused(page):
    return page.locator(":focus").evaluate("element => element.textContent.trim()")


def reach(page, words):
    """Press Tab until what has these words has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.locator(":focus").count() and focused(page) == words:
            return
    raise AssertionError(f"{words!r} cannot be reached")


def wait_until(condition, page, why=lambda: "it did not come to that"):
    """Wait for something that only looking tells."""
    for _ in range(PATIENCE // 100):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError(why())


def test_a_run_is_watched_and_stopped(chromium, address, root, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(PROBLEM)
    words = ["search", file, "--populations", "60,60,60", "--epochs", "30,30,30", "--run", root / "live"]
    words += ["--workers", "1", "--quiet"]
    command = [sys.executable, "-c", "from evopinn.cli import main; main()", *map(str, words)]
    with looking(chromium, address) as page:
        page.get_by_role("link", name="done").wait_for()
        search = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            page.get_by_role("link", name="live", exact=True).click()  # it appears by itself
            page.get_by_text("running", exact=True).wait_for()
            assert page.get_by_text("<i>poisson</i>").is_visible()
            bar = page.get_by_role("progressbar", name="progress", exact=True)
            wait_until(lambda: bar.evaluate("bar => bar.value") > 0, page)
            before = bar.evaluate("bar => bar.value")
            wait_until(lambda: bar.evaluate("bar => bar.value") > before, page)
            page.get_by_role("button", name="Stop …").click()
            page.get_by_role("button", name="Keep it running").click()
            assert search.poll() is None
            page.get_by_role("button", name="Stop …").click()
            page.get_by_role("button", name="Stop the run").click()
            page.get_by_text("The run has stopped").wait_for()
            assert search.wait(timeout=20) == 130
            page.get_by_role("button", name="Close").click()
            page.get_by_text("stopped", exact=True).first.wait_for()
            page.get_by_role("link", name=re.compile(r"^Task \d+$")).click()
            page.get_by_role("button", name=re.compile("^Draw it with the problem")).click()
            drawn = page.get_by_role("img", name="the activation and its derivatives")
            wait_until(lambda: drawn.count() == 0, page)
            drawn.wait_for(timeout=60_000)
            page.go_back()
            with page.expect_download() as waited:
                page.get_by_role("link", name="Report (runs the problem's file)").click()
            report = Path(waited.value.path()).read_text(encoding="utf-8")
            assert "<h1>&lt;img src=x onerror=alert(1)&gt;</h1>" in report
        finally:
            search.kill()
            search.wait()
    assert holder_of(root / "live") is None
    with Reader(root / "live") as reader:
        assert reader.state() == "stopped"
        assert sum(reader.counts().values()) > 0


def test_a_lost_connection_is_told(chromium, address):
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("link", name="done").wait_for()
    context.set_offline(True)
    page.get_by_text("Connection lost").wait_for()
    context.set_offline(False)
    page.get_by_text("Connection lost").wait_for(state="detached")
    context.close()
