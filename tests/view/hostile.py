"""A run whose every word means harm to a page that takes it for more than text."""

import json
import sqlite3
from contextlib import closing

from figured import make_run

from evopinn.store.directory import DATABASE

WORDS = (
    """<img src=x onerror="alert(1)"><script>alert(2)</script><b>"bold"</b> &lt; {{ 7*7 }} ${name} %3Cb%3E"""
)

_CONFIG = f"""problem = '{WORDS}'
method = '{WORDS}'
seed = 7

[recorded]
problem = '{WORDS}'
plan = '{WORDS}'
"""


def make_hostile_run(directory):
    """A finished run, task 5 of which has failed; genomes, operations, events and settings are `WORDS`."""
    make_run(directory)
    with closing(sqlite3.connect(directory / DATABASE)) as connection:
        connection.execute("UPDATE tasks SET genome = ?, operations = ?", (WORDS, json.dumps([WORDS])))
        connection.execute("UPDATE evaluations SET note = ?, status = ? WHERE task = 5", (WORDS, WORDS))
        connection.execute(
            "UPDATE evaluations SET errors = ? WHERE loss < 9e999", (json.dumps({WORDS: 0.1}),)
        )
        connection.execute("UPDATE tallies SET status = ? WHERE status = 'not-finite'", (WORDS,))
        connection.execute("UPDATE events SET text = ?", (WORDS,))
        connection.execute("INSERT INTO events VALUES (99, 1.7e9, ?, ?)", (WORDS, WORDS))
        connection.execute("UPDATE run SET config = ?, versions = ?", (_CONFIG, json.dumps({WORDS: WORDS})))
        connection.commit()
