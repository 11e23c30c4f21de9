"""The files that pages are made of: nothing in them takes text for markup, or asks another machine."""

import re

import pytest

from evopinn.view.dashboard.assets import assets

MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "createContextualFragment")
MARKUP += ("DOMParser", "srcdoc", "setHTML", "eval(", "new Function")
NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.mark.parametrize("name", assets())
def test_no_file_makes_elements_of_text_or_asks_another_machine(name):
    text, _ = assets()[name]
    assert [word for word in MARKUP if word in text] == []
    assert re.findall(r"(?:https?:|[\"'(])//\w[^\s\"')]*", text.replace(NAMESPACE, "")) == []


def test_all_scripts_are_looked_at():
    assert {"run.js", "runs.js", "individual.js", "compare.js", "dom.js", "tables.js"} <= set(assets())
