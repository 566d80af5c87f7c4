"""Where statements of code end: at a line end behind `;`, `}` or `)` with every bracket, string and comment closed.

No language is parsed. Where the quotes or brackets of a text do not add up, every later end is unsure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_CODE_LINE_ENDS = tuple(";{}):")
_WORDS = re.compile(
    r"\b(?:[^\W\d_]{2,}+[\ ,]++){4} | \w[.!?]\s[^\W\d_]++\s[^\W\d_] | ^\s*[^\x00-\x7f]{2}", re.VERBOSE
)
_TOKEN = re.compile(
    r"""\\(?:\r\n|.)|(?P<quote>\"{3}|'{3}|["'`])|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<comment>(?<!:)//|(?:^|(?<=\s))(?:\#|--(?=\s)))|(?P<block>/\*|<!--)|(?P<newline>[\r\n]+)""",
    re.DOTALL | re.VERBOSE,
)
_CLOSING_COMMENT = {"/*": "*/", "<!--": "-->"}
_NEWLINE = re.compile(r"[\r\n]|\Z")
_HEAD = re.compile(
    r"\s*(?:\}\s*)?(?:(?:if|elif|else|for|foreach|while|switch|catch|with|unless|until|when)\b|@).*\)$",
    re.DOTALL,
)
_OTHER_BRANCH = re.compile(r"(?:else|elif|elsif|except|catch|finally|rescue|and|or|then|do|where|as)\b")
_SIGN = re.compile(r"[.?:,+*/%&|=<>{]|-[>\s]")


class StatementEnd(NamedTuple):
    """The place behind the last character of a statement, and whether it is sure."""

    place: int
    is_sure: bool


def is_code(text: str) -> bool:
    """Whether more than half of the lines that are not blank end as code does, and the brackets balance (ADM-047).

    A line with several plain words in a row is no line of code, whatever it ends in.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    like_code = sum(line.endswith(_CODE_LINE_ENDS) and not _WORDS.search(line) for line in lines)
    if 2 * like_code <= len(lines):
        return False
    return all(text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}"))


def statement_ends(text: str) -> list[StatementEnd]:
    """The ends of the statements of a text, in order. Time is proportional to the text."""
    lines = _Lines(text)
    position, quote = 0, ""
    while found := _TOKEN.search(text, position):
        position = found.end()
        if quote:
            if found["quote"] and found["quote"].startswith(quote):
                position, quote = found.start() + len(quote), ""
            elif found["newline"] and quote in ("'", '"'):
                lines.doubt()
        elif found["quote"]:
            quote = found["quote"]
        elif found["comment"] or found["block"]:
            position = _behind_comment(text, found)
            if position < 0:
                return lines.ends
            lines.leave_out(found.start(), position)
        elif found["open"] or found["close"]:
            lines.bracket(1 if found["open"] else -1)
        elif found["newline"]:
            lines.end_line(found.start(), found.end())
    return lines.ends if quote else lines.finish()


def _behind_comment(text: str, found: re.Match[str]) -> int:
    """Where a comment ends; negative if it stays open."""
    if found["comment"]:
        newline = _NEWLINE.search(text, found.end())
        return newline.start() if newline else len(text)
    closing = _CLOSING_COMMENT[found["block"]]
    closed = text.find(closing, found.end())
    return closed + len(closing) if closed >= 0 else -1


class _Lines:
    """What was read so far: the ends, and the last one, which the next line may still take back."""

    def __init__(self, text: str) -> None:
        self.ends: list[StatementEnd] = []
        self._text = text
        self._start = self._code_start = 0
        self._code: list[str] = []
        self._depth = 0
        self._is_doubtful = False
        self._indent: int | None = None
        self._last: StatementEnd | None = None

    def doubt(self) -> None:
        """From here on no end is sure."""
        self._is_doubtful = True

    def bracket(self, step: int) -> None:
        """One bracket more, or one less."""
        self._depth += step
        if self._depth < 0:
            self._depth = 0
            self.doubt()

    def leave_out(self, start: int, end: int) -> None:
        """A comment is no code."""
        self._code.append(self._text[self._code_start : start])
        self._code_start = end

    def end_line(self, stop: int, following: int) -> None:
        """A line ends, and with it perhaps a statement; a line without code belongs to the statement after it."""
        start, code = self._start, "".join([*self._code, self._text[self._code_start : stop]])
        self._start = self._code_start = following
        self._code = []
        said = code.strip()
        if not said:
            return
        indent = len(code) - len(code.lstrip())
        self._settle(said, indent)
        self._indent = indent if self._indent is None else self._indent
        if self._depth == 0 and said[-1] in ";})" and not (said[-1] == ")" and _HEAD.match(said)):
            place = start + len(self._text[start:stop].rstrip())
            self._last = StatementEnd(place, not self._is_doubtful)

    def _settle(self, following: str, indent: int) -> None:
        """Keep the last end unless the line after it goes on with the statement."""
        if self._last is None:
            return
        is_over = self._text[self._last.place - 1] == ";"
        goes_on = _OTHER_BRANCH.match(following) or (not is_over and _SIGN.match(following))
        if not goes_on and indent <= (self._indent or 0):
            self.ends.append(self._last)
            self._indent = None
        self._last = None

    def finish(self) -> list[StatementEnd]:
        """All ends, once the text is over."""
        self.end_line(len(self._text), len(self._text))
        if self._last is not None:
            self.ends.append(self._last)
        return self.ends
