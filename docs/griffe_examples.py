"""For the reference pages: reads a docstring's `Example:` as the section that Griffe knows as `Examples:`."""

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Without this, an example is a remark whose `>>>` Markdown takes for a quotation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rename the section before the docstring is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
