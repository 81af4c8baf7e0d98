"""Secrets in SQL texts are hidden, and nothing else."""

import pytest

from headwater.model.sql_secrets import sql_without_secrets
from headwater.sql.reading import UnreadableSqlError


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("tsql", "SELECT * FROM OPENROWSET('SQLNCLI', 'Server=db;UID=sa;PWD=hunter2;', 'SELECT 1')"),
        ("tsql", "SELECT * FROM OPENROWSET('SQLNCLI', 'db';'sa';'hunter2', 'SELECT 1')"),
        ("tsql", "SELECT * FROM OPENDATASOURCE('SQLNCLI', N'Data Source=db;Password=hunter2').shop.dbo.orders"),
        ("tsql", "SELECT DECRYPTBYPASSPHRASE('hunter2', name) FROM orders"),
        ("tsql", "SELECT * FROM orders WHERE place = 'Server=db;Pwd = hunter2'"),
        ("postgres", "SELECT * FROM dblink('host=db user=ann password=hunter2', 'SELECT 1') AS q (id int)"),
        ("postgres", "SELECT dblink_connect($$host=db password=hunter2$$)"),
        ("postgres", "SELECT pgp_sym_decrypt(name, concat('hunter', (2), 'hunter2')) FROM orders"),
        ("postgres", "SELECT 'postgres://ann:hunter2@db/shop'"),
        ("clickhouse", "SELECT * FROM remote('db:9000', shop.orders, 'ann', 'hunter2')"),
        ("clickhouse", "SELECT * FROM s3('https://lake/orders.csv', 'AKIA', 'hunter2', 'CSV')"),
        ("clickhouse", "SELECT * FROM own('db', `password` = 'hunter2')"),
        ("duckdb", "SELECT * FROM own('db', api_key => 'hunter2')"),
        ("spark", 'SELECT aes_decrypt(name, unhex("hunter2")) FROM orders'),
        ("spark", "SELECT 'it\\'s', 'x;token=hunter2;' FROM orders"),
        ("snowflake", "COPY INTO t FROM 's3://b/x' CREDENTIALS=(AWS_KEY_ID='AKIA' AWS_SECRET_KEY='hunter2')"),
        ("postgres", "SELECT 'hunter2"),
        ("postgres", 'SELECT f("hunter2", \'a'),
    ],
)
def test_a_secret_is_hidden(dialect: str, sql: str) -> None:
    assert "hunter2" not in sql_without_secrets(sql, dialect)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT supplier, 'a=b', count(*) FROM orders WHERE note = 'it''s' AND id IN ('a', 'b') -- 'c'",
        "SELECT (SELECT max(password) FROM users), remote('a', 'b') FROM orders WHERE remote = 'c'",
        "SELECT token FROM users WHERE token = other AND remote IN (SELECT 'a')",
    ],
)
def test_any_other_text_is_unchanged(sql: str) -> None:
    assert sql_without_secrets(sql, "postgres") == sql.replace("remote('a', 'b')", "remote('***', '***')")


def test_texts_after_a_connecting_function_are_unchanged() -> None:
    sql = "SELECT * FROM remote(f('a'), ('b')) WHERE note IN ('c') AND f('d') = 'e'"

    assert sql_without_secrets(sql, "clickhouse") == (
        "SELECT * FROM remote(f('***'), ('***')) WHERE note IN ('c') AND f('d') = 'e'"
    )


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(UnreadableSqlError, match="unknown dialect"):
        sql_without_secrets("SELECT 1", "klingon")
