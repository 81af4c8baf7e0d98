import pytest

from headwater.capture.connect.records import CONNECTORS
from headwater.capture.traces import WITHHELD, without_values

CONVERTING = "Converting byte[] to Kafka Connect data failed due to serialization error: "
CONVERSION = f"""org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler
\tat org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator.execAndHandleError(X.java:270)
Caused by: org.apache.kafka.connect.errors.DataException: {CONVERTING}
\tat org.apache.kafka.connect.json.JsonConverter.toConnectData(JsonConverter.java:333)
Caused by: com.fasterxml.jackson.core.JsonParseException: Unrecognized token 'hunter2': was expecting (JSON String)
 at [Source: (byte[])"hunter2"; line: 1, column: 8]
\tat com.fasterxml.jackson.core.JsonParser._constructError(JsonParser.java:2418)
\t... 13 more
"""


def test_classes_and_frames_are_reported_but_not_messages_that_may_quote_a_record() -> None:
    cleaned = without_values(CONVERSION, CONNECTORS)

    assert cleaned.root == f"com.fasterxml.jackson.core.JsonParseException: {WITHHELD}"
    assert "hunter2" not in cleaned.text
    assert f"Caused by: com.fasterxml.jackson.core.JsonParseException: {WITHHELD}" in cleaned.text
    assert "JsonConverter.java:333" in cleaned.text
    assert "JsonParser.java:2418" in cleaned.text
    assert "\t... 13 more" in cleaned.text


def test_a_message_that_repeats_a_databases_message_is_withheld() -> None:
    trace = (
        "org.apache.kafka.connect.errors.ConnectException: java.sql.SQLException: ERROR: duplicate key value\n"
        "Detail: Key (name)=(hunter2) already exists."
    )

    cleaned = without_values(trace, CONNECTORS)

    assert cleaned.text == f"org.apache.kafka.connect.errors.ConnectException: {WITHHELD}"
    assert without_values(f"{cleaned.text}\nCaused by: java.sql.SQLException", CONNECTORS).root == cleaned.root


@pytest.mark.parametrize(
    "record",
    [
        "ERROR\njava.net.ConnectException: hunter2\nCaused by: java.net.SocketException: hunter2",
        "ERROR\n\tat a.Hunter2.hunter2(Hunter2.java:1)\nCaused by: java.net.ConnectException: hunter2\n\t... 1 more",
        "\nCaused by: hunter2.Exception"
        "\n\tat java.base@hunter2/java.lang.Thread.run(Thread.java:1)\nCaused by: a.Hunter2Error"
        "\n\tat org.apache.kafka.Connect.run(hunter2.java:1)\n\tat org.apache.kafka.hunter2.run(Unknown Source)",
        "ERROR\n\tSuppressed: java.net.ConnectException: hunter2\n\tat java.lang.Thread.run(hunter2)",
        "ERROR\n\tat java.lang.Thread.run(Thread.java:1)\nCaused by: java.io.FileNotFoundException: hunter2",
    ],
)
def test_a_record_that_is_a_stack_trace_is_part_of_the_message_that_quotes_it(record: str) -> None:
    kind = "org.apache.kafka.connect.errors.DataException"
    trace = (
        "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler\n"
        "\tat org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator.execAndHandleError(X.java:270)\n"
        f"Caused by: {kind}: Cannot convert {record}\n"
        "\tat org.apache.kafka.connect.json.JsonConverter.toConnectData(JsonConverter.java:333)\n"
        "Caused by: java.nio.file.NoSuchFileException: /etc/schema.json\n"
    )

    cleaned = without_values(trace, CONNECTORS)

    assert "hunter2" not in cleaned.text.lower()
    assert cleaned.root == f"{kind}: {WITHHELD}"
    assert "RetryWithToleranceOperator" in cleaned.text
    assert "JsonConverter.java:333" in cleaned.text
    assert cleaned.text.endswith(f"Caused by: java.nio.file.NoSuchFileException: {WITHHELD}")
    assert without_values(cleaned.text, CONNECTORS) == cleaned


def test_causes_and_suppressed_exceptions_are_reported_while_no_message_may_quote_a_record() -> None:
    trace = (
        "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception.\n"
        "\tat a.Task$$Lambda/0x00007f0a1c@4fe.run(Unknown Source)\n"
        "\tSuppressed: java.lang.IllegalStateException\n"
        "\t\tat a.Task.close(Task.java:2)\n"
        "Caused by: java.net.ConnectException: Connection refused\n"
        "\t... 3 more"
    )

    cleaned = without_values(trace, CONNECTORS)

    assert cleaned.text == trace
    assert cleaned.root == "java.net.ConnectException: Connection refused"


def test_why_a_registry_refuses_a_schema_is_reported() -> None:
    refused = (
        "io.apicurio.registry.rest.client.exception.RuleViolationException: "
        "Incompatible artifact: orders-value [AVRO], num of incompatible diffs: {1}, list of diff types: "
        "[reader type: STRING not compatible with writer type: DOUBLE at /fields/3/type]"
    )
    wrapped = "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler"

    assert without_values(f"{wrapped}\nCaused by: {refused}", CONNECTORS).root == refused


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("jdbc:oracle:thin:scott/hunter2@//db:1521/ORCL", "jdbc:oracle:thin:@//db:1521/ORCL"),
        ("jdbc:postgresql://ann:hunter2@db/shop", "jdbc:postgresql://db/shop"),
        ("https://ann:hunter2@host/a", "https://host/a"),
    ],
)
def test_an_address_in_a_message_has_no_user_and_password(address: str, shown: str) -> None:
    kind = "org.apache.kafka.connect.errors.ConnectException"

    cleaned = without_values(f"{kind}: Cannot open a connection to {address} in time", CONNECTORS)

    assert cleaned.root == f"{kind}: Cannot open a connection to {shown} in time"


def test_text_that_is_not_a_trace_is_replaced() -> None:
    unknown = "failed, without a stack trace"

    for text in ("boom hunter2", "boom\njava.net.ConnectException: hunter2", "\tat a.Hunter2.b(hunter2:1)"):
        assert without_values(text, CONNECTORS)._asdict() == {"root": unknown, "text": ""}
