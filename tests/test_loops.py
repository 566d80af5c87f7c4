"""One synchronous name for a coroutine in a script, a running loop and a notebook kernel."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ctxlab.errors import NestedLoopError
from ctxlab.loops import current_loop, run_blocking

ROOT = Path(__file__).parents[1]


async def double(number: int, *, plus: int = 0) -> int:
    await asyncio.sleep(0)
    return 2 * number + plus


def test_a_script_gets_the_result_and_may_call_again() -> None:
    # covers RUN-044
    assert run_blocking(double, 4, awaitable_name="adouble") == 8
    assert run_blocking(double, 4, awaitable_name="adouble", plus=1) == 9


def test_an_error_of_the_coroutine_comes_out_as_it_is() -> None:
    # covers RUN-044
    async def fail() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run_blocking(fail, awaitable_name="afail")


class ForeignLoop(asyncio.AbstractEventLoop):
    """A loop that is not built on asyncio's own, as uvloop's is not."""


def test_a_loop_that_cannot_be_nested_names_the_awaitable_form() -> None:
    # covers RUN-044
    asyncio._set_running_loop(ForeignLoop())
    try:
        with pytest.raises(NestedLoopError, match=r"use `await acompare\(\.\.\.\)` here"):
            run_blocking(double, 4, awaitable_name="acompare")
    finally:
        asyncio._set_running_loop(None)


def test_trio_is_recognised_without_being_imported() -> None:
    # covers RUN-044
    def outside() -> None:
        raise RuntimeError("must be called from async context")

    inside = SimpleNamespace(lowlevel=SimpleNamespace(current_task=lambda: "task"))
    idle = SimpleNamespace(lowlevel=SimpleNamespace(current_task=outside))
    with pytest.raises(NestedLoopError, match="await acompare"):
        current_loop(awaitable_name="acompare", modules={"trio": inside})
    assert current_loop(awaitable_name="acompare", modules={"trio": idle}) is None
    assert current_loop(awaitable_name="acompare", modules={}) is None


def python(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own: nesting patches asyncio for the whole process."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


NESTED = """
    import asyncio, sys
    from ctxlab.loops import run_blocking
    assert "nest_asyncio2" not in sys.modules

    async def work(number):
        async with asyncio.timeout(5):
            await asyncio.sleep(0.01)
        return asyncio.current_task() is not None and number

    async def main():
        other = asyncio.create_task(work(7))
        first = run_blocking(work, 1, awaitable_name="awork")
        second = run_blocking(work, 2, awaitable_name="awork")
        return first, second, await other

    print(run_blocking(work, 0, awaitable_name="awork"), "nest_asyncio2" in sys.modules)
    print(asyncio.run(main()), "nest_asyncio2" in sys.modules)
    print(run_blocking(work, 3, awaitable_name="awork"))
"""


def test_inside_a_running_loop_the_call_is_nested_and_only_then() -> None:
    # covers RUN-044
    done = python(NESTED)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["0 False", "(1, 2, 7) True", "3"]


INTERRUPTED = """
    import asyncio, sys, time
    from ctxlab.loops import run_blocking

    async def request():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)  # what a client does to close its connection
            print("closed", flush=True)

    async def work():
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(request())
            await asyncio.sleep(0)
            print("started", flush=True)

    async def quick():
        return "again"

    def call():
        try:
            run_blocking(work, awaitable_name="awork")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(run_blocking(quick, awaitable_name="aquick"), flush=True)
"""
SCRIPT = INTERRUPTED + "\n    call()\n"
IN_LOOP = INTERRUPTED + (
    "\n    import signal\n"
    "    async def main():\n"
    "        signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # as a kernel has it
    "        call()\n"
    "    asyncio.run(main())\n"
)


@pytest.mark.parametrize("program", [SCRIPT, IN_LOOP], ids=["script", "running loop"])
def test_an_interrupt_ends_what_is_in_flight_and_a_second_call_works(program: str) -> None:
    # covers RUN-046
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == "started\n"
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        lines = [process.stdout.readline().strip() for _ in range(5)]
        elapsed_s = time.monotonic() - sent
    assert lines == ["closed", "closed", "closed", "interrupted", "again"]
    assert elapsed_s < 1


STUBBORN = """
    import asyncio, signal, sys, time
    from ctxlab.loops import run_blocking

    async def stubborn():
        while True:
            try:
                print("started", flush=True)
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                pass

    async def main():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            run_blocking(stubborn, awaitable_name="astubborn")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        import os
        os._exit(0)

    asyncio.run(main())
"""


def test_work_that_will_not_end_does_not_hold_an_interrupt_back() -> None:
    # covers RUN-046
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(STUBBORN)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == "started\n"
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().splitlines()[-1] == "interrupted"
        assert time.monotonic() - sent < 2


class Kernel:
    """A real notebook kernel."""

    def __init__(self) -> None:
        from jupyter_client.manager import start_new_kernel

        self.manager, self.client = start_new_kernel(kernel_name="python3", cwd=str(ROOT))

    def stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, code: str, *, interrupt_at: str | None = None) -> tuple[list[str], str | None]:
        """Run a cell; returns its printed lines and the name of its error."""
        self.client.execute(textwrap.dedent(code))
        printed, error = "", None
        while True:
            message: dict[str, Any] = self.client.get_iopub_msg(timeout=30)
            content = message["content"]
            if message["msg_type"] == "stream":
                printed += content["text"]
                if interrupt_at and interrupt_at in content["text"]:
                    self.manager.interrupt_kernel()
            elif message["msg_type"] == "error":
                error = content["ename"]
            elif message["msg_type"] == "status" and content["execution_state"] == "idle":
                return printed.splitlines(), error


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_kernel_runs_is_interrupted_and_runs_again() -> None:
    # covers RUN-044, RUN-046
    kernel = Kernel()
    try:
        kernel.run(f"import sys; sys.path.insert(0, {str(ROOT)!r})")
        assert kernel.run(INTERRUPTED) == ([], None)
        assert kernel.run("print(run_blocking(quick, awaitable_name='aquick'))") == (["again"], None)
        sent = time.monotonic()
        printed, error = kernel.run("run_blocking(work, awaitable_name='awork')", interrupt_at="started")
        elapsed_s = time.monotonic() - sent
        assert (printed, error) == (["started", "closed", "closed", "closed"], "KeyboardInterrupt")
        assert elapsed_s < 2
        assert kernel.run("print(run_blocking(quick, awaitable_name='aquick'))") == (["again"], None)
        assert kernel.run("print(await quick())") == (["again"], None)
    finally:
        kernel.stop()
