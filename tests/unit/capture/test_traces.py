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


def test_classes_and_frames_are_kept_and_messages_that_may_quote_a_record_are_not() -> None:
    found = without_values(CONVERSION, CONNECTORS)

    assert found.message == "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler"
    assert "hunter2" not in found.text
    assert f"Caused by: com.fasterxml.jackson.core.JsonParseException: {WITHHELD}" in found.text
    assert "JsonConverter.java:333" in found.text
    assert "\t... 13 more" in found.text


def test_a_message_that_repeats_that_of_a_database_is_withheld() -> None:
    told = (
        "org.apache.kafka.connect.errors.ConnectException: java.sql.SQLException: ERROR: duplicate key value\n"
        "Detail: Key (name)=(hunter2) already exists."
    )

    assert without_values(told, CONNECTORS).text == f"org.apache.kafka.connect.errors.ConnectException: {WITHHELD}"


def test_what_is_no_trace_is_told_as_such() -> None:
    assert without_values("boom hunter2", CONNECTORS).message == "failed, without a stack trace"
