"""What figures are made of in these tests: a small run with known losses; and a look into a figure."""

import math
from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

import evopinn as ep
from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.store.records import Evaluation
from evopinn.store.store import Store
from evopinn.store.weights import save_weights
from evopinn.training import History

HOSTILE = r"$\frac{x_y}$ & <b>_\alpha_ $5 \u0000 中"
CONFIG = """problem = "{problem}"
method = "evo-dpste"
seed = 7

[schedule]
populations = [6, 3, 2]
epochs = [10, 20, 40]

[recorded]
problem = "as its author calls it"
"""
VERSIONS = {"evopinn": "0.1.0"}
NETWORK = "layers=4 neurons=6 shortcuts=0-1,1-3 activation=a*tanh(b*x)*cos(x)"
GENOMES = (
    "layers=3 neurons=20 shortcuts=none activation=tanh(x)",
    "layers=5 neurons=24 shortcuts=0-2 activation=sin(x)",
    "layers=7 neurons=30 shortcuts=0-1,1-2 activation=tanh(x)*sin(x)",
)
LOSSES = {1: (8.0, 4.0, 2.0, 1.0, 16.0, math.inf), 2: (0.5, 0.25, 0.125, 1.0), 3: (0.1, 0.3, 0.2, 0.4)}
"""By generation; the third are the final evaluations."""

ORIGINS = (
    *(Origin(("initial",)) for _ in range(6)),
    Origin(("crossover",), (2, 3)),
    Origin(("insert layer", "change node"), (3,)),
    Origin(("change node",), (3,)),
    Origin(("elitist",), (3,)),
    *(Origin(("candidate",), (parent,)) for parent in (8, 8, 7, 7)),
)


def make_run(directory, problem="heat", upto=14, weights=None, failed=(), finished=True):
    """Two generations and four final evaluations, as far as `upto`; what is in `failed` has no finite loss.

    Args:
        directory: Of the run.
        problem: As its configuration says.
        upto: How many tasks are settled; two more are asked for.
        weights: The network of task 8, the best there is before the final evaluations, and of these.
        failed: Numbers of tasks that fail.
        finished: Whether the run has come to its end.
    """
    with Store.create(directory, CONFIG.format(problem=problem), VERSIONS) as store:
        losses = [(generation, loss) for generation, each in LOSSES.items() for loss in each]
        for number, (generation, loss) in enumerate(losses[: upto + 2]):
            final = generation == 3
            genome = GENOMES[(2, 2, 1, 1)[number - 10] if final else number % 3]
            store.add_tasks(
                [Task(number, generation, Genome.parse(genome), 10 * generation, number, ORIGINS[number])]
            )
            if number >= upto:
                continue
            status = "finished"
            if number in failed or not math.isfinite(loss):
                status, loss = "not-finite", math.inf  # noqa: PLW2901
            history = make_history(loss) if math.isfinite(loss) else None
            errors = {"u": loss / 10} if math.isfinite(loss) else {}
            times = {"started": 1.7e9 + number, "ended": 1.7e9 + number + 1, "seconds": 1.0 + number}
            store.record(
                [Evaluation(number, status, loss, errors=errors, epochs=10, history=history, **times)]
            )
            if weights is not None and (final or number == 8):
                save_weights(directory, number, weights)
        if finished:
            store.note("finished")
    return ep.load(directory)


def make_history(loss, epochs=4):
    """Falls to a loss by halves; errors are a tenth of it, at the start and at the end."""
    losses = tuple(loss * 2.0 ** (epochs - epoch) for epoch in range(epochs + 1))
    return History(losses, (0, epochs), {"u": (losses[0] / 10, loss / 10)})


def drawn(figure):
    """Draw a figure, so that everything in it has its place; gives what it was drawn with."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def assert_readable(figure):
    """It fits a page, its axes are named, and no words lie on others."""
    renderer = drawn(figure)
    assert figure.get_figwidth() <= 7.0 + 1e-9
    plots = [ax for ax in figure.axes if ax.axison]
    for ax in plots:
        if not hasattr(ax, "_colorbar"):
            across, up = ax.get_shared_x_axes().get_siblings(ax), ax.get_shared_y_axes().get_siblings(ax)
            assert any(each.get_xlabel() for each in across)
            assert any(each.get_ylabel() or each.get_title() for each in up)
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for ax in plots for text in words_of(ax)]
    for (text, box), (other, second) in combinations(boxes, 2):
        overlap = Bbox.intersection(box, second)
        assert overlap is None or min(overlap.width, overlap.height) <= 1, (text, other)


def words_of(ax):
    """Title, labels and the ticks that are drawn: those between the ends of an axis."""
    found = [ax.title, ax.xaxis.label, ax.yaxis.label]
    for axis, coordinate in ((ax.xaxis, 0), (ax.yaxis, 1)):
        low, high = sorted(axis.get_view_interval())
        found += [each for each in axis.get_ticklabels() if low <= each.get_position()[coordinate] <= high]
    return [text for text in found if text.get_text() and text.get_visible()]


def marked(figure, gid):
    """The artists of a figure that bear a mark."""
    return figure.findobj(lambda artist: artist.get_gid() == gid)


def texts(figure):
    """All words of a figure as they are read: without what keeps them from being taken for mathematics."""
    found = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    return [text.replace(r"\$", "$") for text in found if text]
