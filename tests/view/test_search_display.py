import io
import math
import re
import time
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from snapshots import LONG, WITH_SHORTCUTS, eventually, make_entry, make_snapshot

from evopinn.run.wording import round_name
from evopinn.search.task import CANDIDATE, PROPOSED, RETRAINED
from evopinn.view.terminal.console import PipedConsole, meanwhile, note
from evopinn.view.terminal.live import FRAME_SECONDS, search_progress
from evopinn.view.terminal.screen import Screen, later
from evopinn.view.terminal.sentences import clock, time_left

FOUND = ("best loss 1.00e-05", "error 1.00e-03", "asinh(x)*cos(x)")


def no_stop():
    raise AssertionError("nobody asked for this")


def tells(line, *facts):
    """Whether a line begins with the first of some facts and has the others after it, in this order."""
    return re.match(".*".join(rf"(?<!\w){re.escape(fact)}(?!\w)" for fact in facts), line) is not None


def logged(*snapshots):
    out = io.StringIO()
    with search_progress(Console(file=out), no_stop) as show:
        for snapshot in snapshots:
            show(snapshot)
    return out.getvalue().splitlines()


def drawn(width=80, height=24, **changes):
    """The lines of a screen, as text."""
    lines = Screen().lines(make_snapshot(**changes), width, height, "q or Ctrl-C stops")
    return ["".join(text for text, _ in line) for line in lines]


def terminal(**options):
    return Console(file=io.StringIO(), force_terminal=True, width=80, height=24, **options)


def frames(console):
    """What a terminal was shown, frame by frame: before each, the one before it is erased."""
    text = re.sub(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]", "", console.file.getvalue())
    return re.split(r"\r(?:\x1b\[2K)?(?:\x1b\[1A\x1b\[2K)*", text)


def test_a_log_has_a_line_for_the_start_each_generation_and_the_end():
    before = {"generations": 0, "asked": 0, "done": 0, "trained": 0, "failed": 0, "hall_of_fame": ()}
    unknown = {"generation": 0, "seconds_left": None}
    _, third, fourth, final, end = logged(
        make_snapshot(phase="loading", seconds=0.0, **before, **unknown),
        make_snapshot(phase="starting", seconds=0.0, **before, **unknown),
        make_snapshot(phase="measuring", seconds=4.0, **before, **unknown),
        make_snapshot(done=39, trained=119, seconds=9.9),
        make_snapshot(done=40, trained=120, seconds=130.0),
        make_snapshot(done=40, trained=120, seconds=130.5),
        make_snapshot(generation=4, done=0, trained=120, seconds=131.0),
        make_snapshot(phase="evaluating", asked=12, done=12, failed=3, seconds=500.0, seconds_left=80.2),
        make_snapshot(phase="finished", asked=12, done=12, trained=1320, failed=3, seconds=501.0),
        make_snapshot(phase="finished", asked=12, done=12, trained=1320, failed=3, seconds=521.0),
    )
    assert tells(third, "generation 3/8", "40 trained", "2 failed", *FOUND, "2 min 10 s", "7 min left")
    assert tells(fourth, "generation 4/8", "40 trained", "3 failed", *FOUND, "8 min 20 s", "81 s left")
    assert tells(final, "final", "12 trained", "3 failed", *FOUND, "8 min 20 s", "81 s left")
    assert tells(end, "finished", "1,320 trained", "3 failed", *FOUND, "8 min 21 s")
    assert "left" not in end


def test_in_between_a_log_has_at_most_one_line_in_ten_seconds():
    count = [
        line.split(", ")[1] for line in logged(*(make_snapshot(done=s, seconds=s / 1) for s in range(35)))
    ]
    assert count[1:] == ["10/40 trained", "20/40 trained", "30/40 trained"]


def test_a_line_in_between_says_how_far_the_search_is():
    first, second = logged(make_snapshot(seconds=5.0), make_snapshot(seconds=15.5, seconds_left=None))
    assert first.startswith("search: ")
    assert tells(second, "generation 3/8", "12/40 trained", "2 failed", *FOUND, "15 s")
    assert second.endswith(" 15 s")


