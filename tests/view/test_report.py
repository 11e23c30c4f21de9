"""A report of a finished run: what is in it, and the file that it is."""

import base64
import math
import re
import shutil
import tomllib
from random import Random

import pytest
from figured import GENOMES, make_run
from reported import assert_sound

import evopinn as ep
from evopinn.errors import FigureError, ReportError, RunError
from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.store.records import Evaluation
from evopinn.store.store import Store
from evopinn.store.weights import save_weights
from evopinn.training import History
from evopinn.training.status import MEANINGS
from evopinn.view.figures.comparisons import draw_progress
from evopinn.view.figures.figure_table import FIGURES, REPORTED, Scene
from evopinn.view.figures.style import LINES
from evopinn.view.figures.trainings import Trainings
from evopinn.view.report import write_report
from evopinn.view.report.gathering import gathered
from evopinn.view.run_facts import MOST_ACCURATE, RECOMMENDED
from evopinn.view.run_tables import HALL_OF_FAME, ROUNDS

NETWORK = "layers=7 neurons=30 shortcuts=0-1,1-2 activation=tanh(x)*sin(x)"
SMALL = 5_000_000


@pytest.fixture(scope="module")
def network():
    return ep.train("heat", NETWORK, epochs=2, optimizer="lbfgs", engine="autograd")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, network):
    return make_run(tmp_path_factory.mktemp("runs") / "done", weights=network)


@pytest.fixture(scope="module")
def page(finished):
    path = finished.report()
    assert path == finished.directory / "report.html"
    return assert_sound(path.read_text(encoding="utf-8"))


def test_the_problem_is_stated_in_formulas(page):
    words = page.words
    for said in ("Heat equation on a rod", "at t = 0", "on the whole boundary", "10,201 points"):
        assert said in words
    latex = r"u_{t} - 0.4 u_{xx} = 0"
    assert latex in words  # to copy
    assert len(page.of("math")) >= 6
    terms = page.tables[0]
    assert [row[0][0] for row in terms] == ["term", "residual", "initial", "boundary"]
    assert [row[-1][0] for row in terms[1:]] == ["1,600", "81", "162"]


def test_the_best_network_is_described(page, network):
    words = page.words
    for fact in (
        rf"{RECOMMENDED} {re.escape(GENOMES[2])}",
        r"\b6 hidden layers\b[^.]*\b30 neurons\b[^.]* 0-1, 1-2\b",
        rf"parameters {network.parameters:,}",
        r"\bmean of 2\b[^.]*\b0\.200, error 2\.00 × 10⁻²",
        r"\b0\.100 to 0\.300\b",
        rf"{MOST_ACCURATE} loss 0\.100\b[^.]*\b10 epochs\b[^.]*\b11\.0 s \(task 10\)",
        r"\bof u 1\.00 × 10⁻²",
    ):
        assert re.search(fact, words), fact


