import io
import sys

from ctxlab.progress import LineProgress, Silent, byte_progress, progress_here, terminal_line
from tests.factories import make_case, make_row


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


# covers RUN-047
def test_the_line_is_shown_at_most_five_times_a_second_and_once_at_the_end():
    shown, clock = [], Clock()
    progress = LineProgress(show=lambda text, last: shown.append((text, last)), clock=clock)
    progress.begin(run_id="r", rows=4)
    for seconds in (0.1, 0.15, 0.3, 5.0):
        clock.now = seconds
        progress.row_done(make_row(case=make_case("c1"), strategy="full", status="completed"))
    progress.row_done(make_row(case=make_case("c2"), strategy="full", status="error"))
    clock.now = 6.0
    progress.end()
    assert shown == [
        ("rows: 0 of 4 in 0 s", False),
        ("rows: 3 of 4 in 0 s (last: c1 full)", False),
        ("rows: 4 of 4 in 5 s (last: c1 full)", False),
        ("rows: 5 of 4 in 6 s, 1 refused or in error", True),
    ]


# covers RUN-047
def test_there_is_no_progress_without_terminal_and_notebook(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(progress_here(), Silent)


class Terminal(io.StringIO):
    def isatty(self):
        return True


# covers RUN-047
def test_a_terminal_gets_one_line_that_is_replaced(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert isinstance(progress_here(), LineProgress)
    terminal_line("one", False)
    terminal_line("two", True)
    assert terminal.getvalue() == "\r\x1b[Kone\r\x1b[Ktwo\n"


# covers RUN-111
def test_a_download_is_shown_in_steps_where_there_is_no_terminal(capsys):
    show = byte_progress(step_bytes=100 << 20)
    for done in range(0, 301, 50):
        show(done << 20, 300 << 20)
    assert capsys.readouterr().err.splitlines() == [
        "fetching the model: 0 of 300 MB",
        "fetching the model: 100 of 300 MB",
        "fetching the model: 200 of 300 MB",
        "fetching the model: 300 of 300 MB",
    ]