def test_generations_no_larger_than_the_number_of_workers_do_not_fill_the_log():
    batches = (
        make_snapshot(round="batch", generation=number, generations=300, done=2, asked=2, seconds=number / 2)
        for number in range(1, 61)
    )
    assert [line.split(",")[0] for line in logged(*batches)[1:]] == ["batch 21/300", "batch 41/300"]


def test_what_follows_the_generations_is_not_called_one():
    lines = logged(
        make_snapshot(generation=8, done=40),
        make_snapshot(round="bests", generation=9, asked=8, done=7),
        make_snapshot(round="final", phase="evaluating", generation=10, asked=12, done=12),
    )
    names = [line.partition(" done")[0] for line in lines[1:]]
    assert names == ["generation 8/8", round_name("bests", 9), round_name("final", 10)]
    assert len(set(names)) == 3


def test_a_hall_of_fame_says_which_round_an_entry_is_of():
    def column(*operations):
        entries = [make_entry(rank, operations=(each,)) for rank, each in enumerate(operations, start=1)]
        return [line.split()[3] for line in drawn(hall_of_fame=tuple(entries))[5 : 6 + len(entries)]]

    assert column("initial", RETRAINED, CANDIDATE) == ["gen", "2", "bests", "final"]
    assert column(CANDIDATE, PROPOSED) == ["batch", "final", "2"]


def test_a_list_is_trained_and_not_searched_by():
    (line,) = logged(make_snapshot(method="listed"))
    assert line.startswith("training: klein-gordon ")
    assert "listed" not in line


def test_a_search_that_was_stopped_says_how_to_go_on():
    directory = Path("my runs/kg")
    _, line = logged(make_snapshot(), make_snapshot(phase="stopped", directory=directory, seconds=3700.0))
    assert tells(line, "stopped", "92 trained", "320", "2 failed", *FOUND, "1 h 01 min")
    assert "`evopinn resume 'my runs/kg'`" in line


def test_a_search_of_a_study_goes_on_with_the_study():
    (_, line) = logged(make_snapshot(), make_snapshot(phase="stopped", in_study=True))
    for hint in (line, drawn(in_study=True)[-1]):
        assert "same command" in hint
        assert "evopinn resume" not in hint


def test_without_a_solution_no_error_is_told():
    (_, line) = logged(make_snapshot(done=40, hall_of_fame=(make_entry(1, errors={}),)))
    assert FOUND[0] in line
    assert "error" not in line


def test_a_log_that_nobody_reads_ends_in_silence():
    class Closed(io.StringIO):
        writes = 0

        def write(self, _text):
            self.writes += 1
            raise BrokenPipeError

    out = Closed()
    with search_progress(PipedConsole(file=out), no_stop) as show:
        for generation in range(5):
            show(make_snapshot(generation=generation, done=40, seconds=60.0 * generation))
    assert out.writes == 1


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
@pytest.mark.parametrize("height", [5, 8, 9, 12, 24, 60])
def test_a_screen_fits_its_terminal(width, height):
    hall = tuple(make_entry(rank, LONG if rank % 2 else WITH_SHORTCUTS) for rank in range(1, 31))
    path = Path("/home/someone/searches", "ordner-" * 8, "kg-1")
    lines = drawn(width, height, hall_of_fame=hall, problem="波動", directory=path)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width


def test_a_screen_says_all_there_is_to_know():
    title, progress, bar, counts, _, header, *hall, _, hint = drawn()
    assert title.split(" · ") == ["klein-gordon", "evo-dpste", "runs/kg-1"]
    assert tells(progress, "generation 3/8", "12/40 trained")
    assert bar.startswith("━" * 10 + "─" * 33 + "   25 %  2 min 10 s, ")
    assert bar.endswith(" 7 min left")
    assert re.search(r"\b92/320 trained, 2 failed, 1,234 epochs/s, 2 workers$", counts)
    assert header.split() == ["#", "loss", "error", "gen", "network", "shortcuts", "activation"]
    assert hall == [
        "1  1.00e-05  1.00e-03    2     6×48          2  asinh(x)*cos(x)",
        "2  2.00e-05  2.00e-03    2    12×20          0  sin(a*x)+(exp(x)-exp(-x))/(exp(…",
    ]
    assert header.index("activation") == hall[0].index("asinh")
    assert hint.startswith("q or Ctrl-C")
    assert "`evopinn resume runs/kg-1`" in hint


