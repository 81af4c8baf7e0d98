"""Compares the lineage of the demo's pipelines with the expected lineage."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import yaml

from headwater.cli.lineage_walk import LineageEdge, end_of, lineage_edges
from headwater.cli.service_client import ServiceClient, in_path
from headwater.model.names import DatasetId

NAMESPACE = "demo"


class Difference(NamedTuple):
    """A deviation from the expected lineage, as text."""

    what: str


def expected() -> Mapping[str, Any]:
    """The contents of expected.yaml, by job."""
    content: Mapping[str, Any] = yaml.safe_load((files("headwater.cli.demo") / "expected.yaml").read_text())
    return content


def differences(client: ServiceClient, run_ids: Mapping[str, str]) -> list[Difference]:
    """The missing and superfluous parts of the graph for the pipelines just run; `run_ids` by job name."""
    found: list[Difference] = []
    for job, must in expected().items():
        found += _run_differences(client, job, run_ids[job])
        known = client.get(f"/namespaces/{NAMESPACE}/jobs/{job}")
        found += _set_differences(f"{job} reads", set(must["reads"]), set(_names(client, known["inputs"])))
        outputs = _names(client, known["outputs"])
        found += _set_differences(f"{job} writes", set(must["writes"]), set(outputs))
        for name in must["writes"].keys() & outputs.keys():
            known_sources = column_sources(client, outputs[name])
            found += _column_differences(name, must["writes"][name], known_sources)
    return found


def _run_differences(client: ServiceClient, job: str, run_id: str) -> Iterator[Difference]:
    run = client.get(f"/jobs/runs/{run_id}")
    if run["state"] != "COMPLETED":
        yield Difference(f"the run of {job} is {run['state']}, not COMPLETED")
    if run["signature"]["verdict"] != "ok":
        yield Difference(f"an event of {job} was not verified: {run['signature']['verdict']}")


def _set_differences(what: str, must: set[str], known: set[str]) -> Iterator[Difference]:
    yield from (Difference(f"{what} {name}: missing") for name in sorted(must - known))
    yield from (Difference(f"{what} {name}: unexpected") for name in sorted(known - must))


def _column_differences(name: str, must: Mapping[str, Any], known: Mapping[str, set[str]]) -> Iterator[Difference]:
    yield from _set_differences(f"{name} has column", set(must["columns"]), set(known))
    for column in must["columns"].keys() & known.keys():
        yield from _set_differences(f"{name}:{column} comes from", expected_sources(must, column), known[column])


def expected_sources(must: Mapping[str, Any], column: str) -> set[str]:
    """The expected sources of the column, as `SUBTYPE dataset:column`."""
    own, shared = must["columns"][column], must["all_columns"]
    return {f"{how} {source}" for part in (own, shared) for how, sources in part.items() for source in sources}


def column_sources(client: ServiceClient, dataset: DatasetId) -> dict[str, set[str]]:
    """The sources of each column of the dataset, as `SUBTYPE dataset:column`."""
    parameters = {"nodeId": dataset.node_id, "depth": "1", "withDownstream": "false"}
    answer = client.get("/column-lineage", parameters)
    known = [end_of(node["data"]) for node in answer["graph"]]
    columns = _columns(client, dataset) + [end.column for end in known if end.dataset == dataset]
    sources: dict[str, set[str]] = {column: set() for column in columns if column is not None}
    for edge in lineage_edges(answer):
        if edge.target.dataset == dataset:
            for column in sources if edge.target.column is None else [edge.target.column]:
                sources[column].update(_source_texts(client, edge))
    return sources


def _source_texts(client: ServiceClient, edge: LineageEdge) -> list[str]:
    """The sources of an edge as texts; one for each column if the source is a whole dataset."""
    origin, column = edge.source
    name, columns = _name(client, origin), _columns(client, origin) if column is None else [column]
    return [f"{how['subtype']} {name}:{column}" for how in edge.transformations for column in columns]


def _columns(client: ServiceClient, dataset: DatasetId) -> list[str]:
    return [field["name"] for field in _dataset(client, dataset)["fields"]]


def _names(client: ServiceClient, ids: list[Mapping[str, str]]) -> dict[str, DatasetId]:
    """Datasets by their names for people."""
    datasets = [DatasetId(each["namespace"], each["name"]) for each in ids]
    return {_name(client, dataset): dataset for dataset in datasets}


def _name(client: ServiceClient, dataset: DatasetId) -> str:
    identifiers = _dataset(client, dataset)["facets"].get("symlinks", {}).get("identifiers", [])
    return str(identifiers[0]["name"]) if identifiers else PurePosixPath(dataset.name).name


@cache
def _dataset(client: ServiceClient, dataset: DatasetId) -> Mapping[str, Any]:
    namespace, name = map(in_path, dataset)
    answer: Mapping[str, Any] = client.get(f"/namespaces/{namespace}/datasets/{name}")
    return answer
