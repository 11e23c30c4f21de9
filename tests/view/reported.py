"""A look into a report: its elements, its words, its tables."""

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """What is in an HTML file.

    Attributes:
        elements: All elements as pairs of a name and attributes.
        words: All text outside of style and script.
        tables: Of each table its rows, each a list of pairs: the words of a cell, and what it is sorted by.
        unclosed: Elements that are not closed, or closed in the wrong order.
    """

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.tables, self.unclosed = [], [], []
        self._open, self._words = [], []
        self.feed(text)
        self.close()
        self.unclosed += self._open

    @property
    def words(self):
        return " ".join(" ".join(self._words).split())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append(["", attributes.get("data-value")])

    def handle_endtag(self, tag):
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.unclosed.append(f"/{tag}")

    def handle_data(self, data):
        if self._open and self._open[-1] in ("style", "script"):
            return
        self._words.append(data)
        if {"td", "th"} & set(self._open) and self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1][0] += data

    def of(self, *tags):
        """The attributes of all elements of some names."""
        return [attributes for tag, attributes in self.elements if tag in tags]


def assert_sound(text):
    """One file that stands alone: nothing from elsewhere, one script, everything closed."""
    page = Page(text)
    assert page.unclosed == []
    assert len(page.of("script")) == 1
    assert not page.of("link", "iframe", "object", "embed", "base", "form", "foreignobject")
    (policy,) = [each["content"] for each in page.of("meta") if "http-equiv" in each]
    assert policy.startswith(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-"
    )
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), attributes
        assert "src" not in attributes or (tag == "img" and attributes["src"].startswith("data:image/"))
        assert "href" not in attributes or attributes["href"].startswith("#")
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {each["href"][1:] for each in page.of("a")} <= set(ids)
    assert all(each["alt"] for each in page.of("img"))
    return page
