"""The page that people share: what it holds, that it loads and runs nothing, and that it can be read."""

from __future__ import annotations

import base64
import io
import re

import nbformat
import pytest

from ctxlab.page import render_page
from ctxlab.showing import Shown, show_table, show_text
from tests.notebooks import ROOT, report

HOSTILE = "<script>document.title='taken'</script><img src=https://e.example/x onerror=alert(1)>[a](https://e.example)"


def bundle(shown: Shown):
    data, metadata = shown._repr_mimebundle_()
    return nbformat.v4.new_output("display_data", data=data, metadata=metadata)


def notebook(*outputs, texts=("# A *title*\n\nAbout `x`.", "## First part", "## Second <b>part</b>")):
    v4 = nbformat.v4
    parameters = v4.new_code_cell(
        "rows: int = 3  # how many\nplace: str | None = None", metadata={"tags": ["parameters"]}
    )
    cells = [v4.new_markdown_cell(texts[0]), parameters, *map(v4.new_markdown_cell, texts[1:])]
    made = v4.new_notebook(cells=[*cells, v4.new_code_cell("shown()", outputs=list(outputs))])
    made.metadata["papermill"] = {"start_time": "2026-01-02T03:04:05.678+00:00", "duration": 12.4}
    run = {"fingerprint": "0123456789abcdef", "client_kind": "endpoint", "counter": "utf8_bytes_2"}
    made.metadata["ctxlab"] = {"parameters": {"rows": 5, "place": None}, "run": run}
    return made


def text_of(html):
    """What a reader sees of HTML, as one line."""
    return " ".join(re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL).split())


# covers GEN-055
def test_the_page_has_a_title_sections_parameters_and_its_origin():
    page = render_page(notebook(), name="x")
    assert "<title>A title</title>" in page
    assert '<html lang="en">' in page
    assert '<a href="#section-2">Second &lt;b&gt;part&lt;/b&gt;</a>' in page
    assert '<h2 id="section-2">Second &lt;b&gt;part&lt;/b&gt;</h2>' in page
    text = text_of(page)
    assert "executed 2026-01-02 03:04 UTC in 12 s run 0123456789ab client endpoint" in text
    assert "parameter value meaning rows 5 how many place none" in text
    assert "shown()" not in page


def test_without_a_heading_the_name_is_the_title():
    assert "<title>04_x</title>" in render_page(notebook(texts=("Text.",)), name="04_x")


# covers GEN-055, EVA-113
def test_no_script_and_no_address_is_loaded():
    page = render_page(notebook(), name="x")
    policy = re.search(r'<meta content="([^"]*)" http-equiv="Content-Security-Policy"', page)[1]
    assert policy.split("; ")[:3] == ["default-src 'none'", "img-src data:", "style-src 'unsafe-inline'"]
    assert "<script" not in page
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", page)
    assert not re.search(r"url\(|@import", page)


# covers GEN-055, GEN-059
def test_a_hostile_answer_stays_text():
    import pandas as pd

    table = pd.DataFrame({"case": ["c1"], "answer": [HOSTILE]}, dtype="string")
    outputs = [
        bundle(show_table(table, title=HOSTILE)),
        bundle(show_text([HOSTILE])),
        nbformat.v4.new_output("stream", text=HOSTILE),
        nbformat.v4.new_output("display_data", data={"text/plain": HOSTILE, "text/markdown": HOSTILE}),
        nbformat.v4.new_output(
            "display_data", data={"application/javascript": "alert(1)", "text/plain": "none"}
        ),
        nbformat.v4.new_output("error", ename="E", evalue="", traceback=[HOSTILE]),
        nbformat.v4.new_output("display_data", data={"text/html": f"<p>{HOSTILE}</p>"}),
    ]
    page = render_page(notebook(*outputs), name="x")
    assert "<script" not in page
    assert "alert(1)</script>" not in page
    assert not re.search(r"<img|<a [^>]*e\.example", page)
    # In the title and cell of the table, the list, the stream, the plain text and the traceback; not in raw HTML.
    assert text_of(page).count("&lt;script&gt;") == 6


def picture(**about):
    import matplotlib.pyplot as plt

    from ctxlab.showing import show_figure

    _, axes = plt.subplots(figsize=(3, 2))
    axes.plot([0, 1], [0, 1], color="#D55E00")
    axes.axhspan(0, 0.5, color="#F5F5F5")
    return show_figure(axes, **about)


# covers GEN-055
def test_a_figure_has_its_words_as_alternative_text_and_below_it():
    page = render_page(notebook(bundle(picture(alt='Recall "<1>" rises.'))), name="x")
    [image] = re.findall(r"<img [^>]*>", page)
    assert (
        'alt="Recall &quot;&lt;1&gt;&quot; rises."' in image or "alt='Recall \"&lt;1&gt;\" rises.'" in image
    )
    assert 'src="data:image/png;base64,' in image
    assert re.search(r'width="\d+"', image)
    assert 'The figure in words Recall "&lt;1&gt;" rises.' in text_of(page).replace("&quot;", '"')


