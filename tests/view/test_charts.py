"""Charts for the terminal: what they show, and that they fit, whatever the numbers are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from evopinn.view.terminal.charts import LEAST_WIDTH, MOST_WIDTH, Stair, bar, bars, sparkline, spread
from evopinn.view.terminal.charts import staircase as stairs
from evopinn.view.terminal.glyphs import ASCII, BLOCKS

anything = st.floats(allow_nan=True, allow_infinity=True, width=64)
glyphs = st.sampled_from([BLOCKS, ASCII])
widths = st.integers(LEAST_WIDTH, MOST_WIDTH)
counts = st.integers(0, 10**9)


def fits(lines, width, chosen):
    assert all(cell_len(line) <= width for line in lines)
    assert "\n" not in "".join(lines)
    if chosen is ASCII:
        assert "".join(lines).isascii()


@given(st.lists(anything), st.integers(0, MOST_WIDTH), glyphs)
def test_a_sparkline_has_a_character_for_each_value_that_there_is_room_for(values, width, chosen):
    line = sparkline(values, width, chosen)
    fits([line], width, chosen)
    assert len(line) == min(len(values), width)
    if len(values) <= width:
        assert [mark == " " for mark in line] == [not math.isfinite(value) for value in values]


@given(st.lists(st.floats(1e-12, 1e3), min_size=2, max_size=60))
def test_a_sparkline_never_puts_a_smaller_value_higher(values):
    heights = [BLOCKS.levels.index(mark) for mark in sparkline(values, 60)]
    for one, height in zip(values, heights, strict=True):
        for other, beside in zip(values, heights, strict=True):
            assert one > other or height <= beside


@pytest.mark.parametrize(
    ("values", "width", "shown"),
    [
        ([], 10, ""),
        ([3.0], 10, "▄"),
        ([2.0, 2.0, 2.0], 10, "▄▄▄"),
        ([0.0, -1.0], 10, "▄▄"),
        ([math.nan, math.inf, -math.inf], 10, "   "),
        ([1.0, math.nan, 1e-7], 10, "█ ▁"),
        ([1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1e0], 8, "█▇▆▅▄▃▂▁"),
        ([1.0, 0.0, 1e-7], 10, "█▁▁"),
        ([1e300, 1e1, 1e0], 10, "█▁▁"),
        ([9.0, 4.0, 9.0, 2.0, 9.0, 1.0], 3, "█▅▁"),
    ],
)
def test_a_sparkline_is_logarithmic_and_ends_with_the_newest(values, width, shown):
    assert sparkline(values, width) == shown


def test_a_sparkline_can_be_drawn_in_ascii():
    assert sparkline([1e7, 1e4, 1e0], 8, ASCII) == "#+_"


@pytest.mark.parametrize(
    ("value", "width", "drawn"),
    [
        (8, 4, "████"),
        (5, 4, "██▌"),
        (1e-9, 4, "▏"),
        (0, 4, ""),
        (math.nan, 4, ""),
        (math.inf, 4, ""),
        (9, 4, "████"),
        (8, 0, ""),
    ],
)
def test_a_bar_is_as_long_as_its_share(value, width, drawn):
    assert bar(value, 8, width) == drawn


@given(st.lists(st.tuples(st.text(st.characters(codec="ascii", exclude_categories=["C"])), counts)), widths)
def test_bars_fit(rows, width):
    for chosen in (BLOCKS, ASCII):
        lines = bars(rows, width, chosen)
        fits(lines, width, chosen)
        assert len(lines) == len(rows)


def test_bars_have_names_and_counts():
    assert bars([("not-finite", 1200), ("raised", 300), ("poison", 0)], 40) == [
        "not-finite ███████████████████████ 1,200",
        "    raised █████▊ 300",
        "    poison 0",
    ]
    assert bars([("raised", 3)], 40, ASCII) == ["raised " + "#" * 31 + " 3"]
    assert bars([], 40) == []


@given(
    st.lists(st.builds(Stair, st.text("0123456789"), counts, counts, st.just(0), st.none() | counts)),
    widths,
    glyphs,
)
def test_a_staircase_fits(steps, width, chosen):
    lines = stairs(steps, width, chosen)
    fits(lines, width, chosen)
    legend = any(step.reached < 1 for step in steps)
    assert len(lines) == (len(steps) + 1 + legend if steps else 0)


def test_a_staircase_goes_down_and_up_and_marks_what_is_planned():
    steps = [Stair("1", 80, 24), Stair("2", 40, 48, done=40), Stair("3", 10, 96, done=0)]
    header, *bars, legend = stairs(steps, 44)
    assert (header.index("networks"), header.index("epochs")) == (2, 24)
    assert bars == [
        "1 █████████████████ 80  ████▎ 24",
        "2 ████████▌ 40          ████████▌ 48",
        "3 ░░░ 10                ░░░░░░░░░░░░░░░░░ 96",
    ]
    assert legend.startswith("  ░ ")
    assert "trained" in legend


def test_a_staircase_tells_elitists_apart_and_how_far_a_step_is():
    steps = [Stair("1", 16, 20), Stair("2", 10, 40, again=2, done=5), Stair("final", 4, 40, done=0)]
    header, *bars, legend = stairs(steps, 54)
    assert (header.index("new + elitists"), header.index("epochs")) == (6, 31)
    assert bars == [
        "    1 ██████████████ 16        ██████████ 20",
        "    2 ████▍░░░░ 5 of 8+2       ████████████████████ 40",
        "final ░░░░ 4                   ░░░░░░░░░░░░░░░░░░░░ 40",
    ]
    assert legend.startswith("      ░ ")
    assert "trained" in legend


@given(
    st.lists(st.lists(anything, max_size=12), max_size=260), widths, st.integers(3, 12), glyphs, st.booleans()
)
def test_a_spread_fits(groups, width, height, chosen, running):
    names = [str(number) for number in range(1, len(groups) + 1)]
    lines = spread(groups, names, width, height, chosen, running=running)
    fits(lines, width, chosen)
    finite = any(math.isfinite(value) for group in groups for value in group)
    assert len(lines) == (height + 3 if finite else 0)


def test_a_spread_shows_the_best_the_median_and_the_quartiles():
    groups = [[3e2, 3e3, 3e4, 3e5, 3e6], [3e0, 3e1, 3e2, 3e3, 3e4], [math.inf], [1e-1]]
    *chart, legend = spread(groups, ["1", "2", "3", "final"], 40, 7)
    assert chart == [
        "3.00e+05 │░░░░░░",
        "         │━━━━━━",
        "         │░░░░░░ ░░░░░░",
        "1.73e+02 │  ●    ━━━━━━",
        "         │       ░░░░░░",
        "         │         ●",
        "1.00e-01 │                     ━━●━━━",
        "         └────────────────────────────",
        "            1      2      3    final",
    ]
    assert legend.split() == ["●", "best", "━", "median", "░", "quartiles"]


def test_a_spread_of_single_trainings_shows_the_best_so_far():
    groups = [[1e1], [1e3], [math.nan], [1e-1], [1e0]]
    *chart, legend = spread(groups, list("12345"), 40, 3, ASCII, running=True)
    assert chart == [
        "1.00e+01 |  o     o     o",
        "         |",
        "1.00e-01 |                    o     o",
        "         +------------------------------",
        "            1     2     3     4     5",
    ]
    assert legend.split()[:2] == ["o", "best"]


def test_a_spread_of_equal_values_stands_in_the_middle():
    lines = spread([[2.0, 2.0], [2.0]], ["1", "2"], 40, 3)
    assert lines[:3] == ["         │", "2.00e+00 │━━●━━━ ━━●━━━", "         │"]


def test_of_more_groups_than_columns_neighbours_are_put_together():
    groups = [[10.0 ** -(number // 3)] for number in range(90)]
    names = [str(number) for number in range(1, 91)]
    lines = spread(groups, names, 40, 9, running=True)
    assert lines[9] == "         └" + "─" * 30
    assert lines[10].split()[:4] == ["1", "7", "16", "25"]
    assert lines[0].count("●") > 1


def test_values_that_blew_up_stand_at_the_upper_edge():
    lines = spread([[1e300], [1e0], [1e-2]], ["1", "2", "3"], 40, 9)
    assert "●" in lines[0]
    assert lines[0].startswith("1.00e+14")
