"""The command line: whatever is typed, there is an answer, an exit code and no traceback."""

import contextlib
import io
import signal
import sys
import unicodedata

import pytest
from fuzzing import HOSTILE, LAW, LONG, TEXT, tries
from hypothesis import given
from hypothesis import strategies as st
from sound_run import make_run
from typer.main import get_command

import evopinn.training
from evopinn.cli import app, main
from evopinn.run.wording import is_unseen

COMMANDS = {command.name: command for command in get_command(app).commands.values()}
EXIT_CODES = (0, 1, 2, 130)
MOST_CHARACTERS = 6000

GENOME = "layers=3 neurons=20 activation=tanh(x)"
WORDS = (
    *(
        "heat",
        "klein-gordon:II",
        "lame",
        "nothing.py",
        "mine.py:problem",
        "broken.py",
        "latin.py",
        "runs/good",
        "good",
    ),
    *("runs", "mine.toml", "rubbish.toml", "loop", "folder", GENOME, "paper:evo-dpste-1", "tanh", "x" * 5000),
    *(
        "layers=3-5 neurons=20-40:2",
        "elitists=0.2",
        "mutation.layers=1",
        "a=[[[",
        "10m",
        "300 trainings",
        "5,4",
    ),
    *(
        "quick",
        "paper",
        "evo-dpste",
        "random",
        "bo-fcnet",
        "lbfgs",
        "adam:5+lm",
        "float32",
        "taylor",
        "cpu",
        "cuda:9",
    ),
    *(
        "1",
        "2",
        "0",
        "-1",
        "0.5",
        "6,4",
        "html",
        "svg",
        "activation,error",
        "table.csv",
        "net",
        "-",
        "--",
        "-h",
    ),
)
"""What may stand for a value: sensible ones, of the wrong option too, and nonsense."""

NEVER = ("--open", "--help")
NO_RUN = ("plot", "report")
"""Commands that take seconds where there is something to draw; what they refuse is another's business."""

WORD = st.sampled_from(WORDS) | st.sampled_from(HOSTILE) | TEXT
PROBLEM = """import evopinn as ep
problem = ep.Problem(domain=ep.Interval(0, 1), fields=["u"], residual=lambda u: u.xx, conditions=[],
                     points=ep.Grid(interior=5))
"""


@st.composite
def command_lines(draw):
    """A command with options that it has, values that these may have or not, and words between them."""
    name = draw(st.sampled_from(list(COMMANDS)))
    parameters = COMMANDS[name].params
    options = [each for each in parameters if each.param_type_name == "option" and each.opts[0] not in NEVER]
    words = draw(st.lists(WORD, max_size=2))
    for option in draw(st.lists(st.sampled_from(options), max_size=4)) if options else ():
        words.append(draw(st.sampled_from([*option.opts, *option.secondary_opts])))
        if not option.is_flag:
            words.append(draw(WORD))
    words += draw(st.lists(WORD, max_size=1))
    if name in NO_RUN:
        words = [word for word in words if "good" not in word]
    if name == "dashboard":
        words += ["--host", draw(st.sampled_from(["127.0.0.1", "0.0.0.0", "a\0b", "\ud800", "x" * 300, ""]))]
    return [name, *words]


class Typed:
    """The command line in this process, in a directory of its own, where nothing takes long."""

    def __init__(self, monkeypatch):
        self._argv = lambda words: monkeypatch.setattr(sys, "argv", ["evopinn", *words])

    def __call__(self, words):
        self._argv(words)
        out, err = io.StringIO(), io.StringIO()
        before = signal.getsignal(signal.SIGTERM)
        with LAW.bounded(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                code = 0
            except SystemExit as ended:
                code = ended.code or 0
            finally:
                signal.signal(signal.SIGTERM, before)
        return code, out.getvalue(), err.getvalue()


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """Somebody types in a directory that has a run, problems, configurations and what is none of these."""
    here = tmp_path / "a" / "b"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    make_run(here / "runs" / "good")
    (here / "mine.py").write_text(PROBLEM)
    (here / "broken.py").write_text("problem = 1 / 0")
    (here / "latin.py").write_bytes("problem = 'é'".encode("latin-1"))
    (here / "mine.toml").write_text('problem = "heat"\nbudget = "1h"\n')
    (here / "rubbish.toml").write_bytes(bytes(range(256)))
    (here / "loop").symlink_to("loop")
    (here / "folder").mkdir()
    train = evopinn.training.train
    monkeypatch.setattr(
        evopinn.training,
        "train",
        lambda *given, **options: train(*given, **(options | {"max_evaluations": 1})),
    )
    monkeypatch.setattr("evopinn.cli.actions.searching._carry_out", lambda *_: None)
    for name, answer in {"carry_out": False, "forecast": None}.items():  # as if they had been stopped
        monkeypatch.setattr(f"evopinn.cli.actions.studies.{name}", lambda *_, answer=answer: answer)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    monkeypatch.setattr("os.nice", lambda _: 0)
    monkeypatch.setattr("evopinn.lab.bench.sections.run_bench", lambda *_: sys.exit(0))
    monkeypatch.setenv("COLUMNS", "200")
    return Typed(monkeypatch)


def check_answer(code, out, err):
    """An exit code that means something, and words that a terminal can show."""
    assert code in EXIT_CODES
    assert "Traceback" not in err
    assert len(err) <= MOST_CHARACTERS
    assert code in (0, 130) or err.strip() or out.strip()
    # Of Typer's own words to mistakes, which show what was typed, only that they do not act on the terminal.
    unseen = is_unseen if err.startswith("error: ") else is_control
    for text in (out, err):
        assert not [character for character in text if unseen(character) and character not in "\n\t"]


def is_control(character):
    return unicodedata.category(character) == "Cc"


def test_whatever_is_typed_there_is_an_answer(typed):
    @tries(120, 2000)
    @given(command_lines())
    def hold(words):
        code, out, err = typed(words)
        check_answer(code, out, err)
        LAW.refused += code == 2

    hold()


def test_words_that_are_no_command_are_refused(typed):
    @tries(30, 500)
    @given(st.lists(WORD, max_size=4))
    def hold(words):
        code, out, err = typed(words)
        check_answer(code, out, err)

    hold()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_hostile_word_after_any_command_is_answered(typed, name):
    for word in HOSTILE if LONG else HOSTILE[::4]:
        code, out, err = typed([name, word] if word not in ("", " ") else [name, "--nothing", word])
        check_answer(code, out, err)
