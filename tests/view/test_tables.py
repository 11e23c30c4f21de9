"""Tables and named values: what each medium has of them, whatever they contain and however narrow it is."""

import csv
import io
import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reported import Page
from rich.cells import cell_len
from rich.console import Console

from evopinn.view.tables import FORMATS, NOTHING, Cell, Column, Fact, Facts, Phrase, Table

HOSTILE = "<script>alert(1)</script> [red]*a*[/red] | `b` \x1b[31m $x$"
VALUES = {
    "words": "two words",
    "name": "a-name",
    "code": "a*tanh(x)",
    "verdict": "better",
    "structure": "7×30 [0-2]",
    "note": "Traceback (most recent call last):\n  File\nValueError: bad",
    "number": "1.2 ± 3",
    "id": 54321,
    "count": 12345,
    "plain": 0.5,
    "scientific": 8.85e-5,
    "seconds": 75.0,
    "moment": 1.7e9,
    "task": 65432,
    "tasks": "3 5",
    "run": "first",
}


def printed(content, width=200):
    file = io.StringIO()
    Console(file=file, width=width).print(content.rich())
    return file.getvalue()


def page_of(content):
    """What is made of HTML, all of whose elements are closed."""
    page = Page(str(content.html()))
    assert page.unclosed == []
    return page


def one_of_each_kind():
    columns = [Column(kind, kind, value=lambda record, kind=kind: record[kind]) for kind in FORMATS]
    return Table("All", columns, [VALUES, dict.fromkeys(FORMATS)])


def test_every_kind_has_a_row_here():
    assert set(VALUES) == set(FORMATS)


def test_every_medium_has_every_kind():
    table = one_of_each_kind()
    lines = printed(table, 1000).splitlines()
    assert lines[0] == "All"
    shown = re.split(" {2,}", lines[2].strip())
    assert shown[:5] == ["two words", "a-name", "a*tanh(x)", "better", "7×30 [0-2]"]
    assert shown[5] == "ValueError: bad"
    assert shown[6:12] == ["1.2 ± 3", "54321", "12,345", "0.5", "8.85e-05", "1 min 15 s"]
    assert re.fullmatch(r"2023-11-1\d \d\d:\d\d", shown[12])
    written = table.markdown()
    assert "8.85 × 10⁻⁵" in written
    assert "`a*tanh(x)`" in written
    (rows,) = page_of(table).tables
    assert [row[10][0] for row in rows] == ["scientific", "8.85 × 10⁻⁵", NOTHING]
    assert table.data()[0]["scientific"] == 8.85e-5
    assert list(csv.reader(io.StringIO(table.csv())))[1][10] == "8.85e-05"


def test_what_is_not_there_is_told_in_the_way_of_each_medium():
    table = one_of_each_kind()
    assert printed(table, 1000).splitlines()[3:] == [""]
    assert "None" not in printed(table) + table.markdown() + table.csv() + str(table.html())
    assert set(table.data()[1].values()) == {None}
    assert json.loads(json.dumps(table.data(), allow_nan=False))


@pytest.mark.parametrize(
    ("value", "text", "typeset", "data"),
    [
        (math.nan, "", NOTHING, None),
        (math.inf, "", "∞", None),
        (-math.inf, "", "−∞", None),
        (None, "", NOTHING, None),
        (0.0, "0.00e+00", "0", 0.0),
        (12.0, "1.20e+01", "12.0", 12.0),
        (-1.234e-12, "-1.23e-12", "-1.23 × 10⁻¹²", -1.234e-12),
    ],
)
def test_numbers_that_are_not_finite(value, text, typeset, data):
    cell = Cell("scientific", value)
    assert (cell.text, cell.typeset, cell.data) == (text, typeset, data)
    if data is None:
        assert cell.sort_key == ""
    else:
        assert float(cell.sort_key) == value


def test_words_of_others_stay_words():
    columns = [Column(HOSTILE), Column("code", "code"), Column("verdict", "verdict"), Column("note", "note")]
    table = Table(HOSTILE, columns, [[HOSTILE] * 4], notes=[HOSTILE])
    shown, written, page = printed(table, 400), table.markdown(), page_of(table)
    assert "<script>" in shown
    assert "[red]*a*[/red]" in shown
    assert "\x1b[31m" not in shown
    assert r"\<script\>" in written
    assert "`` <script>alert(1)</script>" in written
    assert len([line for line in written.splitlines() if line.startswith("|")]) == 3  # no row is broken
    assert page.of("script") == []
    assert "<script>" in page.words


