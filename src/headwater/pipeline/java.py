"""Checks the Java that Spark will run on before Spark is started, for a clear message if it is missing."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headwater.errors import SetupError

OLDEST_JAVA: Final = 17

_VERSION = re.compile(r'version "(?:1\.)?(?P<major>\d+)')
_HOW_TO_INSTALL = (
    f"install Java {OLDEST_JAVA} or newer (Debian: apt install openjdk-17-jre-headless), or set JAVA_HOME to one"
)


def require_java(environ: Mapping[str, str] = os.environ) -> None:
    """Check that the Java that Spark will start exists and is new enough.

    Raises:
        SetupError: it is missing or too old; the message says what to install.
    """
    java = _java(environ)
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as broken:
        raise SetupError(f"{java} does not run: {_HOW_TO_INSTALL}") from broken
    found = _VERSION.search(shown.stderr)
    if found and int(found["major"]) < OLDEST_JAVA:
        raise SetupError(f"{java} is Java {found['major']}, too old for Spark: {_HOW_TO_INSTALL}")


def _java(environ: Mapping[str, str]) -> str:
    """The `java` command: JAVA_HOME takes precedence over PATH, as in Spark's own start script."""
    if home := environ.get("JAVA_HOME"):
        java = Path(home) / "bin" / "java"
        if not java.exists():
            raise SetupError(f"JAVA_HOME is {home}, which has no bin/java: {_HOW_TO_INSTALL}")
        return str(java)
    found = shutil.which("java", path=environ.get("PATH"))
    if found is None:
        raise SetupError(f"Java is missing: {_HOW_TO_INSTALL}")
    return found
