"""Files of SQL are split as Flink's own client does, and each statement has its line number."""

import pytest

from headwater.capture.flink.inside.headwater_probe.script import setting, statements
from headwater.capture.flink.sql_text import shown_sql


def test_semicolons_end_statements_but_not_in_quotes_and_comments() -> None:
    script = "-- one; two\nSELECT ';' AS `a;b` /* ; */ FROM t;\n\n\nSELECT 2"

    parsed = statements(script)

    assert [(each.text, each.line) for each in parsed] == [("SELECT ';' AS `a;b`  FROM t", 2), ("SELECT 2", 5)]


def test_a_comment_of_several_lines_does_not_shift_later_line_numbers() -> None:
    parsed = statements("/* a\nb\nc */ SELECT 1;\nSELECT /* x\n */ 2, 'it''s'\n  FROM t;")

    assert [each.line for each in parsed] == [3, 4]
    assert parsed[1].text.count("\n") == 2


def test_hints_are_not_comments() -> None:
    assert statements("SELECT * FROM t /*+ OPTIONS('a'='b') */;")[0].text == "SELECT * FROM t /*+ OPTIONS('a'='b') */"


@pytest.mark.parametrize(
    "head",
    ["BEGIN STATEMENT SET;", "EXECUTE STATEMENT SET\nBEGIN", "execute statement set begin"],
)
def test_a_statement_set_is_one_statement_in_the_form_that_the_parser_accepts(head: str) -> None:
    parsed = statements(f"SELECT 1;\n{head}\nINSERT INTO a SELECT 1;\nINSERT INTO b SELECT 2;\nEND;\nSELECT 3;")

    expected = "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END"
    assert " ".join(parsed[1].text.split()) == expected
    assert (len(parsed), parsed[1].line) == (3, 2)


def test_settings_are_distinguished_from_statements() -> None:
    assert setting("SET 'pipeline.name' = 'ann''s job'") == ("pipeline.name", "ann's job")
    assert setting("SELECT 'a' = 'b'") is None


def test_values_of_options_are_hidden_unless_they_name_data() -> None:
    sql = "CREATE TABLE t WITH ('topic'='a', 'properties.sasl.jaas.config' = 'user ''x'' y') AS SELECT 'k' FROM s"

    assert (
        shown_sql(sql)
        == "CREATE TABLE t WITH ('topic'='a', 'properties.sasl.jaas.config' = '***') AS SELECT 'k' FROM s"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE t WITH ('password' = N's3cret') AS SELECT 1",
        "CREATE TABLE t WITH ('$key' = 's3cret', '0' = 's3cret', 'my key' = 's3cret', 'a/b:c' = 's3cret') AS SELECT 1",
        "INSERT INTO t SELECT a FROM s WHERE address = 'https://ann:s3cret@host/a' AND b = 'c'",
        "CREATE TABLE t WITH ('path'='s3://key:s3cret@lake/raw','topic'='a') AS SELECT 1",
    ],
)
def test_no_secret_of_a_statement_is_shown(sql: str) -> None:
    assert "s3cret" not in shown_sql(sql)
