"""One finished run, made once; each test that changes something gets a copy in a registry of its own."""

import shutil
from pathlib import Path

import pytest

from ctxlab.comparison import run
from ctxlab.experiments import Source
from tests.registry.building import SUMMARIES, dataset


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """The directory of a finished run: 2 cases, `full` and summaries of summaries, answered by a stand-in."""
    made = run(
        dataset(),
        SUMMARIES,
        client="stand-in:extractive",
        runs_dir=tmp_path_factory.mktemp("kept"),
        progress=False,
    )
    return Path(made.directory)


@pytest.fixture
def runs_dir(tmp_path):
    """An empty registry."""
    path = tmp_path / "runs"
    path.mkdir()
    return path


@pytest.fixture
def directory(runs_dir, kept):
    """A copy of the finished run in a registry of its own."""
    return Path(shutil.copytree(kept, runs_dir / kept.name))


@pytest.fixture
def source():
    """A checkout without changes."""
    return Source(commit="c" * 40, dirty=False, branch="main")