def test_a_figure_of_somebody_else_still_has_an_alternative_text():
    data = {"image/png": picture(alt="x").data["image/png"], "text/plain": "<Figure>"}
    page = render_page(notebook(nbformat.v4.new_output("display_data", data=data)), name="x")
    assert 'alt="A figure without a description."' in page


# covers GEN-055
def test_a_figure_keeps_its_colours_and_is_closed():
    import matplotlib.pyplot as plt
    from PIL import Image

    before = plt.get_fignums()
    shown = picture(alt="A line.")
    assert plt.get_fignums() == before
    image = Image.open(io.BytesIO(base64.b64decode(shown.data["image/png"]))).convert("RGB")
    assert shown.metadata["image/png"]["width"] == image.width * 96 // 144
    colours = {colour for _, colour in image.getcolors(1000)}
    for wanted in ((0xD5, 0x5E, 0x00), (245, 245, 245), (255, 255, 255)):
        assert wanted in colours
    assert repr(shown) == "A line."


# covers GEN-058, EVA-113
def test_tables_have_headings_a_caption_and_their_own_scroll():
    import pandas as pd

    table = pd.DataFrame({"case": ["c<1>", "c2"], "tokens": ["1,200", "unavailable"]}, dtype="string")
    table.attrs.update(fingerprint="0123456789abcdef", counter="utf8_bytes_2", client_kind="stand-in:echo")
    page = render_page(notebook(bundle(show_table(table, title="Sizes"))), name="x")
    table_html = page[page.index("<main") :]
    table_html = table_html[table_html.rindex('<div aria-label="table"') : table_html.rindex("</table>")]
    assert re.search(r'^<div aria-label="table" class="scroll" role="group" tabindex="0">', table_html)
    text = text_of(table_html)
    assert text.startswith(
        "Sizes run 0123456789ab · counter utf8_bytes_2 · client stand-in:echo: a property of the inputs"
    )
    assert table_html.count('scope="col"') == 2
    assert table_html.count('scope="row"') == 2
    assert "c&lt;1&gt;" in table_html


# In a browser

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    import shutil

    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="module")
def headline_page(tmp_path_factory):
    """The page of the headline notebook as the installed command leaves it."""
    place = tmp_path_factory.mktemp("page")
    done = report(
        ROOT / "notebooks" / "04_compare.ipynb", "--out", "out", "-p", "client=stand-in:extractive",
        "-p", f"dataset={ROOT / 'data' / 'continuation.jsonl'}", "--quiet", cwd=place,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return place / "out" / "04_compare.html"


def opened(browser, path, **context):
    """The page in the browser, with what it asked for and what its console said."""
    page = browser.new_context(**context).new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_load_state("load")
    return page, asked, said


# covers GEN-055
@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_asks_for_nothing_and_reports_no_error(browser, headline_page, scheme):
    page, asked, said = opened(browser, headline_page, color_scheme=scheme)
    assert asked == [headline_page.as_uri()]
    assert said == []
    images = page.locator("img")
    assert images.count() == 3
    for image in images.all():
        assert image.evaluate("i => i.complete && i.naturalWidth > 500")
        assert len(image.get_attribute("alt")) > 100


def channels(colour):
    return [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


# covers GEN-055
@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(16, 21, 27)")])
def test_text_is_legible_in_light_and_dark_and_figures_stand_on_white(browser, headline_page, scheme, ground):
    page, _, _ = opened(browser, headline_page, color_scheme=scheme)
    of = "(e, name) => getComputedStyle(e)[name]"
    assert page.locator("body").evaluate(of, "backgroundColor") == ground
    for selector in ("p", "h2", "caption small", "thead th", "summary", "nav a", ".made"):
        colour = page.locator(selector).first.evaluate(of, "color")
        lighter, darker = sorted([luminance(colour), luminance(ground)], reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, selector
    assert page.locator("img").first.evaluate(of, "backgroundColor") == "rgb(255, 255, 255)"


# covers GEN-055, EVA-113
@pytest.mark.slow
@pytest.mark.browser
def test_on_a_narrow_screen_only_tables_scroll_and_the_keyboard_reaches_them(browser, headline_page):
    page, _, _ = opened(browser, headline_page, viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".result .scroll").first.evaluate("e => e.scrollWidth > e.clientWidth")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").evaluate("e => e.getBoundingClientRect().left >= 0")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("navigation").count() == 1
    unnamed = page.locator("table").evaluate_all(
        "all => all.filter(t => !t.caption && !t.closest('details')).length"
    )
    assert unnamed == 0


# covers GEN-055
@pytest.mark.slow
@pytest.mark.browser
def test_a_hostile_answer_is_text_in_a_browser_too(browser, tmp_path):
    outputs = [
        bundle(show_text([HOSTILE])),
        nbformat.v4.new_output("display_data", data={"text/html": f"<p>{HOSTILE}</p><p onclick='x'>y</p>"}),
    ]
    path = tmp_path / "hostile.html"
    path.write_text(render_page(notebook(*outputs), name="x"))
    page, asked, said = opened(browser, path)
    assert page.title() == "A title"
    assert (asked, said) == ([path.as_uri()], [])
    assert page.locator("script, main img, [onclick], a[href*='e.example']").count() == 0
    assert page.get_by_text("document.title='taken'").count() == 1
