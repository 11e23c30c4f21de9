"""What all figures promise, over the table of them; and the command that draws them."""

import re
import shutil
import subprocess
import sys
import threading

import matplotlib as mpl
import pytest
from figured import HOSTILE, assert_readable, drawn, make_run, texts
from matplotlib.figure import Figure

import evopinn as ep
from evopinn.store.directory import WEIGHTS
from evopinn.view.figures.style import plain

figures = ep.figures
FIGURES = figures.FIGURES
OF_NETWORK = [name for name, row in FIGURES.items() if not row.of_run]
NETWORK = "layers=3 neurons=5 shortcuts=0-1 activation=a*sin(x)"
BEGINNINGS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
UNNAMED = """
import torch
import evopinn as ep

problem = ep.Problem(
    domain=ep.Interval(0, 1),
    fields=["u"],
    residual=lambda u: u.xx + u,
    conditions=[ep.Boundary(lambda u: u - 1)],
    points=ep.Grid(interior=5, boundary=2),
)
"""


@pytest.fixture(scope="module")
def network():
    return ep.train("heat", NETWORK, epochs=2, optimizer="lbfgs", engine="autograd")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, network):
    return make_run(tmp_path_factory.mktemp("runs") / "done", weights=network)


@pytest.fixture
def copied(finished, tmp_path):
    """A copy of the run to harm."""
    shutil.copytree(finished.directory, tmp_path / "done")
    return tmp_path / "done"


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_is_written_in_each_format_and_always_the_same(name, finished, tmp_path):
    before = dict(mpl.rcParams)
    figure, again = (figures.draw(name, figures.Subject(finished)) for _ in range(2))
    for kind, beginning in BEGINNINGS.items():
        path = tmp_path / "one" / f"{name}.{kind}"
        assert figures.save(figure, path) == path
        assert path.read_bytes().startswith(beginning)
    first = next(iter(BEGINNINGS))
    same = figures.save(again, tmp_path / f"two.{first}")
    assert same.read_bytes() == (tmp_path / "one" / f"{name}.{first}").read_bytes()
    assert dict(mpl.rcParams) == before
    assert len(list((tmp_path / "one").iterdir())) == len(BEGINNINGS)


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_fits_a_page_and_can_be_read(name, finished):
    figure = figures.draw(name, figures.Subject(finished))
    assert_readable(figure)


def test_figures_are_made_in_threads(finished):
    subject = figures.Subject(finished)
    made, before = {}, dict(mpl.rcParams)

    def make(name):
        made[name] = figures.draw(name, subject)

    threads = [
        threading.Thread(target=make, args=(name,)) for name in ("generations", "cost", "tree", "lineage")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(made) == {"generations", "cost", "tree", "lineage"}
    assert {made["cost"].axes[0].xaxis.label.get_size(), made["lineage"].axes[0].yaxis.label.get_size()} == {
        8.0
    }
    assert dict(mpl.rcParams) == before


def test_settings_of_the_user_do_not_show(finished):
    with mpl.rc_context({"font.size": 30, "axes.labelsize": 30, "lines.linewidth": 9, "xtick.labelsize": 40}):
        ax = figures.cost(finished)
        drawn(ax.figure)
    assert ax.xaxis.label.get_size() == 8
    assert {label.get_size() for label in ax.get_xticklabels()} == {7}


def test_figures_are_drawn_on_axes_that_are_given(finished, network):
    figure = Figure(figsize=(7, 6), layout="constrained")
    left, right = figure.subfigures(1, 2)
    assert figures.schedule(finished, figure=left) is left
    assert figures.activation(network, figure=right) is right
    axes = Figure().subplots(1, 2)
    assert figures.generations(finished, ax=axes[0]) is axes[0]
    assert figures.structure(network, ax=axes[1]) is axes[1]


@pytest.mark.parametrize("path", ["figure.gif", "figure", "figure.PNG"])
def test_other_endings_are_refused(path, network):
    with pytest.raises(ep.EvopinnError, match=re.escape(path)) as refused:
        figures.save(figures.tree(network), path)
    assert all(ending in str(refused.value) for ending in (".png", ".pdf", ".svg"))


def test_what_cannot_be_written_is_told(tmp_path, network):
    (tmp_path / "taken").write_text("")
    with pytest.raises(ep.EvopinnError, match="taken"):
        figures.save(figures.tree(network), tmp_path / "taken" / "tree.png")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a $b$ c", r"a \$b\$ c"),
        ("one $", r"one \$"),
        ("a\nb\tc", "a b c"),
        ("_x", " _x"),
        ("中\u202ex", "\ufffd\ufffdx"),
        (r"\alpha\$", r"\alpha\\$"),
    ],
)
def test_words_of_others_stay_words(given, shown):
    assert plain(given) == shown
    figure = Figure(figsize=(2, 1))
    figure.text(0, 0, plain(given))
    drawn(figure)
    assert plain("abcdef", limit=4) == "abc…"


