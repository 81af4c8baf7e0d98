import pytest

from headwater.capture.connect.events import CONNECTORS
from headwater.capture.traces import WITHHELD, without_values

CONVERSION = """org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler
\tat org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator.execAndHandleError(X.java:270)
Caused by: org.apache.kafka.connect.errors.DataException: Converting byte[] failed due to serialization error:
\tat org.apache.kafka.connect.json.JsonConverter.toConnectData(JsonConverter.java:333)
Caused by: com.fasterxml.jackson.core.JsonParseException: Unrecognized token 'hunter2': was expecting (JSON String)
 at [Source: (byte[])"hunter2"; line: 1, column: 8]
\tat com.fasterxml.jackson.core.JsonParser._constructError(JsonParser.java:2418)
\t... 13 more
"""


def test_classes_and_frames_are_reported_but_not_messages_that_may_quote_a_record() -> None:
    cleaned = without_values(CONVERSION, CONNECTORS)

    assert cleaned.message == "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler"
    assert "hunter2" not in cleaned.text
    assert f"Caused by: com.fasterxml.jackson.core.JsonParseException: {WITHHELD}" in cleaned.text
    assert "JsonConverter.java:333" in cleaned.text
    assert "\t... 13 more" in cleaned.text


def test_a_message_that_repeats_a_databases_message_is_withheld() -> None:
    trace = (
        "org.apache.kafka.connect.errors.ConnectException: java.sql.SQLException: ERROR: duplicate key value\n"
        "Detail: Key (name)=(hunter2) already exists."
    )

    assert without_values(trace, CONNECTORS).text == f"org.apache.kafka.connect.errors.ConnectException: {WITHHELD}"


def test_an_exception_in_a_quoted_line_of_a_log_is_part_of_the_message() -> None:
    quoted = "java.net.ConnectException: no route to hunter2\nCaused by: java.net.SocketException: hunter2"
    trace = (
        f"org.apache.kafka.connect.errors.DataException: Cannot convert 'ERROR\n{quoted}'\n{quoted}\n"
        "\tat org.apache.kafka.connect.json.JsonConverter.toConnectData(JsonConverter.java:333)\n"
        "Caused by: java.nio.file.NoSuchFileException: /etc/schema.json\n"
    )

    cleaned = without_values(trace, CONNECTORS)

    assert "hunter2" not in cleaned.text
    assert cleaned.root == "java.nio.file.NoSuchFileException: /etc/schema.json"


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

    assert cleaned.message == f"{kind}: Cannot open a connection to {shown} in time"


def test_text_that_is_not_a_trace_is_replaced() -> None:
    assert without_values("boom hunter2", CONNECTORS).message == "failed, without a stack trace"
