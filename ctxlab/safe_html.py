"""HTML that may stand on a page: written anew from known elements, so that nothing else can get in.

Model answers, dataset ids and cell outputs are not trusted. The input is read leniently; the output consists of
escaped text and of elements and attributes of the tables below, properly nested, and of nothing else.
"""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_OUTPUTS = frozenset(
    (
        "b", "blockquote", "br", "caption", "code", "dd", "details", "div", "dl", "dt", "em", "hr", "i", "li", "ol",
        "p", "pre", "s", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
        "thead", "tr", "u", "ul", "wbr",
    )
)  # fmt: skip
_TEXTS = _OUTPUTS | {"a", "h1", "h2", "h3", "h4", "h5", "h6"}
_ALONE = frozenset({"br", "hr", "wbr"})
_SILENT = frozenset(
    {"script", "style", "template", "iframe", "object", "noscript", "title", "textarea", "select"}
)
"""Elements that are left out with all that they hold; of other unknown ones the text stays."""

_WORDS = re.compile(r"[\w -]{1,80}", re.ASCII)
_SPAN = re.compile(r"\d{1,3}", re.ASCII)
_ADDRESS = re.compile(r"(https?://|mailto:|#)[^\s\"'<>]{0,2000}", re.IGNORECASE)
_SCOPE = re.compile("row|col|rowgroup|colgroup")
_OUTPUT_ATTRIBUTES = {"class": _WORDS, "scope": _SCOPE, "colspan": _SPAN, "rowspan": _SPAN}
_TEXT_ATTRIBUTES = {**_OUTPUT_ATTRIBUTES, "href": _ADDRESS}


def safe_output(html: str) -> str:
    """The HTML of an output: tables and text; no links, no ids, no pictures."""
    return _written_anew(html, elements=_OUTPUTS, attributes=_OUTPUT_ATTRIBUTES)


def safe_text(html: str) -> str:
    """The HTML of a notebook's own text: also headings and links."""
    return _written_anew(html, elements=_TEXTS, attributes=_TEXT_ATTRIBUTES)


def _written_anew(html: str, *, elements: frozenset[str], attributes: Mapping[str, re.Pattern[str]]) -> str:
    writer = _Writer(elements=elements, attributes=attributes)
    writer.feed(html)
    writer.close()
    return writer.finished()


class _Writer(HTMLParser):
    """Reads any HTML and writes what is allowed of it."""

    def __init__(self, *, elements: frozenset[str], attributes: Mapping[str, re.Pattern[str]]) -> None:
        super().__init__(convert_charrefs=True)
        self._elements, self._attributes = elements, attributes
        self._written: list[str] = []
        self._open: list[str] = []
        self._silent: list[str] = []

    def finished(self) -> str:
        """What was written, with all elements closed."""
        return "".join([*self._written, *(_end(tag) for tag in reversed(self._open))])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write an allowed element; begin to leave out what a silent one holds."""
        if tag in _SILENT:
            self._silent.append(tag)
        if self._silent or tag not in self._elements:
            return
        if tag == "table":  # wide tables scroll on their own, by keyboard too
            self._written.append("<div class='scroll' tabindex='0' role='group' aria-label='table'>")
        self._written.append(f"<{tag}{''.join(self._kept(attrs))}>")
        if tag not in _ALONE:
            self._open.append(tag)

    def _kept(self, attrs: Iterable[tuple[str, str | None]]) -> Iterator[str]:
        for name, value in dict(attrs).items():
            rule = self._attributes.get(name)
            if rule is not None and value is not None and rule.fullmatch(value):
                yield f' {name}="{escape(value)}"'

    def handle_endtag(self, tag: str) -> None:
        """Close an element that is open, and those inside it that were left open."""
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
            return
        while tag in self._open:
            last = self._open.pop()
            self._written.append(_end(last))
            if last == tag:
                return

    def handle_data(self, data: str) -> None:
        """Write text as text."""
        if not self._silent:
            self._written.append(escape(data, quote=False))


def _end(tag: str) -> str:
    return f"</{tag}></div>" if tag == "table" else f"</{tag}>"
