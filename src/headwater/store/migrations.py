"""The shapes that the tables had and have. A database carries the number of its shape, and is brought forward.

Step n makes shape n + 1 out of shape n. What was released is never changed again: a new shape is a new step.
"""

from collections.abc import Sequence
from typing import Final

from headwater.errors import SetupError
from headwater.store.schema import (
    TABLES_1,
    TABLES_2,
    TABLES_3,
    TABLES_4,
    TABLES_5,
    TABLES_6,
    TABLES_7,
    TABLES_8,
    TABLES_9,
    TABLES_10,
    TABLES_11,
    TABLES_12,
    TABLES_13,
    TABLES_14,
)

STEPS: Final[Sequence[str]] = (
    TABLES_1,
    TABLES_2,
    TABLES_3,
    TABLES_4,
    TABLES_5,
    TABLES_6,
    TABLES_7,
    TABLES_8,
    TABLES_9,
    TABLES_10,
    TABLES_11,
    TABLES_12,
    TABLES_13,
    TABLES_14,
)


def missing_steps(version: int, steps: Sequence[str], where: str) -> Sequence[str]:
    """The steps that a database of this shape lacks; 0 is an empty one.

    Raises:
        SetupError: a newer Headwater made its shape.
    """
    if version > len(steps):
        raise SetupError(f"{where} has shape {version}, this Headwater knows {len(steps)}; use the newer Headwater")
    return steps[version:]
