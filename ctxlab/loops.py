"""Synchronous names for coroutines, the same in a script, a notebook cell, papermill and a running loop."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ctxlab.errors import NestedLoopError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

P = ParamSpec("P")
T = TypeVar("T")

_CANCELLATION_S = 0.9


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The synchronous twin of a coroutine function `aNAME`: `NAME`, with the same arguments, result and errors."""

    @wraps(function)
    def twin(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_blocking(function, *args, awaitable_name=function.__name__, **kwargs)

    twin.__name__ = twin.__qualname__ = function.__name__.removeprefix("a")
    return twin


def run_blocking(
    function: Callable[..., Coroutine[Any, Any, T]], /, *args: Any, awaitable_name: str, **kwargs: Any
) -> T:
    """Run a coroutine function to its end and return its result.

    Without a running loop a new one is made. Inside a running asyncio loop, as in a notebook cell, the same loop
    is run nested; `nest_asyncio2` is applied only then. An interrupt cancels the coroutine, waits for its end and
    is raised again, so that a second call works.

    The function makes its clients, queues and semaphores itself; `awaitable_name` is what to await instead where
    loops cannot be nested, for the error.

    Raises:
        NestedLoopError: inside uvloop, trio, or another loop that cannot be nested.
    """
    loop = current_loop(awaitable_name=awaitable_name)
    if loop is None:
        with asyncio.Runner() as runner:
            return runner.run(function(*args, **kwargs))
    import nest_asyncio2  # type: ignore[import-untyped]

    nest_asyncio2.apply(loop, run_close_loop=True)
    task = loop.create_task(function(*args, **kwargs))
    try:
        return loop.run_until_complete(task)
    except BaseException:
        end_task(loop, task)
        raise


def end_task(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    """Cancel a task that an interrupt left behind and run the loop until it has ended, at most about 1 s."""
    if not task.done():
        task.cancel()
        loop.run_until_complete(asyncio.wait({task}, timeout=_CANCELLATION_S))
    if task.done() and not task.cancelled():
        task.exception()  # seen here, so that nothing is logged when the task is collected


def current_loop(
    *, awaitable_name: str, modules: Mapping[str, Any] = sys.modules
) -> asyncio.AbstractEventLoop | None:
    """The running asyncio loop, or null if there is none; raises where a loop runs that cannot be nested."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        loop = None
    if isinstance(loop, asyncio.BaseEventLoop) or (loop is None and not in_trio(modules)):
        return loop
    raise NestedLoopError(f"this event loop cannot be nested: use `await {awaitable_name}(...)` here")


def in_trio(modules: Mapping[str, Any]) -> bool:
    """Whether a trio program is calling; trio is looked for and never imported."""
    trio = modules.get("trio")
    if trio is None:
        return False
    with suppress(RuntimeError):
        trio.lowlevel.current_task()
        return True
    return False