# Runs in whatever state


def outcomes(run, problem=None):
    """What becomes of each figure: None, or why it could not be made."""
    subject = figures.Subject(run, problem)
    found = {}
    for name in FIGURES:
        try:
            drawn(figures.draw(name, subject))
        except ep.EvopinnError as error:
            found[name] = str(error)
    return found


def test_all_figures_of_a_finished_run_are_made(finished):
    assert outcomes(finished) == {}


def test_a_killed_run_has_all_figures_too(tmp_path, network):
    assert outcomes(make_run(tmp_path / "run", upto=9, weights=network, finished=False)) == {}


def test_a_run_with_one_individual(tmp_path):
    found = outcomes(make_run(tmp_path / "run", upto=1, finished=False))
    # It has no weights, no parents, and did not fail.
    assert set(found) == {"solution", "error", "lineage", "failures"}


def test_a_run_without_success_has_schedule_composition_and_failures(tmp_path):
    found = outcomes(make_run(tmp_path / "run", upto=9, failed=range(14), finished=False))
    assert set(FIGURES) - set(found) == {"schedule", "composition", "failures"}
    assert all(word in found["solution"] for word in ("all 9 ", "not-finite"))
    assert "finite loss" in found["generations"]


def test_a_run_that_has_only_begun(tmp_path):
    found = outcomes(make_run(tmp_path / "run", upto=-2, finished=False))
    assert set(found) == set(FIGURES)
    assert "any training" in found["schedule"]


def test_without_weights_a_structure_has_the_names_of_the_problem(copied):
    shutil.rmtree(copied / WEIGHTS)
    words = texts(figures.draw("structure", figures.Subject(ep.load(copied))))
    assert {"x, t", "u"} <= set(words)
    assert not {"input", "output"} & set(words)


def test_without_weights_the_genome_is_shown(copied):
    shutil.rmtree(copied / WEIGHTS)
    found = outcomes(ep.load(copied))
    assert set(found) == {"solution", "error"}
    assert str(copied / WEIGHTS) in found["solution"]
    words = texts(figures.draw("structure", figures.Subject(ep.load(copied))))
    assert any("30 neurons" in word and "2 shortcuts" in word for word in words)


def test_a_problem_that_is_gone(tmp_path, network):
    run = make_run(tmp_path / "run", problem="/nowhere/mine.py", weights=network)
    found = outcomes(run)
    assert set(found) == {"solution", "error"}
    assert "/nowhere/mine.py" in found["solution"]
    assert outcomes(run, problem="heat") == {}


def test_a_problem_that_was_an_object(tmp_path, network):
    run = make_run(tmp_path / "run", problem="python:mine", weights=network)
    assert re.search(r"'mine' .*\bobject\b", outcomes(run)["error"])
    assert outcomes(run, problem=ep.find_problem("heat")) == {}


