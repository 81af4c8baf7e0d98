"""Validation of events by the OpenLineage specification's JSON schemas, and those of our facets."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jsonschema_rs

from headwater.model.producer import HEADWATER_FACETS
from headwater.service.pages import SPECIFICATION

OUR_FACETS = SPECIFICATION / "facets" / "1-0-0"

Entity = Literal["run", "job", "dataset", "inputDataset", "outputDataset"]
Schema = dict[str, Any]

_ENTITY_OF_BASE: dict[str, Entity] = {
    "RunFacet": "run",
    "JobFacet": "job",
    "DatasetFacet": "dataset",
    "InputDatasetFacet": "inputDataset",
    "OutputDatasetFacet": "outputDataset",
}
_ENTITY_OF_FILE = {
    "InputDatasetFacet": "inputFacets",
    "OutputDatasetFacet": "outputFacets",
    "DatasetFacet": "dataset",
    "RunFacet": "run",
    "JobFacet": "job",
}


class Specification:
    """Validates an event, and each facet in it by the facet's own file.

    A facet with a schema of ours must have that schema, and no member that it does not describe.
    """

    def __init__(self, folder: Path) -> None:
        envelope = json.loads((folder / "OpenLineage.json").read_text())
        registry = jsonschema_rs.Registry([(envelope["$id"], envelope)])
        self._envelope = jsonschema_rs.Draft202012Validator(envelope, validate_formats=True)
        self._facets: dict[tuple[str, str], jsonschema_rs.Draft202012Validator] = {}
        self._ours: dict[tuple[str, str], jsonschema_rs.Draft202012Validator] = {}
        for path in _files(folder):
            schema = json.loads(path.read_text())
            validator = jsonschema_rs.Draft202012Validator(schema, registry=registry, validate_formats=True)
            for key in schema["properties"]:
                self._facets[_entity(path.stem), key] = validator
        for path in OUR_FACETS.glob("*.json"):
            schema = _closed(json.loads(path.read_text()))
            validator = jsonschema_rs.Draft202012Validator(schema, registry=registry, validate_formats=True)
            for key in schema["properties"]:
                self._ours[f"{HEADWATER_FACETS}/{path.name}", key] = validator

    def complaints(self, event: bytes) -> list[str]:
        """All validation errors of the event; empty if it is valid."""
        body = json.loads(event)
        envelope = [
            f"{'.'.join(map(str, fault.instance_path))}: {fault.message}" for fault in self._envelope.iter_errors(body)
        ]
        return [*envelope, *(complaint for _, complaint in self._about_facets(body))]

    def complaints_about_ours(self, body: Mapping[str, Any]) -> list[str]:
        """What is wrong with our own event, or with our facets in another producer's."""
        if body["producer"].startswith("https://headwater.dev/"):
            return self.complaints(json.dumps(body).encode())
        return [complaint for is_ours, complaint in self._about_facets(body) if is_ours]

    def _about_facets(self, body: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
        for place, entity, facets in _facet_sets(body):
            for key, facet in facets.items():
                url = str(facet.get("_schemaURL"))
                is_ours = url.startswith(HEADWATER_FACETS)
                of_standard = self._facets.get((entity, key)) or self._facets.get(("", key))
                validator = self._ours.get((url, key)) if is_ours else of_standard
                if validator is not None:
                    faults = validator.iter_errors({key: facet})
                    yield from ((is_ours, f"{place}.{key}: {fault.message}") for fault in faults)
                elif is_ours:
                    yield True, f"{place}.{key}: nothing describes it at {url}"


class SpecFacet(NamedTuple):
    """A facet's definition in the standard; `defs` are the definitions that it references."""

    entity: Entity
    key: str
    schema: Schema
    defs: dict[str, Schema]


@cache
def facets_of_standard(folder: Path) -> tuple[SpecFacet, ...]:
    """Every facet of the standard, once for each kind of entity that has it."""
    return tuple(facet for path in _files(folder) for facet in _facets_of_file(json.loads(path.read_text())))


def local(schema: Schema, defs: dict[str, Schema]) -> Schema | None:
    """The target of a reference within the file; None if the schema is not such a reference."""
    reference = schema.get("$ref", "")
    return defs[reference.rpartition("/")[2]] if reference.startswith("#") else None


def _files(folder: Path) -> list[Path]:
    return sorted([*(folder / "facets").glob("*.json"), *(folder / "registry").glob("*.json")])


def _facets_of_file(file: Schema) -> Iterator[SpecFacet]:
    defs = file["$defs"]
    for key, place in file["properties"].items():
        waiting = [place]
        while waiting:
            schema = waiting.pop()
            schema = local(schema, defs) or schema
            waiting += schema.get("anyOf", []) + schema.get("oneOf", [])
            for part in schema.get("allOf", []):
                if part.get("$ref", "").startswith("http"):
                    yield SpecFacet(_ENTITY_OF_BASE[part["$ref"].rpartition("/")[2]], key, schema, defs)


def _closed(schema: Any) -> Any:  # noqa: ANN401  (JSON)
    """The schema with all objects restricted to their described members."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _closed(each) for key, each in schema.items()}
    if "properties" in found and "object" in found.get("type", ()):
        of_every_facet = {"_producer": True, "_schemaURL": True, "_deleted": True}
        return {"additionalProperties": False, **found, "properties": {**of_every_facet, **found["properties"]}}
    return found


def _entity(stem: str) -> str:
    return next((entity for ending, entity in _ENTITY_OF_FILE.items() if stem.endswith(ending)), "")


def _facet_sets(body: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for entity in ("run", "job", "dataset"):
        yield entity, entity, body.get(entity, {}).get("facets", {})
    for side in ("inputs", "outputs"):
        for number, dataset in enumerate(body.get(side, [])):
            yield f"{side}.{number}", "dataset", dataset.get("facets", {})
            for slot in ("inputFacets", "outputFacets"):
                yield f"{side}.{number}", slot, dataset.get(slot, {})
