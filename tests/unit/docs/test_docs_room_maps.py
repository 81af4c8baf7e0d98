"""The docstring of a package is its map: it lists every module."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "src" / "headwater"
MODULES_WITHOUT_MAP = 4
"""Packages with up to this many modules need no map; one line describes them."""


def modules_of(room: Path) -> list[str]:
    """Its modules and packages."""
    packages = {path.parent.name for path in room.glob("*/__init__.py")}
    return sorted(packages | {path.stem for path in room.glob("*.py")} - {"__init__"})


def map_of(room: Path) -> str:
    return ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""


def entry(module: str) -> re.Pattern[str]:
    """A module's entry in a map: first in a line, in a column or after a semicolon, with its description; or quoted."""
    return re.compile(rf"(?:^ *|; |   ){re.escape(module)}(?:\.py)?(?::|  |\n)|`{re.escape(module)}`", re.MULTILINE)


ROOMS = [
    room
    for room in sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
    if room != PACKAGE and (len(modules_of(room)) > MODULES_WITHOUT_MAP or "\n" in map_of(room))
]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE.parent)))
def test_a_packages_map_lists_every_module(room: Path) -> None:
    map_text = map_of(room) + "\n"

    assert [module for module in modules_of(room) if not entry(module).search(map_text)] == []


def test_the_readmes_map_lists_every_package() -> None:
    readme = (PACKAGE.parents[1] / "README.md").read_text()

    assert [room for room in modules_of(PACKAGE) if f"src/headwater/{room} " not in readme] == []


ENTRY_ALONE = re.compile(r"^ *(\w+)(?:\.py)?  +\S", re.MULTILINE)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE.parent)))
def test_a_packages_map_lists_no_missing_module(room: Path) -> None:
    listed = set(ENTRY_ALONE.findall(map_of(room)))

    assert listed - set(modules_of(room)) == set()
