"""What all fuzzing has in common: hostile words, the law that every input is held to, and how many there are.

A short form is part of all tests and always tries the same inputs. `EVOPINN_FUZZ=long` tries a hundred
thousand, other ones each time; where one fails, what is printed brings it again.
"""

import contextlib
import os
import random
import signal
import time

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from evopinn.errors import EvopinnError

LONG = os.environ.get("EVOPINN_FUZZ") == "long"
PATIENCE = 60
"""Seconds after which an input hangs, on a machine that is busy."""

MOST_CPU_SECONDS = 5.0
MOST_CHARACTERS = 4200
MOST_LINES = 4

HOSTILE = (
    *("", " ", "\n", "\r\n", "\t", "\0", "\x1b[31m", "\x07", "\x9b", "\u202e", "\u2028", "\ufeff", "\ud800"),
    *(
        "0",
        "-1",
        "1e400",
        "-1e400",
        "nan",
        "inf",
        "-inf",
        "9" * 20,
        "9" * 400,
        "0x" + "f" * 40,
        "1_000",
        "١",
        "９",
    ),
    *(
        "(",
        ")",
        "((((",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        '"""',
        "\\",
        "=",
        ",",
        ";",
        ":",
        "#",
        "--",
        "%s",
        "{0}",
    ),
    *("__import__('os').system('id')", "!!python/object:os.system", "../../..", "/", ".", "..", "~", "$(id)"),
    *(
        "true",
        "null",
        "None",
        "ä",
        "中",
        "\U0001f600",
        "x" * 300,
        "é".encode("latin-1").decode("utf-8", "replace"),
    ),
)
"""Pieces of text that a program may stumble over."""

TEXT = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(HOSTILE)

NUMBERS = st.one_of(
    st.integers(-3, 30),
    st.sampled_from([2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 10**16, 10**400, 10**4000]),
    st.floats(),
)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
"""Anything that JSON might have."""

DEEP = "(" * 100_000
TEN_MEGABYTES = 10_000_000
HUGE = {
    "parentheses": DEEP,
    "closed parentheses": f"{DEEP}x{')' * 100_000}",
    "brackets": "[" * 100_000,
    "braces": '{"a":' * 100_000,
    "digits": "9" * 10_000,
    "hexadecimal digits": f"0x{'f' * 20_000}",
    "letters": "a" * TEN_MEGABYTES,
    "spaces": " " * TEN_MEGABYTES,
    "lines": "x\n" * (TEN_MEGABYTES // 2),
    "fields": "layers=3 " * (TEN_MEGABYTES // 9),
    "sums": "x+" * (TEN_MEGABYTES // 2),
    "control characters": "\x1b[31m" * (TEN_MEGABYTES // 5),
}
"""Texts that are too much of something."""


def tries(short, long):
    """How many inputs a test tries, in the short form and in the long one."""
    return settings(
        max_examples=long if LONG else short,
        deadline=None,
        database=None,
        derandomize=not LONG,
        print_blob=LONG,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def mutated(draw, seeds, pieces=HOSTILE):
    """One of some texts with parts of it left out, doubled, or put in from elsewhere."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 12)))
        piece = draw(st.one_of(st.sampled_from(pieces), st.just(text[start:stop] * 2), TEXT))
        text = text[:start] + piece + text[stop:]
    return text


BATCH = 50


def batch(seed, seeds, tokens):
    """As many texts as `BATCH`, changed as by `mutated`, or joined tokens; a tenth of the time for each.

    Args:
        seed: Of random numbers, from which all follows.
        seeds: Texts to change.
        tokens: Pieces to put in, besides hostile ones.
    """
    rng = random.Random(seed)
    pieces = (*tokens, *HOSTILE)
    for _ in range(BATCH):
        text = rng.choice(seeds) if rng.random() < 0.7 else "".join(rng.choices(pieces, k=rng.randrange(12)))
        for _ in range(rng.choice((0, 1, 1, 2, 5))):
            start = rng.randrange(len(text) + 1)
            stop = min(len(text), start + rng.choice((0, 0, 1, 3, 12)))
            other = chr(rng.randrange(0x110000)) if rng.random() < 0.2 else rng.choice(pieces)
            text = text[:start] + rng.choice((other, other, text[start:stop] * 2, "")) + text[stop:]
        yield text


@st.composite
def joined(draw, tokens):
    """Tokens of a language in any order, with hostile pieces among them."""
    pieces = draw(st.lists(st.sampled_from(tokens) | TEXT, max_size=12))
    return draw(st.sampled_from(["", " ", ","])).join(pieces)


@st.composite
def mutated_bytes(draw, content):
    """A file's contents with some bytes written over, left out or cut off."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 6))):
        end = draw(st.sampled_from([min(len(content), 200), len(content)]))
        start = draw(st.integers(0, end))
        changed[start : start + draw(st.integers(0, 40))] = draw(st.binary(max_size=40))
    return bytes(changed[: draw(st.sampled_from([len(changed), draw(st.integers(0, len(changed)))]))])


@st.composite
def mutated_tree(draw, data):
    """Plain data in which something, at any depth, is something else, missing or new."""
    if draw(st.integers(0, 3)) == 0 or not isinstance(data, dict | list) or not data:
        return draw(PLAIN)
    keys = list(data) if isinstance(data, dict) else list(range(len(data)))
    key = draw(st.sampled_from(keys))
    changed = data.copy()
    how = draw(st.integers(0, 9))
    if how == 0:
        del changed[key]
    elif how == 1 and isinstance(changed, dict):
        changed[draw(TEXT)] = draw(PLAIN)
    else:
        changed[key] = draw(mutated_tree(data[key]))
    return changed


class Law:
    """Every input is taken or refused, soon, with a message of ours; `tried` counts them."""

    def __init__(self):
        self.tried = 0
        self.refused = 0

    def holds(self, attempt, *arguments):
        """What an attempt returns; None if it is refused."""
        with self.bounded():
            try:
                return attempt(*arguments)
            except EvopinnError as error:
                self.refused += 1
                check_message(str(error))
                return None

    @contextlib.contextmanager
    def bounded(self):
        """Count one input, which must be done with in time."""
        self.tried += 1
        before = signal.signal(signal.SIGALRM, _hung)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        began = time.process_time()
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert time.process_time() - began < MOST_CPU_SECONDS


LAW = Law()


def check_message(text):
    """A message is a sentence that a person can read on a screen."""
    assert text.strip()
    assert len(text) <= MOST_CHARACTERS
    assert text.count("\n") < MOST_LINES
    for sign in ("Traceback", "object at 0x", "Error(", "validation error"):
        assert sign not in text


def _hung(_signal, _frame):
    raise AssertionError("this input hangs")
