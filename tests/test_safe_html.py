"""HTML written anew: what stays, what goes, and that nothing gets out of its place."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.safe_html import safe_output, safe_text

SCROLL = "<div class='scroll' tabindex='0' role='group' aria-label='table'>"


# covers GEN-055, GEN-059
@pytest.mark.parametrize(
    ("html", "safe"),
    [
        ("a &lt;b&gt; &amp; c", "a &lt;b&gt; &amp; c"),
        ("<p>one<br>two</p>", "<p>one<br>two</p>"),
        ("<script>alert(1)</script>after", "after"),
        ("<style>p{}</style><p>x</p>", "<p>x</p>"),
        ("<p onclick='x()' style='y'>a</p>", "<p>a</p>"),
        ("<img src=x onerror=alert(1)>b", "b"),
        ("<a href='https://e.example/'>c</a>", "c"),
        ("<iframe src='x'>d</iframe>e", "e"),
        ("<form action='x'><button>f</button></form>", "f"),
        ("<svg><script>g</script></svg>h", "h"),
        ("</div></main><p>i", "<p>i</p>"),
        ("<b><i>j</b>k", "<b><i>j</i></b>k"),
        ("<!-- x --><?php y ?><!DOCTYPE z>l", "l"),
        ('<td class="a b">m</td>', '<td class="a b">m</td>'),
        ('<td class="&quot;><script>">n</td>', "<td>n</td>"),
        ("<th scope=col colspan=2 rowspan=x>o</th>", '<th scope="col" colspan="2">o</th>'),
        ("<meta http-equiv=refresh content='0;url=x'>p", "p"),
        ("<p id=top>q</p>", "<p>q</p>"),
        ("a<wbr>b", "a<wbr>b"),
        ("<scr<script>x</script>ipt>r", "xipt&gt;r"),  # an unknown element called scr<script
        ("<table><tr><td>s</table>", f"{SCROLL}<table><tr><td>s</td></tr></table></div>"),
    ],
)
def test_an_output_keeps_text_and_tables_and_nothing_else(html, safe):
    assert safe_output(html) == safe


@pytest.mark.parametrize(
    ("html", "safe"),
    [
        ("<h2>a</h2>", "<h2>a</h2>"),
        ("<a href='https://e.example/?a=1&amp;b=2'>b</a>", '<a href="https://e.example/?a=1&amp;b=2">b</a>'),
        ("<a href='#x'>c</a>", '<a href="#x">c</a>'),
        ("<a href='javascript:alert(1)'>d</a>", "<a>d</a>"),
        ("<a href=' JAVASCRIPT:alert(1)'>e</a>", "<a>e</a>"),
        ("<a href='data:text/html,x'>f</a>", "<a>f</a>"),
        ("<img src='https://e.example/x.png'>g", "g"),
        ("<script>h</script>i", "i"),
    ],
)
def test_a_text_cell_keeps_headings_and_links_to_addresses(html, safe):
    assert safe_text(html) == safe


class Reader(HTMLParser):
    """Elements as they are opened and closed, and the attributes that were seen."""

    def __init__(self):
        super().__init__()
        self.stack, self.attributes = [], set()

    def handle_starttag(self, tag, attrs):
        self.attributes |= {name for name, _ in attrs}
        assert tag in {"p", "b", "i", "br", "table", "tr", "td", "div", "wbr", "code"}
        if tag not in ("br", "wbr"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag


PIECES = st.sampled_from(
    ["<p>", "</p>", "<b", "<b>", "</b>", "<i class='x'>", "</i>", "<table>", "</table>", "<tr>", "<td onclick=a>", "</td>",
     "<br>", "<script>", "</script>", "<img src=x onerror=y>", "text", "&lt;", "&", "<", ">", "'", '"', "<!--", "-->", "</div>"]
)  # fmt: skip


# covers GEN-055
@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.text(max_size=5), max_size=14).map("".join))
def test_whatever_comes_in_what_goes_out_is_nested_and_known(html):
    reader = Reader()
    safe = safe_output(html)
    reader.feed(safe)
    reader.close()
    assert reader.stack == []
    assert reader.attributes <= {"class", "tabindex", "role", "aria-label"}
    assert not re.search(r"<(script|img)", safe)