def test_a_problem_without_a_solution(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(UNNAMED)
    result = ep.train(str(file), NETWORK, epochs=1, optimizer="lbfgs", engine="autograd")
    run = make_run(tmp_path / "run", problem=str(file), weights=result)
    assert list(outcomes(run)) == ["error"]


def test_hostile_words_of_a_run_are_shown_as_they_are(tmp_path, network):
    """The status of an attempt is the freest text that a figure of a search shows."""
    from evopinn.search.task import Origin, Task
    from evopinn.store.records import Evaluation
    from evopinn.store.store import Store

    directory = tmp_path / "$x$ _y_"
    with Store.create(directory, "problem = 'heat'\n", {}) as store:
        store.add_tasks([Task(0, 1, network.genome, 5, 0, Origin((HOSTILE,)))])
        store.record([Evaluation(0, HOSTILE, float("inf"), 0.0, 1.0)])
    figure = figures.draw("failures", figures.Subject(ep.load(directory)))
    drawn(figure)
    assert HOSTILE.replace("中", "\ufffd")[:29] + "…" in texts(figure)
    with pytest.raises(ep.EvopinnError, match=r"\$x\$ _y_"):
        figures.draw("cost", figures.Subject(ep.load(directory)))


def test_an_unknown_figure_lists_the_known(finished):
    with pytest.raises(ep.EvopinnError) as refused:
        figures.draw("activatoin", figures.Subject(finished))
    message = str(refused.value)
    assert "'activatoin'" in message
    assert all(name in message for name in FIGURES)


def test_a_single_network_has_no_search(network):
    with pytest.raises(ep.EvopinnError, match="single network"):
        figures.draw("generations", figures.Subject(network))


# The command


def test_plot_writes_all_figures_of_a_run_and_says_so(run, finished, tmp_path):
    code, out, err = run("plot", str(finished.directory), "--out", str(tmp_path / "figures"))
    assert (code, err) == (0, "")
    assert out.split() == [str(tmp_path / "figures" / f"{name}.png") for name in FIGURES]
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {f"{name}.png" for name in FIGURES}


def test_plot_writes_what_is_asked_for_beside_the_others_of_its_name(run, finished, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("plot", str(finished.directory), "--what", "tree, structure", "--format", "svg")
    assert run(*words) == (0, "figures/done/tree.svg\nfigures/done/structure.svg\n", "")
    assert run(*words)[0] == 0  # and again
    assert sorted(path.name for path in (tmp_path / "figures/done").iterdir()) == [
        "structure.svg",
        "tree.svg",
    ]


def test_plot_takes_a_saved_network(run, network, tmp_path):
    ep.save(network, tmp_path / "models" / "heat")
    code, out, err = run("plot", str(tmp_path / "models" / "heat"), "--out", str(tmp_path / "out"))
    assert (code, err) == (0, "")
    assert out.split() == [str(tmp_path / "out" / f"{name}.png") for name in OF_NETWORK]


def test_a_network_that_is_given_by_one_of_its_files_has_its_name(run, network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ep.save(network, "heat")
    assert run("plot", "heat.safetensors", "--what", "tree") == (0, "figures/heat/tree.png\n", "")


def test_plot_notes_what_cannot_be_drawn(run, tmp_path, network):
    made = make_run(tmp_path / "run", problem="/nowhere/mine.py", weights=network)
    code, out, err = run("plot", str(made.directory), "--out", str(tmp_path / "out"))
    assert code == 0
    assert "solution" not in out
    (line,) = err.splitlines()
    assert re.match(r"no solution, error: .*/nowhere/mine\.py", line)
    code, out, err = run(
        "plot", str(made.directory), "--what", "tree,solution", "--out", str(tmp_path / "out")
    )
    assert (code, len(out.splitlines())) == (1, 1)  # what was asked for by name is missed
    again = ("plot", str(made.directory), "--what", "solution", "--problem", "heat", "--out", str(tmp_path))
    assert run(*again)[0] == 0


def test_plot_of_a_run_that_has_only_begun_fails(run, tmp_path):
    made = make_run(tmp_path / "run", upto=-2, finished=False)
    code, out, err = run("plot", str(made.directory), "--out", str(tmp_path / "out"))
    assert (code, out) == (1, "")
    named = [name for line in err.splitlines() for name in line[3 : line.index(":")].split(", ")]
    assert sorted(named) == sorted(FIGURES)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--what", "activatoin"], r"\bfigure\b.*'activatoin'.*\bactivation\b"),
        (["--what", ""], rf"\bfigure\b.*''.*{', '.join(FIGURES)}"),
        (["--format", "gif"], r"--format gif\b.*\bpng, pdf or svg\b"),
    ],
)
def test_mistakes_are_told_before_anything_is_drawn(run, finished, tmp_path, words, message):
    code, out, err = run("plot", str(finished.directory), "--out", str(tmp_path / "out"), *words)
    assert (code, out) == (2, "")
    assert re.match(f"error: .*{message}", err)
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_plot_of_nothing_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("plot", "nothing")
    assert code == 2
    assert "'nothing'" in err


def test_neither_the_package_nor_the_command_line_loads_matplotlib():
    program = """
import sys
import evopinn, evopinn.cli, evopinn.view
from evopinn.view.terminal import catalogue_tables as tables
print("matplotlib" in sys.modules)
evopinn.figures
print("matplotlib" in sys.modules, "matplotlib.pyplot" in sys.modules)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["False", "True", "False"]


def test_a_file_in_the_place_of_the_directory_is_told(run, finished, tmp_path):
    (tmp_path / "kdv.py").touch()
    code, out, err = run("plot", str(finished.directory), "--out", str(tmp_path / "kdv.py"))
    assert (code, out) == (2, "")
    assert re.match(rf"error: {tmp_path}/kdv\.py .*\bfile\b.* directory\b", err)
    assert "--out" in err


def test_one_reason_for_several_figures_is_told_once(run, tmp_path):
    made = make_run(tmp_path / "run", failed=range(14))
    code, _, err = run("plot", str(made.directory), "--out", str(tmp_path / "out"))
    assert code == 0
    assert err.count("not-finite") == 1
    undrawn = ("solution", "error", "structure", "activation", "tree", "formula")
    assert err.startswith(f"no {', '.join(undrawn)}: ")
