"""The views against the standard's own schemas and examples, and against recorded events of real producers."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.model.facets.view import View
from tests.support.facet_views import VIEWS, view_of
from tests.support.spec import Entity, Schema, SpecFacet, facets_of_standard, local


def merged(schema: Schema, defs: dict[str, Schema]) -> Schema:
    """The schema with its reference resolved and its allOf merged in, except for base facets from other files."""
    schema = local(schema, defs) or schema
    combined = {
        **schema,
        "properties": dict(schema.get("properties", {})),
        "required": list(schema.get("required", [])),
    }
    for part in schema.get("allOf", []):
        inner = merged(part, defs)
        combined["properties"] |= inner["properties"]
        combined["required"] += inner["required"]
    return combined


def members(schema: Schema, defs: dict[str, Schema], path: str = "", above: tuple[str, ...] = ()) -> Iterator[str]:
    """Every place in a schema with its type, such as `.fields[].ordinal_position:integer`."""
    reference = schema.get("$ref", "")
    if reference in above:
        return
    above = (*above, reference) if reference else above
    schema = merged(schema, defs)
    if "type" in schema:
        yield f"{path}:{schema['type']}"
    for choice in schema.get("anyOf", []) + schema.get("oneOf", []):
        yield from members(choice, defs, path, above)
    for name, member in schema["properties"].items():
        yield from members(member, defs, f"{path}.{name}", above)
    if isinstance(schema.get("items"), dict):
        yield from members(schema["items"], defs, f"{path}[]", above)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from members(schema["additionalProperties"], defs, f"{path}.*", above)


def values(schema: Schema, defs: dict[str, Schema]) -> st.SearchStrategy[Any]:
    """JSON values that the schema allows, with unknown members wherever it leaves room for them."""
    schema = merged(schema, defs)
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    if choices := schema.get("oneOf") or schema.get("anyOf"):
        return st.one_of([later(choice, defs) for choice in choices])
    match schema.get("type", "object"):
        case "string":
            return st.just("2026-05-22T14:23:11.5Z") if schema.get("format") == "date-time" else st.text(max_size=5)
        case "integer":
            return st.integers(min_value=1) | st.integers(1, 2**53).map(float)  # 7.0 is an integer to JSON Schema
        case "number":
            return st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(later(schema["items"], defs), max_size=2)
    return objects(schema, defs)


def later(schema: Schema, defs: dict[str, Schema]) -> st.SearchStrategy[Any]:
    """The values, computed only when drawn, since schemas are recursive."""
    return st.deferred(lambda: values(schema, defs))


def objects(schema: Schema, defs: dict[str, Schema]) -> st.SearchStrategy[dict[str, Any]]:
    properties = {name: later(member, defs) for name, member in schema["properties"].items()}
    required = {name: properties.pop(name) for name in dict.fromkeys(schema["required"])}
    additional = schema.get("additionalProperties", True)
    other = later(additional, defs) if isinstance(additional, dict) else st.none() | st.text(max_size=3)
    unknown = st.dictionaries(st.text("xyz", min_size=1), other, max_size=2 if additional else 0)
    return st.builds(
        lambda known, extra: {**extra, **known}, st.fixed_dictionaries(required, optional=properties), unknown
    )


@cache
def viewed(shared: Path) -> list[tuple[type[View], SpecFacet]]:
    """The facets of the standard that have a view."""
    facets = facets_of_standard(shared / "openlineage")
    return [(view, facet) for facet in facets if (view := view_of(facet.entity, facet.key)) is not None]


@cache
def values_of_facets(shared: Path) -> list[tuple[type[View], st.SearchStrategy[Any]]]:
    return [(view, values(facet.schema, facet.defs)) for view, facet in viewed(shared)]


def round_trip(view: type[View], facet: object) -> object:
    """The facet read and written again, or the failure."""
    read = view.read({view.key: facet})
    return read.model_dump(by_alias=True, exclude_unset=True) if isinstance(read, View) else read


def test_every_view_of_the_standard_is_for_one_of_its_facets(shared: Path) -> None:
    of_standard = [view for view in VIEWS if "Source: OpenLineage" in (view.__doc__ or "")]

    assert len(of_standard) > 20
    assert set(of_standard) == {view for view, _ in viewed(shared)}


def test_views_have_every_member_of_the_standard(shared: Path) -> None:
    for view, facet in viewed(shared):
        own = view.model_json_schema()
        missing = set(members(facet.schema, facet.defs)) - set(members(own, own.get("$defs", {})))

        assert not missing, f"{facet.entity} {facet.key}"


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_any_facet_that_the_standard_allows_is_read_without_loss(shared: Path, data: st.DataObject) -> None:
    view, strategy = data.draw(st.sampled_from(values_of_facets(shared)))
    facet = data.draw(strategy, label=view.__name__)

    assert round_trip(view, facet) == facet


def test_every_example_of_the_standard_is_read_without_loss(shared: Path) -> None:
    views: dict[str, set[type[View]]] = {}
    for view, facet in viewed(shared):
        views.setdefault(facet.key, set()).add(view)

    count = 0
    for file in sorted((shared / "openlineage/examples").glob("*/*.json")):
        ((key, example),) = json.loads(file.read_text()).items()
        if key in views:
            count += 1
            outcomes = [round_trip(view, example) for view in views[key]]
            assert example in outcomes, f"{file}: {outcomes}"

    assert count > 20


def recorded_events(shared: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted((shared / "openlineage/scenarios").glob("*/*.json")):
        yield f"{file.parent.name}/{file.name}", json.loads(file.read_text())
    for file in sorted((shared / "observed").glob("*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            yield f"{file.name}:{number}", json.loads(line)
    yield "example", json.loads((shared / "openlineage/examples/example_full_event.json").read_text())


def known_facets(event: dict[str, Any]) -> Iterator[tuple[type[View], object]]:
    holders: list[tuple[Entity, Any]] = [
        ("run", event["run"].get("facets", {})),
        ("job", event["job"].get("facets", {})),
    ]
    for dataset in event.get("inputs", []):
        holders += [("dataset", dataset.get("facets", {})), ("inputDataset", dataset.get("inputFacets", {}))]
    for dataset in event.get("outputs", []):
        holders += [("dataset", dataset.get("facets", {})), ("outputDataset", dataset.get("outputFacets", {}))]
    for entity, facets in holders:
        yield from ((view, facet) for key, facet in facets.items() if (view := view_of(entity, key)) is not None)


def test_every_recorded_facet_of_real_producers_is_read_without_loss(shared: Path) -> None:
    count = 0
    for where, event in recorded_events(shared):
        for view, facet in known_facets(event):
            count += 1
            assert round_trip(view, facet) == facet, where

    assert count > 1_000