def test_a_narrow_screen_keeps_what_matters_most():
    directory = Path("/home/someone/searches/runs/klein-gordon-1")
    title, progress, bar, counts, _, header, *hall, _, hint = drawn(60, 12, directory=directory)
    assert title.split(" · ") == ["klein-gordon", "evo-dpste", "…one/searches/runs/klein-gordon-1"]
    assert tells(progress, "generation 3/8", "12/40 trained")
    assert bar.startswith("━" * 5 + "─" * 18 + "   25 %  2 min 10 s, ")
    assert bar.endswith(" 7 min left")
    assert re.search(r"\b92/320 trained, 2 failed, 1,234 epochs/s, 2 workers$", counts)
    assert header.split() == ["#", "loss", "error", "network", "shortcuts", "activation"]
    assert hall == [
        "1  1.00e-05  1.00e-03     6×48          2  asinh(x)*cos(x)",
        "2  2.00e-05  2.00e-03    12×20          0  sin(a*x)+(exp(x)…",
    ]
    assert hint.startswith("q or Ctrl-C")
    assert "`" not in hint  # the command does not fit


def test_a_screen_shows_how_the_best_loss_has_fallen():
    course = (math.inf, 1e2, 1e2, 1e0, 1e-5)
    counts, fallen, below = drawn(course=course)[3:6]
    assert "92/320" in counts
    assert fallen.endswith(" 1.00e+02 ██▆▁ 1.00e-05")
    assert below == ""
    assert not any("best loss" in line for line in drawn(course=(math.inf, math.nan)))
    assert not any("best loss" in line for line in drawn(height=11, course=course))
    assert not any("best loss" in line for line in drawn(width=36, course=course))


def test_a_long_course_of_the_loss_leaves_room_for_the_rest():
    hall = tuple(make_entry(rank) for rank in range(1, 31))
    for width in range(20, 140):
        for height in range(9, 30):
            lines = drawn(width, height, hall_of_fame=hall, course=tuple(1.0 / k for k in range(1, 256)))
            assert len(lines) <= height
            assert max(map(cell_len, lines)) <= width


def test_a_terminal_without_unicode_gets_none_of_it():
    snapshot = make_snapshot(course=(1e2, 1e-5), directory=Path("/home/someone/searches/runs/kg-1"))
    for width in (40, 60, 80):
        lines = Screen(ascii_only=True).lines(snapshot, width, 24, "q or Ctrl-C stops")
        text = ["".join(part for part, _ in line) for line in lines]
        assert "".join(text).isascii()
        assert max(map(len, text)) <= width
        assert any(line.endswith(" 1.00e+02 #_ 1.00e-05") for line in text)


def test_before_anything_is_known_the_screen_is_short():
    nothing = {"epochs": 0, "epochs_planned": 0, "epochs_per_second": 0.0, "seconds_left": None}
    lines = drawn(phase="starting", seconds=3.9, hall_of_fame=(), trained=0, failed=0, trainings=0, **nothing)
    assert lines[2:4] == ["3 s", "2 workers"]
    assert len(lines) == 6


def test_the_largest_error_stands_for_several_fields():
    errors = [{"u": 1e-3, "v": 2e-3}, {"u": math.nan, "v": 3e-3}, {}]
    hall = tuple(make_entry(rank, errors=each) for rank, each in enumerate(errors, start=1))
    column = [line[13:22].strip() for line in drawn(hall_of_fame=hall)[5:9]]
    assert column == ["max error", "2.00e-03", "nan", ""]


def test_a_hall_of_fame_without_errors_has_no_column_for_them():
    assert "error" not in drawn(hall_of_fame=(make_entry(1, errors={}),))[5]


