"""Accessors for the content of a declaration; `headwater.model.facts.Declaration` describes its form."""

from collections.abc import Iterator, Mapping
from typing import Any

from headwater.model.events import Direction
from headwater.model.flow_facts import Flow, Maker
from headwater.model.names import DatasetId, JobId


def references(declared: Mapping[str, Any]) -> Iterator[tuple[Direction, Mapping[str, Any]]]:
    """The datasets that a job is declared to read and write."""
    yield from (("input", reference) for reference in declared["inputs"])
    yield from (("output", reference) for reference in declared["outputs"])


def targets(declared: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The datasets whose sources a job's declaration reports although the job does not write them."""
    yield from declared.get("targets", ())


def dataset_of(reference: Mapping[str, Any]) -> DatasetId:
    """The dataset that a reference names."""
    return DatasetId(reference["namespace"], reference["name"])


def digests(reference: Mapping[str, Any]) -> dict[str, bytes]:
    """The digests of the reference's declared facets, by name."""
    return {facet: bytes.fromhex(digest) for facet, digest in reference["facets"].items()}


def silent(reference: Mapping[str, Any]) -> frozenset[bytes]:
    """The digests of lineage facets that name no sources."""
    return frozenset(bytes.fromhex(reference["facets"][facet]) for facet in reference.get("silent", ()))


def makers(reference: Mapping[str, Any]) -> frozenset[Maker]:
    """The jobs that a dataset event reports as the dataset's producers."""
    return frozenset(Maker(JobId(*each[:2]), *each[2:]) for each in reference.get("jobs", ()))


def flows(declared: Mapping[str, Any]) -> Iterator[Flow]:
    """The flows in a job's declaration."""
    for source, target in declared.get("flows", ()):
        yield Flow(_end_of(source), _end_of(target), _run_of(source), _run_of(target))


def uses(declared: Mapping[str, Any]) -> bytes | None:
    """The digest of the facet in which a job's declaration reports what jobs use themselves; None: there is none."""
    digest = declared.get("uses")
    return None if digest is None else bytes.fromhex(digest)


def _end_of(end: list[str] | None) -> JobId | DatasetId | None:
    if end is None:
        return None
    kind, namespace, name, *_ = end
    return (JobId if kind == "job" else DatasetId)(namespace, name)


def _run_of(end: list[str] | None) -> str | None:
    return None if end is None else next(iter(end[3:]), None)
