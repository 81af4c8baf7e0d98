"""Statements of Flink SQL with hand-written lineage, and their plans by Flink's planner.

`python -m tests.support.flink_statements` plans them with the real planner, and records the trees.
"""

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

import headwater.capture.flink
from headwater.graph.flinkplan.lineage import StatementLineage, column_lineage
from headwater.graph.sparkplan.transformation import ColumnInput, Subtype
from headwater.lab.flink import FLINK, PYTHON
from headwater.lab.jars import folder_of

_FOLDER: Final = Path(__file__).parents[1] / "unit" / "flinkplan"
RECORDED: Final = _FOLDER / "plans.jsonl"
_PROBE: Final = Path(headwater.capture.flink.__file__).with_name("inside")


class Statement(NamedTuple):
    """A statement with the expected inputs of each column, and of the rows."""

    name: str
    sql: str
    columns: dict[str, frozenset[str]]
    rows: frozenset[str]


def tables() -> str:
    """The declarations of the tables that the statements read and write."""
    return str(_content()["tables"])


def statements() -> list[Statement]:
    return [
        Statement(
            each["name"],
            each["sql"],
            {column: _parts(text) for column, text in each["columns"].items()},
            _parts(each.get("rows", "")),
        )
        for each in _content()["statements"]
    ]


@cache
def recorded() -> dict[str, Any]:
    """The planner's tree of each statement, by name."""
    lines = map(json.loads, RECORDED.read_text().splitlines())
    return {line["name"]: line["tree"] for line in lines}


def planned() -> dict[str, Any]:
    """The same from the real planner, in a process with Flink's own Python; takes 10 s."""
    request = {"tables": tables(), "statements": {each.name: each.sql for each in statements()}}
    command = [str(PYTHON), str(Path(__file__).with_name("inside_flink_planner.py"))]
    environment = {
        **os.environ,
        "PYTHONPATH": str(_PROBE),
        "JVM_ARGS": "-Xmx512m -XX:+UseSerialGC",
        "HADOOP_CLASSPATH": f"{folder_of(FLINK)}/*",
    }
    result = subprocess.run(
        command, input=json.dumps(request), env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr[-3000:]
    trees: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return trees


def lineage(tree: Any, columns: list[str]) -> StatementLineage[str]:  # noqa: ANN401  (JSON)
    return column_lineage(tree, columns, lambda table: table[-1])


def texts(inputs: frozenset[ColumnInput[str]]) -> frozenset[str]:
    """Inputs in the notation of the expectations."""
    return frozenset(map(_text, inputs))


def _text(item: ColumnInput[str]) -> str:
    subtype, masking = item.transformation
    words = [f"{item.dataset}.{item.column}", "" if subtype is Subtype.IDENTITY else subtype.value]
    return " ".join(word for word in (*words, "masked" if masking else "") if word)


def _parts(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((_FOLDER / "statements.yaml").read_text())
    return content


if __name__ == "__main__":
    lines = [json.dumps({"name": name, "tree": tree}, separators=(",", ":")) for name, tree in planned().items()]
    RECORDED.write_text("\n".join(lines) + "\n")