def test_a_hall_of_fame_follows_the_search():
    screen = Screen()
    for rank in (3, 1):
        hall = (make_entry(rank),)
        lines = screen.lines(make_snapshot(hall_of_fame=hall), 80, 24, "")
        assert f"{rank}.00e-05" in lines[6][0][0]


@pytest.mark.parametrize(("epochs", "percent", "full"), [(0, 0, 0), (99_999, 99, 49), (100_000, 100, 50)])
def test_a_bar_is_full_only_at_the_end(epochs, percent, full):
    bar, rest, figures = Screen().lines(
        make_snapshot(epochs=epochs, epochs_planned=100_000, seconds=1.0, seconds_left=None), 62, 24, ""
    )[2]
    assert (len(bar[0]), len(rest[0])) == (full, 50 - full)
    assert figures[0] == f"  {percent:3d} %  1 s"


def test_clocks_go_on_between_snapshots_until_the_end():
    now = make_snapshot(seconds=10.0, seconds_left=3.0)
    assert (later(now, 2.0).seconds, later(now, 2.0).seconds_left) == (12.0, 1.0)
    assert later(now, 5.0).seconds_left == 0.0
    ended = make_snapshot(phase="finished")
    assert later(ended, 5.0) == ended


def test_times_are_no_finer_than_they_need_to_be():
    assert [clock(seconds) for seconds in (0.0, 59.99, 60.0, 3599.9)] == [
        "0 s",
        "59 s",
        "1 min 00 s",
        "59 min 59 s",
    ]
    left = {0.2: "1 s", 89.5: "90 s", 90.5: "2 min", 3599.0: "60 min", 7800.0: "2 h 10 min"}
    assert all(re.fullmatch(rf"\D+ {text} \D+", time_left(seconds)) for seconds, text in left.items())


def test_a_terminal_shows_the_newest_snapshot_and_in_the_end_one_line():
    console = terminal()
    with search_progress(console, no_stop, keys=False) as show:
        show(make_snapshot(done=13))
        show(make_snapshot(done=14))
        eventually(lambda: "14/40" in console.file.getvalue())
        show(make_snapshot(phase="finished", seconds=501.0))
    *_, screen, last = frames(console)
    assert "generation 3/8, 14/40 trained\n" in screen
    assert "Ctrl-C stops" in screen
    assert "q or" not in screen
    assert tells(" ".join(last.split()), "finished", "92 trained", "2 failed", *FOUND, "8 min 21 s")


def test_a_terminal_shows_at_once_what_is_loaded_and_nothing_of_it_stays():
    console = terminal()
    with search_progress(console, no_stop, keys=False) as show:
        show(make_snapshot(phase="loading", seconds=0.0, trainings=0, epochs_planned=0, hall_of_fame=()))
        eventually(lambda: "loading the problem" in console.file.getvalue())
    assert frames(console)[-1] == ""


def test_words_stand_on_a_terminal_while_something_takes_its_time(monkeypatch):
    for console, expected in [(terminal(), True), (Console(file=io.StringIO()), False)]:
        monkeypatch.setattr("evopinn.view.terminal.console.notes_console", lambda console=console: console)
        with meanwhile("loading libraries"):
            pass
        assert ("loading libraries" in console.file.getvalue()) is expected
        assert not frames(console)[-1].strip()


def test_a_screen_that_an_exception_ends_leaves_its_essentials():
    console = terminal()

    def searching():
        with search_progress(console, no_stop, keys=False) as show:
            show(make_snapshot())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        searching()
    essentials = ("generation 3/8", "12/40 trained", "2 failed", *FOUND, "2 min 10 s", "7 min left")
    assert tells(" ".join(frames(console)[-1].split()), *essentials)


def test_many_snapshots_are_drawn_a_few_times_a_second():
    console = terminal()
    began = time.monotonic()
    with search_progress(console, no_stop, keys=False) as show:
        while time.monotonic() - began < 5 * FRAME_SECONDS:
            show(make_snapshot(trained=int(1e4 * (time.monotonic() - began))))
            time.sleep(0.001)
        seconds = time.monotonic() - began
    shown = console.file.getvalue().count("in all")
    assert 2 <= shown <= 2 + seconds / FRAME_SECONDS


