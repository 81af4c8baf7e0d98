"""Upgrading a database, which carries the number of its schema version."""

from collections.abc import Sequence

from headwater.errors import SetupError


def missing_steps(version: int, steps: Sequence[str], where: str) -> Sequence[str]:
    """The schema steps that a database of this version lacks; 0 is an empty one.

    Raises:
        SetupError: a newer Headwater made its shape.
    """
    if version > len(steps):
        raise SetupError(
            f"{where} has schema version {version}, this Headwater knows {len(steps)}; use a newer Headwater"
        )
    return steps[version:]
