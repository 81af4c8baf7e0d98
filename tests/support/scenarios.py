"""Recorded events, and the graph expected of them, written by hand in `conformance/scenarios`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from headwater.model.names import DatasetId, JobId

FOLDER = Path(__file__).resolve().parents[2] / "conformance" / "scenarios"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
Truth = dict[str, Any]


class Scenario(NamedTuple):
    """Events as bytes, in recorded order, and the expected graph."""

    events: list[bytes]
    truth: Truth


def scenario(shared: Path, name: str) -> Scenario:
    truth = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    return Scenario(list(_events(shared / truth["source"])), truth)


def _events(source: Path) -> Iterator[bytes]:
    if source.suffix == ".jsonl":
        yield from (line for line in source.read_bytes().splitlines() if line)
    else:
        yield from (json.dumps(json.loads(file.read_bytes())).encode() for file in sorted(source.glob("*.json")))


def pair(text: str) -> tuple[str, str]:
    """`NAMESPACE NAME`, with `~` for an empty namespace."""
    namespace, _, name = text.partition(" ")
    return ("" if namespace == "~" else namespace), name


def dataset(text: str) -> DatasetId:
    return DatasetId(*pair(text))


def job(text: str) -> JobId:
    return JobId(*pair(text))
