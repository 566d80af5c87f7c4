"""An executed notebook as one HTML file that stands alone: no script, no network reference, light and dark, printable.

The template is in `templates/page`. What outputs hold is not trusted: text is escaped, HTML is written anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.errors import ParameterError
from ctxlab.parameters import declared_parameters
from ctxlab.safe_html import safe_output, safe_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nbformat import NotebookNode

TEMPLATES = Path(__file__).parent / "templates"
PRIORITY = ("text/html", "image/png", "text/plain")
"""What of an output is shown: the first that it has. Scripts, widgets, Markdown and vector images never are."""
_TITLE = re.compile(r"^# +(.+?) *#*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the template fills in beside the outputs of cells.

    Attributes:
        made: what stands above the title: when, how long, which run.
        texts: text cells by the index of their cell, as HTML.
        sections: id and text of their headings of level 2, as HTML.
        parameters: name, value and meaning.
    """

    title: str
    language: str
    version: str
    made: tuple[str, ...]
    texts: Mapping[int, str]
    sections: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str, str], ...]


def render_page(notebook: NotebookNode, *, name: str) -> str:
    """The page of an executed notebook; `name` is its title if it has no heading of level 1."""
    from nbconvert.exporters import HTMLExporter

    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="page",
        extra_template_basedirs=[str(TEMPLATES)],
        filters={"safe_output": safe_output},
    )
    exporter.environment.globals["page"] = _page(notebook, name)
    # The exporter tells its filters the order of preference by configuration only.
    exporter.config.NbConvertBase.display_data_priority = list(PRIORITY)
    html, _ = exporter.from_notebook_node(notebook)
    return html.strip() + "\n"


def _page(notebook: NotebookNode, name: str) -> Page:
    title = next((match[1] for text in _sources(notebook).values() if (match := _TITLE.search(text))), name)
    sections: list[tuple[str, str]] = []
    texts = {index: _text(source, sections) for index, source in _sources(notebook).items()}
    return Page(
        title=re.sub(r"[`*]", "", title),
        language=str(notebook.metadata.get("language", "en")),
        version=version("ctxlab"),
        made=tuple(_made(notebook.metadata)),
        texts=texts,
        sections=tuple(sections),
        parameters=tuple(_parameters(notebook)),
    )


def _sources(notebook: NotebookNode) -> dict[int, str]:
    return {i: cell.source for i, cell in enumerate(notebook.cells) if cell.cell_type == "markdown"}


def _text(source: str, sections: list[tuple[str, str]]) -> str:
    """A text cell's Markdown as HTML, HTML inside it as it is typed; its headings of level 2 become sections."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    def numbered(heading: re.Match[str]) -> str:
        sections.append((f"section-{len(sections) + 1}", re.sub(r"<[^>]*>", "", heading[1])))
        return f'<h2 id="{sections[-1][0]}">{heading[1]}</h2>'

    renderer = IPythonRenderer(escape=True, exclude_anchor_links=True)
    html = safe_text(str(MarkdownWithMath(renderer=renderer).render(source)))
    return re.sub(r"<h2>(.*?)</h2>", numbered, html, flags=re.DOTALL)


def _made(metadata: Mapping[str, Any]) -> Iterator[str]:
    """When and how long the notebook was executed, and what its last run was."""
    papermill, own = metadata.get("papermill", {}), metadata.get("ctxlab", {})
    if started := papermill.get("start_time"):
        yield f"executed {str(started)[:16].replace('T', ' ')} UTC"
    if duration := papermill.get("duration"):
        yield f"in {float(duration):.0f} s"
    if run := own.get("run"):
        yield f"run {run['fingerprint'][:12]}"
        yield f"client {run['client_kind']}"
        yield f"counter {run['counter']}"


def _parameters(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of each declared parameter."""
    values = notebook.metadata.get("ctxlab", {}).get("parameters", {})
    try:
        declared = declared_parameters(notebook)
    except ParameterError:
        return
    for parameter in declared:
        value = values.get(parameter.name, parameter.default)
        yield parameter.name, "none" if value is None else str(value), parameter.help or ""
