"""The OpenLineage specification's own JSON schemas, as an independent judge of events."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs

_ENTITY_OF_FILE = {
    "InputDatasetFacet": "inputFacets",
    "OutputDatasetFacet": "outputFacets",
    "DatasetFacet": "dataset",
    "RunFacet": "run",
    "JobFacet": "job",
}


class Specification:
    """Validates an event as a whole, and each facet in it by the facet's own file."""

    def __init__(self, folder: Path) -> None:
        envelope = json.loads((folder / "OpenLineage.json").read_text())
        registry = jsonschema_rs.Registry([(envelope["$id"], envelope)])
        self._envelope = jsonschema_rs.Draft202012Validator(envelope, validate_formats=True)
        self._facets: dict[tuple[str, str], jsonschema_rs.Draft202012Validator] = {}
        for path in [*(folder / "facets").glob("*.json"), *(folder / "registry").glob("*.json")]:
            schema = json.loads(path.read_text())
            validator = jsonschema_rs.Draft202012Validator(schema, registry=registry, validate_formats=True)
            for key in schema["properties"]:
                self._facets[_entity(path.stem), key] = validator

    def complaints(self, event: bytes) -> list[str]:
        """Everything that is wrong with the event; empty if it is valid."""
        body = json.loads(event)
        found = [
            f"{'.'.join(map(str, fault.instance_path))}: {fault.message}" for fault in self._envelope.iter_errors(body)
        ]
        for place, entity, facets in _facet_sets(body):
            for key, facet in facets.items():
                validator = self._facets.get((entity, key)) or self._facets.get(("", key))
                if validator is not None:
                    found += [f"{place}.{key}: {fault.message}" for fault in validator.iter_errors({key: facet})]
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