def test_what_does_not_change_is_not_drawn_again():
    console = terminal()
    with search_progress(console, no_stop, keys=False) as show:
        show(make_snapshot(phase="finished"))
        eventually(lambda: "in all" in console.file.getvalue())
        show(make_snapshot(phase="finished"))
        time.sleep(3 * FRAME_SECONDS)
    # Once on the way, and once more by rich when it erases it.
    assert console.file.getvalue().count("in all") == 2


def test_a_narrower_window_leaves_nothing_of_the_last_frame():
    console = terminal()
    with search_progress(console, no_stop, keys=False) as show:
        show(make_snapshot(phase="finished"))
        eventually(lambda: "in all" in console.file.getvalue())
        before = console.file.getvalue()
        drawn = Screen().lines(make_snapshot(phase="finished"), console.width, console.height, "Ctrl-C stops")
        narrow = console.width // 2
        console.width = narrow
        eventually(lambda: console.file.getvalue().count("in all") > before.count("in all"))
        after = console.file.getvalue()[len(before) :]
    broken = [sum(len(text) for text, _ in line) for line in drawn]
    rows = sum(max(1, -(-length // narrow)) for length in broken)
    assert rows > len(drawn)
    # The cursor is on the last row, and has to go up to the first of them.
    redrawn = after.partition("in all")[0]
    assert redrawn.count("\x1b[1A") == rows - 1
    assert redrawn.count("\x1b[2K") >= rows


@pytest.mark.parametrize("width", [17, 30, 34, 60])
def test_a_hint_is_not_cut(width):
    *_, hint = Screen().lines(make_snapshot(), width, 24, "q or Ctrl-C stops")
    ((text, _),) = hint
    assert text.startswith("q or Ctrl-C ")
    assert "…" not in text


def test_control_characters_are_not_obeyed():
    now = make_snapshot(problem="a\x1b[31mred", directory=Path("runs/b\rc"))
    console = terminal()
    with search_progress(console, no_stop, keys=False) as show:
        show(now)
        eventually(lambda: "in all" in console.file.getvalue())
    written = console.file.getvalue()
    assert r"a\x1b[31mred" in written
    assert r"b\rc" in written
    assert "a\x1b[31m" not in written


def test_notes_break_between_words_on_a_terminal_and_nowhere_else():
    words = (
        "evo-dpste: 3 generations; then the best 3 are trained 4 times, as `evopinn show /a/long/path` says"
    )
    tty = Console(file=io.StringIO(), force_terminal=True, width=20)
    note(words, tty)
    lines = tty.file.getvalue().splitlines()
    assert " ".join(line.strip() for line in lines) == words
    assert max(len(line.rstrip()) for line in lines) <= 20
    note("error: /a/path/that/is/longer/than/a/line is no run", tty)
    assert "/a/path/that/is/longer/than/a/line" in tty.file.getvalue()
    pipe = Console(file=io.StringIO(), width=20)
    note(words + "\x1b[31m", pipe)
    assert pipe.file.getvalue() == words + "\\x1b[31m\n"


def test_a_dumb_terminal_gets_a_log(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    console = terminal()
    with search_progress(console, no_stop) as show:
        show(make_snapshot())
    (line,) = console.file.getvalue().splitlines()
    assert all(word in line for word in ("klein-gordon", "evo-dpste", "2 workers", "runs/kg-1"))


def test_a_terminal_that_is_gone_does_not_disturb_the_search():
    class Gone(io.StringIO):
        def write(self, _text):
            raise OSError(5, "Input/output error")

    console = Console(file=Gone(), force_terminal=True, width=80)
    with search_progress(console, no_stop, keys=False) as show:
        for _ in range(3):
            show(make_snapshot())
            time.sleep(FRAME_SECONDS)


def test_what_is_only_timed_is_no_search_and_kept_nowhere():
    timed = {"method": "", "directory": Path(), "phase": "measuring"}
    assert logged(make_snapshot(**timed))[0].startswith("timing: klein-gordon ")
    assert "kept" not in logged(make_snapshot(**timed))[0]
    assert drawn(**timed)[0].strip() == "klein-gordon"
