"""What the documentation points at is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "labs").rglob("*.md")),
]
LINK = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([^)]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    links = [(page.parent / path if path else page, anchor) for path, anchor in LINK.findall(page.read_text())]

    assert [target for target, _ in links if not target.exists()] == []
    assert [(target, anchor) for target, anchor in links if anchor and anchor not in anchors(target)] == []


def anchors(page: Path) -> set[str]:
    """By what its headings can be linked to, as GitHub makes it of them."""
    headings = (heading.lower().replace(" ", "-") for heading in HEADING.findall(page.read_text()))
    return {re.sub(r"[^\w-]", "", heading) for heading in headings}