def test_the_code_that_loads_the_best_network_runs(finished, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    exec(gathered(finished, pictures=()).loading, namespace)
    assert capsys.readouterr().out.startswith("[[")
    assert namespace["network"].loss == finished.best.loss
    assert namespace["module"] is not None


def test_tables_are_sorted_by_numbers(page, finished):
    finalists, hall = page.tables[1:3]
    assert [cell[0] for cell in finalists[0]][:3] == ["rank", "mean loss", "mean error"]
    assert [cell[0] for cell in hall[0]] == [column.header for column in HALL_OF_FAME]
    assert [float(row[1][1]) for row in finalists[1:]] == [pytest.approx(0.2), pytest.approx(0.3)]
    assert [float(row[2][1]) for row in hall[1:]] == [entry.loss for entry in finished.hall_of_fame]
    assert [float(row[3][1]) for row in hall[1:]] == [entry.error for entry in finished.hall_of_fame]
    sortable = [each for each in page.of("table") if "data-sortable" in each]
    assert len(sortable) == 3  # finalists, hall of fame, failures
    assert [each.get("aria-sort") for each in page.of("th") if "aria-sort" in each] == ["ascending"] * 2


def test_the_search_is_told_round_by_round(page):
    rounds = page.tables[3]
    assert [cell[0] for cell in rounds[0]] == [column.header for column in ROUNDS]
    assert [[cell[0] for cell in row[:5]] for row in rounds[1:]] == [
        ["generation 1", "6", "6", "1", "10"],
        ["generation 2", "4", "4", "0", "20"],
        ["final evaluations", "4", "4", "0", "30"],
    ]
    assert page.tables[4][1][0][0] == "not-finite"
    assert page.tables[4][1][3][0] == "5"
    assert MEANINGS["not-finite"] in page.words


def test_settings_versions_and_method_are_told(page, finished):
    words = page.words
    assert f"evopinn search --config {finished.directory / 'config.toml'}" in words
    assert "populations = [6, 3, 2]" in words
    assert "evopinn 0.1.0" in words
    assert "fitness = −loss" in words


def test_all_figures_are_inside_with_captions(page):
    images = page.of("img")
    for image, name in zip(images, REPORTED, strict=True):
        title, caption = FIGURES[name].words(Scene())
        assert image["alt"] == f"{title}. {caption}"
        kind, _, data = image["src"].partition(";base64,")
        beginning = {"data:image/png": b"\x89PNG", "data:image/svg+xml": b"<?xml"}[kind]
        assert base64.b64decode(data).startswith(beginning)
        assert caption in page.words


@pytest.fixture
def undrawn(monkeypatch):
    """Figures take their time."""

    def draw(*_):
        raise FigureError("not here")

    monkeypatch.setattr("evopinn.view.figures.pictures.draw", draw)


@pytest.mark.usefixtures("undrawn")
def test_a_report_takes_the_place_of_a_report_and_of_nothing_else(finished, tmp_path):
    path = tmp_path / "deep" / "mine.html"
    assert finished.report(path) == path
    first = path.read_bytes()
    assert ep.report(finished.directory, path) == path
    assert _undated(path.read_bytes()) == _undated(first)
    path.write_text("<!DOCTYPE html><p>a letter")
    with pytest.raises(ReportError, match=path.name):
        finished.report(path)
    assert path.read_text() == "<!DOCTYPE html><p>a letter"
    finished.report(path, force=True)
    assert _undated(path.read_bytes()) == _undated(first)
    assert [each.name for each in path.parent.iterdir()] == ["mine.html"]


def _undated(data):
    return re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d", b"", data)


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("report.docx", {}, r"/report\.docx\b.* \.html\b.* \.md\b"),
        ("report.html", {"kind": "md"}, r"/report\.html\b.* \.md\b"),
        (None, {"kind": "pdf"}, r"\bhtml\b.*\bmd\b.*\bpdf\b"),
        ("", {}, r"/folder\.html .*\bdirectory\b.*\bfile\b"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_drawn(
    finished, tmp_path, path, options, message
):
    place = None if path is None else tmp_path / path
    if path == "":
        place = tmp_path / "folder.html"
        place.mkdir()
    with pytest.raises(ReportError, match=message):
        write_report([finished], place, **options)
    with pytest.raises(ReportError, match="one run"):
        write_report([])
    with pytest.raises(RunError, match="'nowhere'"):
        ep.report("nowhere")


def test_the_same_as_markdown(finished, tmp_path):
    path = finished.report(tmp_path / "my report.md")
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"<!-- evopinn report -->\n\n# {ep.find_problem('heat').title}\n")
    assert "```math\nu_{t} - 0.4 u_{xx} = 0\n```" in text
    assert "| 1 | 0.200 | 2.00 × 10⁻² | 0.100 | 0.300 | 2 |" in text
    drawn = {each.stem for each in (tmp_path / "my report_files").iterdir()}
    assert drawn == set(REPORTED)
    for name in re.findall(r"\]\(my%20report_files/(.*?)\)", text):
        assert (tmp_path / "my report_files" / name).is_file()
    assert text.count("](my%20report_files/") == len(REPORTED)


def test_markdown_overwrites_its_own_figures_only(finished, tmp_path):
    path = tmp_path / "mine.md"
    own = tmp_path / "mine_files" / "tree.svg"
    own.parent.mkdir()
    own.write_text("a user's drawing")
    with pytest.raises(ReportError, match=r"tree\.svg .*mine\.md"):
        finished.report(path)
    assert own.read_text() == "a user's drawing"
    assert not path.exists()
    write_report([finished], path, force=True)
    assert own.read_text() != "a user's drawing"
    finished.report(path)  # they are its own now


def test_several_runs_stand_side_by_side(finished, network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    second = make_run(tmp_path / "half", upto=8, weights=network, finished=False)
    copy = tmp_path / "else" / "done"
    shutil.copytree(finished.directory, copy)
    path = ep.report([finished, second.directory, str(copy)])
    assert str(path) == "report.html"
    page = assert_sound(path.read_text(encoding="utf-8"))
    assert "3 searches" in page.words
    table = page.tables[0]
    assert [row[0][0] for row in table[1:]] == ["done", "half", "done"]
    assert [row[1][0] for row in table[1:]] == ["finished", "stopped", "finished"]
    assert [each["href"] for each in page.of("a") if each["href"].startswith("#run")] == [
        "#run1",
        "#run2",
        "#run3",
    ]
    assert [float(row[5][1]) for row in table[1:]] == [pytest.approx(0.2), 0.25, pytest.approx(0.2)]
    assert len(page.of("img")) == 2 + 3 * 3 - 1  # the second has lost its weights, and so its solution
    assert path.stat().st_size < SMALL
    assert len([each for each in page.of("details") if each.get("class") == "card run"]) == 3


def test_many_runs_stay_small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = [make_run(tmp_path / str(number) / "same", upto=8) for number in range(9)]
    path = ep.report(runs, "many.html")
    page = assert_sound(path.read_text(encoding="utf-8"))
    assert len(page.of("img")) == 2
    assert len(page.tables[0]) == 1 + 9
    assert re.search(r"\b7 of 9\b", page.words)  # are drawn
    assert path.stat().st_size < SMALL / 5


def test_progress_is_the_least_loss_over_the_time_spent(finished):
    ax = draw_progress({"one": Trainings.of(finished)})
    line = ax.get_lines()[0]
    seconds = [1.0 + number for number in range(14)]
    assert line.get_xdata()[-1] == pytest.approx(sum(seconds))
    assert list(line.get_ydata())[:8] == [8.0, 4.0, 2.0, 1.0, 1.0, 1.0, 0.5, 0.25]
    assert line.get_color() == LINES[0]
    assert re.search(r"\bbest loss\b", ax.get_ylabel())


def test_losses_on_fewer_points_do_not_stay_the_best(tmp_path):
    with Store.create(tmp_path / "coarse", 'problem = "heat"\nmethod = "evo-dpste"\n', {}) as store:
        for number, (loss, coarseness) in enumerate([(1e-8, 2.0), (0.5, 1.0), (1e-9, 2.0), (0.2, 1.0)]):
            genome = Genome.parse(GENOMES[0])
            store.add_tasks(
                [Task(number, 1, genome, 10, number, Origin(("initial",)), coarseness=coarseness)]
            )
            times = {"started": 1.7e9, "ended": 1.7e9 + 1, "seconds": 1.0}
            store.record([Evaluation(number, "finished", loss, epochs=10, **times)])
    ax = draw_progress({"coarse": Trainings.of(ep.load(tmp_path / "coarse"))})
    assert list(ax.get_lines()[0].get_ydata()) == [1e-8, 0.5, 0.5, 0.2]
    lowest, highest = ax.get_ylim()
    assert lowest < 1e-8
    assert highest > 0.5


def make_large(directory, network, count=2000):
    """A run of many individuals, with long activations and courses."""
    rng = Random(0)
    operators = ("tanh", "sin", "exp", "asinh", "erf", "cosh")
    with Store.create(directory, 'problem = "heat"\nmethod = "evo-dpste"\nseed = 1\n', {}) as store:
        for first in range(0, count, 100):
            numbers = range(first, first + 100)
            tasks, evaluations = [], []
            for number in numbers:
                chain = (
                    f"a*{rng.choice(operators)}(b*x)*{rng.choice(operators)}(x)+{rng.choice(operators)}(c*x)"
                )
                genome = f"layers={rng.randint(3, 9)} neurons={rng.randrange(20, 50, 2)} activation={chain}"
                parents = tuple(rng.randrange(max(1, first)) for _ in range(2)) if first else ()
                origin = Origin(("crossover", "change node") if first else ("initial",), parents)
                tasks.append(Task(number, 1 + first // 100, Genome.parse(genome), 100, number, origin))
                loss = math.inf if rng.random() < 0.1 else 10 ** (rng.gauss(0, 1) - first / 400)
                status = "finished" if math.isfinite(loss) else "not-finite"
                course = (
                    tuple(loss * (1 + 100 / (1 + epoch)) for epoch in range(101)) if loss < 9e99 else (1.0,)
                )
                times = {
                    "started": 1.7e9 + number,
                    "ended": 1.7e9 + number + 1,
                    "seconds": rng.uniform(0.5, 5),
                }
                history = History(course, (0,), {"u": (loss,)})
                evaluations.append(
                    Evaluation(number, status, loss, errors={"u": loss}, epochs=100, history=history, **times)
                )
            store.add_tasks(tasks)
            store.record(evaluations)
        store.note("finished")
    for entry in ep.load(directory).hall_of_fame:
        save_weights(directory, entry.task, network)
    return ep.load(directory)


def test_two_thousand_individuals_make_a_small_file(tmp_path, network):
    run = make_large(tmp_path / "large", network)
    path = run.report()
    assert path.stat().st_size < SMALL / 2
    page = assert_sound(path.read_text(encoding="utf-8"))
    assert "2,000" in page.words


def test_the_configuration_in_the_report_is_the_runs(finished):
    record = gathered(finished, pictures=()).record
    schedule = tomllib.loads(record.about.config)["schedule"]
    assert schedule == {"populations": [6, 3, 2], "epochs": [10, 20, 40]}
    assert record.hall_of_fame[0].architecture.text == GENOMES[2]
