"""The page's types allow the same values as the service's OpenAPI document."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

API = Path(__file__).parents[3] / "web" / "src" / "api"
PLACES = {
    "TroubleKind": ["NodeTrouble.kind"],
    "GapKind": ["KnownGap.kind"],
    "QualityPoint.direction": ["QualityPoint.direction"],
    "ColumnDrift.change": ["ColumnDrift.change"],
    "Change.change": ["Change.change"],
    "Change.kind": ["Change.kind"],
    "Reached.type": ["Reached.type"],
    "RunState": ["Run.state", "CauseRun.state"],
    "Verdict": ["Signature.verdict", "RunEvent.verdict"],
    "Direction": ["/api/v1/neighbours?way"],
    "WireNode.type": ["DatasetNode.type", "JobNode.type"],
    "Transformation.type": ["Transformation.type"],
    "SearchResult.type": ["Hit.type"],
}
"""The service's members and parameters, by the page's type; `WireNode` is a union of several nodes."""
ONE_OF_SEVERAL = {"WireNode.type"}

_TEXT = r"'[^'\n]*'"
_CHOICE = rf"(?:\|\s*)?({_TEXT}(?:\s*\|\s*(?:{_TEXT}|null\b))*)"
_ALIAS = re.compile(rf"\s*=\s*{_CHOICE}\s*$")
_MEMBER = re.compile(rf"readonly (\w+)\??:\s*{_CHOICE}(?=\s*(?:;|\n|}}))")
_DECLARED = re.compile(r"^(?:export )?(?:interface|type) (\w+)", re.MULTILINE)
_COMMENT_OR_IMPORT = re.compile(r"/\*.*?\*/|//[^\n]*|^import [^\n]*$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", PLACES)
def test_a_type_of_the_page_allows_exactly_the_services_values(client: TestClient, name: str) -> None:
    page = client.get("/openapi.json").json()

    offered = [_offered(page, place) for place in PLACES[name]]

    allowed = _page_choices()[name]
    assert allowed
    if name in ONE_OF_SEVERAL:
        assert allowed == set().union(*offered)
    else:
        assert [allowed] * len(offered) == offered


def test_every_type_of_the_page_is_compared_with_the_service() -> None:
    assert _page_choices().keys() == PLACES.keys()


def _page_choices() -> dict[str, set[str | None]]:
    """The values that the page's types allow, None for null; those of members by `Type.member`."""
    choices = defaultdict[str, set[str | None]](set)
    for file in ("answers.ts", "types.ts"):
        source = _COMMENT_OR_IMPORT.sub("", (API / file).read_text())
        read = 0
        for name, words in _choices(source):
            choices[name] |= {None if word == "null" else word[1:-1] for word in words}
            read += sum(word != "null" for word in words)
        assert read == len(re.findall(_TEXT, source)), f"{file} has a string that is not parsed as a choice"
    return dict(choices)


def _choices(source: str) -> Iterator[tuple[str, list[str]]]:
    _, *declared = _DECLARED.split(source)
    for name, body in zip(declared[::2], declared[1::2], strict=True):
        if alias := _ALIAS.match(body):
            yield name, _words(alias[1])
        for member, choice in _MEMBER.findall(body):
            yield f"{name}.{member}", _words(choice)


def _words(choice: str) -> list[str]:
    return [word.strip() for word in choice.split("|")]


def _offered(page: Any, place: str) -> set[str | None]:  # noqa: ANN401  JSON
    """The values of a schema's member, or of a parameter of a GET."""
    path, is_parameter, name = place.partition("?")
    if is_parameter:
        [schema] = [each["schema"] for each in page["paths"][path]["get"]["parameters"] if each["name"] == name]
    else:
        schema_name, _, member = place.partition(".")
        schema = page["components"]["schemas"][schema_name]["properties"][member]
    return set(_values(schema))


def _values(schema: Any) -> Iterator[str | None]:  # noqa: ANN401  JSON
    for kind in schema.get("anyOf", [schema]):
        yield from [None] if kind.get("type") == "null" else kind["enum"] if "enum" in kind else [kind["const"]]
