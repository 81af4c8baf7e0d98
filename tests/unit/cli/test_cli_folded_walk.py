"""Many columns that are reached as a whole dataset are one node of the tree."""

import pytest

from headwater.cli.folded_walk import folded
from headwater.cli.lineage_walk import WHOLE, Step, Walk
from headwater.cli.printed import Line
from headwater.cli.trace import as_tree

ALL = "all-into:dataset:lake:mart"


def walk_to(count: int) -> Walk:
    """A walk from one column into this many, the first of which leads on into another dataset."""
    columns = [f"datasetField:lake:mart:c{number}" for number in range(count)]
    into, onward = Step("raw:a", ALL, ("SORT",)), Step(columns[0], "top:a", ("IDENTITY",))
    steps = (into, *(Step(ALL, column, (WHOLE,)) for column in columns), onward)
    hops = {"raw:a": 0, ALL: 1, **dict.fromkeys(columns, 2), "top:a": 3}
    datasets = dict.fromkeys(columns, "dataset:lake:mart") | {"raw:a": "dataset:lake:raw", "top:a": "dataset:lake:top"}
    return Walk("raw:a", "downstream", hops, steps, {"dataset:lake:mart": "mart"}, {}, datasets)


def notes_of(walked: Walk, **notes_on_columns: str) -> dict[str, str]:
    """The note on each remaining node."""
    notes = {f"datasetField:lake:mart:{column}": Line(note) for column, note in notes_on_columns.items()}
    shown, shown_notes = folded(walked, notes)
    return {node: shown_notes.get(node, Line()).plain for node in shown.hops}


def test_many_columns_are_one_node_except_those_that_lead_on() -> None:
    shown, _ = folded(walk_to(20), {})

    first = "datasetField:lake:mart:c0"
    assert shown.hops == {"raw:a": 0, ALL: 1, first: 2, "top:a": 3}
    assert [step.target for step in shown.steps] == [ALL, first, "top:a"]
    assert notes_of(walk_to(20))[ALL] == "  20 columns"


@pytest.mark.parametrize("count", [1, 11])
def test_few_columns_are_separate_nodes(count: int) -> None:
    walked = walk_to(count)

    shown, _ = folded(walked, {})

    assert shown == walked


def test_a_column_with_a_different_note_is_a_separate_node() -> None:
    notes = {f"c{number}": " breaks" if number == 5 else " unknown" for number in range(20)}

    notes_by_node = notes_of(walk_to(20), **notes)

    assert notes_by_node["datasetField:lake:mart:c5"] == " breaks"
    assert notes_by_node[ALL] == "  20 columns unknown"


def test_many_columns_with_a_different_note_are_another_node() -> None:
    notes = {f"c{number}": " breaks" if number > 20 else " unknown" for number in range(50)}

    notes_by_node = notes_of(walk_to(50), **notes)

    assert [text for text in notes_by_node.values() if "columns" in text] == [
        "  50 columns breaks",
        "  20 columns unknown",
    ]


def test_a_column_that_is_also_named_by_itself_is_a_separate_node() -> None:
    walked = walk_to(20)
    named_column = "datasetField:lake:mart:c7"
    walked = Walk(**{**vars(walked), "steps": (*walked.steps, Step("raw:a", named_column, ("IDENTITY",)))})

    assert notes_of(walked)[named_column] == ""


@pytest.mark.parametrize(
    ("steps", "leads_to"),
    [
        ((), ["none: no edges downstream"]),
        ((Step("raw:a", "raw:a", ("IDENTITY",)),), ["raw:a  identity  (shown above)"]),
    ],
)
def test_a_column_derived_only_from_itself_leads_to_itself(steps: tuple[Step, ...], leads_to: list[str]) -> None:
    walked = Walk("raw:a", "downstream", {"raw:a": 0}, steps, {"raw:a": "raw:a"}, {}, {"raw:a": "dataset:lake:raw"})

    assert [str(branch.label) for branch in as_tree(walked).children] == leads_to
