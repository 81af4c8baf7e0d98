"""The docstring of a package is the room's map: whoever looks for a module finds it there."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "src" / "headwater"
MODULES_WITHOUT_MAP = 4
"""Up to so many modules are found without a map; one line says what they are for."""


def modules_of(room: Path) -> list[str]:
    """The modules and packages that are in it."""
    packages = {path.parent.name for path in room.glob("*/__init__.py")}
    return sorted(packages | {path.stem for path in room.glob("*.py")} - {"__init__"})


def map_of(room: Path) -> str:
    return ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""


def entry(module: str) -> re.Pattern[str]:
    """A module's place in a map: first in a line, in a column or after a semicolon, and then what it is; or quoted."""
    return re.compile(rf"(?:^ *|; |   ){re.escape(module)}(?:\.py)?(?::|  |\n)|`{re.escape(module)}`", re.MULTILINE)


ROOMS = [
    room
    for room in sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
    if room != PACKAGE and (len(modules_of(room)) > MODULES_WITHOUT_MAP or "\n" in map_of(room))
]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE.parent)))
def test_the_map_of_a_room_names_every_module_in_it(room: Path) -> None:
    told = map_of(room) + "\n"

    assert [module for module in modules_of(room) if not entry(module).search(told)] == []


def test_the_map_in_the_readme_names_every_room() -> None:
    readme = (PACKAGE.parents[1] / "README.md").read_text()

    assert [room for room in modules_of(PACKAGE) if f"src/headwater/{room} " not in readme] == []


ENTRY_ALONE = re.compile(r"^ *(\w+)(?:\.py)?  +\S", re.MULTILINE)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE.parent)))
def test_the_map_of_a_room_names_no_module_that_is_gone(room: Path) -> None:
    named = set(ENTRY_ALONE.findall(map_of(room)))

    assert named - set(modules_of(room)) == set()
