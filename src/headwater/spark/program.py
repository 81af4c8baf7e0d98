"""`headwater-spark program.py …`: runs a PySpark program like Python, and captures every session that it opens.

spark-submit --conf spark.pyspark.driver.python=headwater-spark program.py …
headwater-spark program.py …
"""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from headwater.capture.spark.capture import Capture, NotCaptured
from headwater.spark.capturing import capture

_USAGE: Final = "usage: headwater-spark PROGRAM.py [ARGUMENTS]"
_REFUSED: Final = 2
"""Python's own exit status for a missing program."""


def main() -> None:
    """Run the program on the command line, and end as it ends."""
    if len(sys.argv) < 2:
        sys.exit(_USAGE)
    program = sys.argv[1]
    if program in ("-h", "--help"):
        print(_USAGE)  # noqa: T201  (asked for)
        sys.exit()
    if not Path(program).exists():
        print(f"headwater-spark: no such program: {program}\n{_USAGE}", file=sys.stderr)  # noqa: T201
        sys.exit(_REFUSED)
    del sys.argv[0]
    sys.path[0] = str(Path(program).resolve().parent)
    captures: list[Capture | NotCaptured] = []
    _listen_to_new_sessions(captures)
    try:
        runpy.run_path(program, run_name="__main__")
    except BaseException as error:
        for one in captures:
            one.end(error)
        raise
    for one in captures:
        one.end()


def _listen_to_new_sessions(captures: list[Capture | NotCaptured]) -> None:
    """Wrap `SparkSession.builder.getOrCreate()` and `newSession()`, so that the sessions they return are captured.

    PySpark has no hook of its own for this; these two are the only ways to a session.
    """
    SparkSession.Builder.getOrCreate = _captured(SparkSession.Builder.getOrCreate, captures)
    SparkSession.newSession = _captured(SparkSession.newSession, captures)


def _captured(made: Callable[..., SparkSession], captures: list[Capture | NotCaptured]) -> Callable[..., SparkSession]:
    def session(*arguments: Any, **named: Any) -> SparkSession:  # noqa: ANN401  (whatever PySpark takes)
        spark = made(*arguments, **named)
        if (one := capture(spark)) not in captures:
            captures.append(one)
        return spark

    return session


if __name__ == "__main__":
    main()
