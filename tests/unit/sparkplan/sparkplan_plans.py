"""Plans for tests: those that Spark wrote, and small ones built by hand in Spark's form."""

import json
from pathlib import Path
from typing import Any

RECORDED = sorted((Path(__file__).resolve().parents[3] / "conformance" / "sparkplan").glob("*.json"))

Entry = dict[str, Any]

OPERATORS = "org.apache.spark.sql.catalyst.plans.logical"
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"


def operator(kind: str, *children: list[Entry], **fields: object) -> list[Entry]:
    """An operator over its children, as the flat list that Spark writes."""
    head = {"class": f"{OPERATORS}.{kind}", "num-children": len(children), **fields}
    return [head, *(entry for child in children for entry in child)]


def function(kind: str, *operands: list[Entry], **fields: object) -> list[Entry]:
    """An expression of its operands."""
    head = {"class": f"{EXPRESSIONS}.{kind}", "num-children": len(operands), **fields}
    return [head, *(entry for operand in operands for entry in operand)]


def column(name: str, number: int) -> list[Entry]:
    return function("AttributeReference", name=name, exprId={"id": number}, dataType="long")


def alias(value: list[Entry], name: str, number: int) -> list[Entry]:
    return function("Alias", value, name=name, exprId={"id": number})


def literal(value: object) -> list[Entry]:
    return function("Literal", value=str(value), dataType="integer")


def relation(*columns: list[Entry]) -> list[Entry]:
    return operator("LogicalRelation", output=list(columns))


def project(child: list[Entry], *columns: list[Entry]) -> list[Entry]:
    return operator("Project", child, projectList=list(columns))


def text(plan: list[Entry]) -> str:
    return json.dumps(plan)
