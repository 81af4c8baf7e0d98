"""Which part of a pipeline reads the rows of which."""

from pathlib import Path

import pytest

from headwater.pipeline.check import Checked, check_source

HEAD = "name: a\nnamespace: b\n"
ONE = HEAD + "input: {generate: {rows: 1}}\n"
TWO = HEAD + "inputs: {flights: {generate: {rows: 1}}, planes: {generate: {rows: 1}}}\n"


def check(text: str) -> Checked:
    return check_source(text.encode(), Path("/pipelines/a.yaml"), {}, {})


def test_each_processor_reads_the_previous_one_and_outputs_write_the_last() -> None:
    spec = check(
        ONE + "pipeline: {processors: [filter: x, {filter: y, name: kept}, filter: z]}\noutput: {stdout: }"
    ).spec

    assert spec
    assert [(each.source, each.frame) for each in spec.processors] == [
        ("input", "processors.0"),
        ("processors.0", "kept"),
        ("kept", "processors.2"),
    ]
    assert spec.outputs[0].source == "processors.2"


def test_from_names_an_input_or_an_earlier_processor() -> None:
    steps = "[{filter: x, from: flights, name: late}, {filter: y, from: planes}, {filter: z, from: late}]"
    spec = check(TWO + f"pipeline: {{processors: {steps}}}\noutputs: [{{stdout: , from: late}}]").spec

    assert spec
    assert [each.source for each in spec.processors] == ["flights", "planes", "late"]
    assert spec.outputs[0].source == "late"


def test_sql_sees_inputs_earlier_named_processors_and_its_own_source() -> None:
    steps = "[sql: SELECT 1, {filter: x, name: late}, {sql: SELECT 2, from: planes}]"
    spec = check(TWO + f"pipeline: {{processors: {steps}}}\noutput: {{stdout: }}").spec

    assert spec
    inputs = {"flights": "flights", "planes": "planes"}
    assert spec.processors[0].views == inputs
    assert spec.processors[0].source is None
    assert spec.processors[1].views == {**inputs, "input": "processors.0"}
    assert spec.processors[2].views == {**inputs, "late": "late", "input": "planes"}


def test_without_processors_the_only_input_is_written() -> None:
    spec = check(ONE + "output: {stdout: }").spec

    assert spec
    assert spec.outputs[0].source == "input"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TWO + "output: {stdout: }", "4:9: output: missing key 'from': there are several inputs, flights, planes"),
        (
            TWO + "pipeline: {processors: [filter: x]}\noutput: {stdout: }",
            "4:25: pipeline.processors.0: missing key 'from': there are several inputs, flights, planes",
        ),
        (
            TWO + "output: {stdout: , from: fligths}",
            "4:26: output.from: expected one of flights, planes, found 'fligths', did you mean 'flights'?",
        ),
        (
            ONE + "pipeline: {processors: [{filter: x, from: late}, {filter: y, name: late}]}\noutput: {stdout: }",
            "4:43: pipeline.processors.0.from: expected one of input, found 'late'",
        ),
        (
            ONE + "pipeline: {processors: [{filter: x, name: input}]}\noutput: {stdout: }",
            "4:43: pipeline.processors.0.name: the name 'input' is reserved for the rows that a processor reads",
        ),
        (
            TWO.replace("planes", "Flights") + "output: {stdout: , from: flights}",
            "3:51: inputs.Flights: the name 'Flights' is taken by 'flights'",
        ),
        (
            HEAD + "inputs: {2x: {generate: {rows: 1}}}\noutput: {stdout: }",
            "3:10: inputs.2x: expected a name of letters, digits and _, not starting with a digit, found '2x'",
        ),
        (HEAD + "output: {stdout: }", "1:1: missing key 'input' (or 'inputs')"),
        (ONE + "inputs: {}\noutput: {stdout: }", "4:1: inputs: expected input or inputs, found both"),
        (
            HEAD + "inputs: {}\noutput: {stdout: }",
            "3:9: inputs: expected a mapping of names to inputs, found a mapping",
        ),
        (ONE + "outputs: []", "4:10: outputs: expected a list, each item an output, found a list"),
    ],
)
def test_unknown_or_missing_names_are_reported(text: str, problem: str) -> None:
    messages = [each.text("a.yaml") for each in check(text).problems]

    assert f"a.yaml:{problem}" in messages
