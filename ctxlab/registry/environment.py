"""Where a run happened, by an allow-list: no host, user, path or variable (EXP-024)."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from ctxlab.experiments import sha256_of

PACKAGES = ("ctxlab", "httpx", "pandas", "polars", "tiktoken")
MARKS: tuple[tuple[str, Literal["docker", "podman"]], ...] = (
    (".dockerenv", "docker"),
    ("run/.containerenv", "podman"),
)
"""Files below the root by which a container is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Interpreter, system and the versions that numbers depend on; `container` is `none` outside one.

    `sha256` is the hash of the other fields.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    python: str
    implementation: str
    system: str
    release: str
    architecture: str
    cpus: int | None
    versions: dict[str, str | None]
    container: Literal["docker", "podman", "none"]
    sha256: str

    def own_sha256(self) -> str:
        """The hash that `sha256` has to hold."""
        names = [field.name for field in fields(self) if field.name != "sha256"]
        return sha256_of({name: getattr(self, name) for name in names})


def environment_here(*, root: Path = Path("/")) -> Environment:
    """The environment of this process; `root` is where marks of a container are looked for."""
    facts = {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
        "versions": {name: _version(name) for name in PACKAGES},
        "container": next((kind for mark, kind in MARKS if (root / mark).exists()), "none"),
    }
    return Environment(**facts, sha256=sha256_of(facts))  # type: ignore[arg-type]  # each of its own type


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
