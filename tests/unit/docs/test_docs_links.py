"""The targets of the documentation's links exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "labs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
PART_OF_ANOTHER = {"fleet_edge.py"}  # a process of another benchmark
LINK = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([^)]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_project_has_a_target(page: Path) -> None:
    links = [(page.parent / path if path else page, anchor) for path, anchor in LINK.findall(page.read_text())]

    assert [target for target, _ in links if not target.exists()] == []
    assert [(target, anchor) for target, anchor in links if anchor and anchor not in anchors(target)] == []


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}

    assert {name for name in pages if f"]({name}" not in index} == set()


def test_every_benchmark_is_in_the_list() -> None:
    listed = (ROOT / "benchmarks" / "README.md").read_text()
    scripts = [path for path in (ROOT / "benchmarks").glob("*.py") if path.name not in PART_OF_ANOTHER]

    assert [path.name for path in scripts if path.name not in listed] == []


def anchors(page: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them."""
    headings = (heading.lower().replace(" ", "-") for heading in HEADING.findall(page.read_text()))
    return {re.sub(r"[^\w-]", "", heading) for heading in headings}
