"""Headwater: data lineage you can prove, from the source.

For programs: `headwater.run(...)` tells a run of their own, `headwater.spark.capture(spark)` all that a PySpark program
does.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.explicit import run

__all__ = ["run"]


def __getattr__(name: str) -> object:
    """`run` is loaded when it is asked for: what it imports takes half a second, which no command should wait for."""
    if name == "run":
        from headwater.explicit import run

        return run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