@given(st.text(), st.sampled_from(["words", "name", "code", "verdict", "structure", "note", "number"]))
def test_no_text_breaks_a_table(text, kind):
    table = Table("", [Column("a", kind), Column("b")], [[text, "last"], ["x", text]])
    assert len(page_of(table).tables[0]) == 3
    # Whatever is in a cell, it opens no element of its own.
    assert {tag for tag, _ in page_of(table).elements} <= {
        *("div", "table", "thead", "tbody", "tr", "th", "td", "code", "span", "details", "summary", "pre")
    }
    assert len([line for line in table.markdown().splitlines() if line.startswith("|")]) == 4
    assert len(list(csv.reader(io.StringIO(table.csv(), newline="")))) == 3
    assert table.data()[0]["a"] == text
    assert "\x1b" not in printed(table)


@given(
    st.lists(st.tuples(st.sampled_from(sorted(FORMATS)), st.integers(0, 3)), min_size=1, max_size=8),
    st.integers(20, 200),
)
def test_a_table_fits_every_terminal(columns, width):
    table = Table(
        "",
        [
            Column(f"c{place}", kind, lambda record, kind=kind: record[kind], gives_way)
            for place, (kind, gives_way) in enumerate(columns)
        ],
        [VALUES] * 3,
    )
    lines = printed(table, width).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_columns_give_way_in_their_order():
    columns = [
        Column("kept"),
        Column("first", "name", gives_way=2),
        *(Column(n, "name", gives_way=1) for n in "ab"),
    ]
    table = Table("", columns, [["k" * 10, "f" * 10, "a" * 10, "b" * 10]])
    headers = [printed(table, width).splitlines()[0].split() for width in (50, 47, 35, 23)]
    assert headers == [["kept", "first", "a", "b"], ["kept", "a", "b"], ["kept", "a"], ["kept"]]


def test_groups_are_said_once():
    columns = [Column("a"), Column("b"), Column("c")]
    table = Table("", columns, [["x", "1", "p"], ["x", "1", "q"], ["x", "2", "r"]], groups=2)
    shown = [[cell.text for cell in row] for row in table.shown]
    assert shown == [["x", "1", "p"], ["", "", "q"], ["x", "2", "r"]]
    assert [row["a"] for row in table.data()] == ["x", "x", "x"]  # data has all of it
    assert Table("", [Column("a")], []).shown == []


def test_a_page_sorts_by_values_and_marks_what_was_chosen():
    columns = [
        Column("rank", "count"),
        Column("loss", "scientific", unit="Pa"),
        Column("why", sortable=False),
        Column("run", "name", heads=True, href=lambda record: f"#{record[0]}"),
    ]
    table = Table(
        "Runs",
        columns,
        [[1, 2e-5, "a", "one"], [2, math.inf, "b", "two"]],
        sorts=True,
        sorted_by="rank",
        chosen=lambda record: record[0] == 2,
    )
    page = page_of(table)
    (rows,) = page.tables
    assert [row[1][1] for row in rows] == [None, "2e-05", ""]
    assert rows[0][1][0] == "loss [Pa]"
    assert len(page.of("button")) == 3
    assert [each.get("aria-sort") for each in page.of("th")][:2] == ["ascending", None]
    assert [each.get("class") for each in page.of("tr")] == [None, None, "chosen"]
    assert [each["href"] for each in page.of("a")] == ["#1", "#2"]
    assert [each.get("scope") for each in page.of("th")][-1] == "row"


def test_columns_are_named_for_programs():
    table = Table("", [Column("tried again", "count"), Column("time", "seconds", key="seconds")], [[1, 2.5]])
    assert table.data() == [{"tried_again": 1, "seconds": 2.5}]
    assert table.csv() == "tried_again,seconds\r\n1,2.5\r\n"


def test_facts_say_the_same_everywhere():
    loss = Phrase("loss ", Cell("scientific", 8.85e-5), " after ", Cell("count", 5000), " epochs")
    facts = Facts([Fact("best", Cell("code", "tanh(x)")), Fact("loss", loss), Fact(HOSTILE, HOSTILE)])
    shown = printed(facts, 300)
    assert "loss 8.85e-05 after 5,000 epochs" in shown
    assert "\x1b" not in shown
    page = page_of(facts)
    assert "loss 8.85 × 10⁻⁵ after 5,000 epochs" in page.words
    assert page.of("script") == []
    lines = facts.markdown().splitlines()
    assert lines[:2] == ["- best: `tanh(x)`", "- loss: loss 8.85 × 10⁻⁵ after 5,000 epochs"]
    assert len(lines) == 3
    assert facts.data()["best"] == "tanh(x)"
