"""Names of tables behind JDBC URLs.

If the official Python client has a naming class for a database, it gives the expected value; the URL forms are
those of the drivers' manuals and of the official Java client's own tests.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openlineage.client.naming.dataset import (
    DB2,
    DatasetNaming,
    MySQL,
    Oracle,
    Postgres,
    Redshift,
    Snowflake,
    Trino,
)

from headwater.errors import InvalidNameError
from headwater.model.names import DatasetId
from headwater.model.naming_jdbc import jdbc_dataset


@pytest.mark.parametrize(
    ("url", "table", "official"),
    [
        ("jdbc:postgresql://hostname/mydb", "sales.t1", Postgres("hostname", "5432", "mydb", "sales", "t1")),
        ("jdbc:postgresql://hostname:5433/mydb", "t1", Postgres("hostname", "5433", "mydb", "public", "t1")),
        ("JDBC:POSTGRESQL://HOST/mydb", "Sales.T1", Postgres("host", "5432", "mydb", "sales", "t1")),
        ("jdbc:postgresql://h/mydb", '"Sales"."T.1"', Postgres("h", "5432", "mydb", "Sales", "T.1")),
        ("jdbc:postgresql://h/mydb?currentSchema=sales,x&ssl=true", "t1", Postgres("h", "5432", "mydb", "sales", "t1")),
        ("jdbc:postgresql://h/mydb?currentSchema=Sales", "t1", Postgres("h", "5432", "mydb", "sales", "t1")),
        ('jdbc:postgresql://h/mydb?currentSchema="$user", "Sales"', "t1", Postgres("h", "5432", "mydb", "Sales", "t1")),
        ("jdbc:postgresql://h/mydb", "mydb.sales.t1", Postgres("h", "5432", "mydb", "sales", "t1")),
        ("jdbc:postgresql:mydb", "t1", Postgres("localhost", "5432", "mydb", "public", "t1")),
        ("jdbc:postgresql://[::1]/mydb", "t1", Postgres("[::1]", "5432", "mydb", "public", "t1")),
        ("jdbc:postgresql://h1,h2:5433/mydb", "t1", Postgres("h1:5432,h2", "5433", "mydb", "public", "t1")),
        ("jdbc:mysql://hostname/mydb", "t1", MySQL("hostname", "3306", "mydb", "t1")),
        ("jdbc:mysql:replication://a:1111,b:2222/mydb", "t1", MySQL("a:1111,b", "2222", "mydb", "t1")),
        ("jdbc:mysql+srv://hostname/mydb", "other.t1", MySQL("hostname", "3306", "other", "t1")),
        ("jdbc:oracle:thin:@//hostname/svc", "hr.t1", Oracle("hostname", "1521", "svc", "HR", "T1")),
        ("jdbc:oracle:thin:@hostname:1522:sid", "HR.T1", Oracle("hostname", "1522", "sid", "HR", "T1")),
        ("jdbc:oracle:thin:@hostname:sid", "HR.T1", Oracle("hostname", "1521", "sid", "HR", "T1")),
        ("jdbc:oracle:thin:@tcp://hostname/svc?retry_count=3", "HR.T1", Oracle("hostname", "1521", "svc", "HR", "T1")),
        (
            "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=h1)(PORT=1523))(ADDRESS=(HOST=h2)(PORT=1524))"
            "(CONNECT_DATA=(SERVICE_NAME=sales.example.com)))",
            "HR.T1",
            Oracle("h1", "1523", "sales.example.com", "HR", "T1"),
        ),
        ("jdbc:trino://hostname:8080/lake/sales", "t1", Trino("hostname", "8080", "lake", "sales", "t1")),
        ("jdbc:trino://hostname:8080/lake/sales", "s2.t1", Trino("hostname", "8080", "lake", "s2", "t1")),
        ("jdbc:trino://hostname:8080/lake/sales", "c2.s2.t1", Trino("hostname", "8080", "c2", "s2", "t1")),
        ("jdbc:trino://hostname:8080/lake", "sales.t1", Trino("hostname", "8080", "lake", "sales", "t1")),
        ("jdbc:redshift://c1.eu-west-1/dev", "T1", Redshift("c1", "eu-west-1", "5439", "dev", "public", "t1")),
        ("jdbc:redshift:iam://c1.eu-west-1:5439/dev", "s.t1", Redshift("c1", "eu-west-1", "5439", "dev", "s", "t1")),
        ("jdbc:db2://hostname:50000/SAMPLE:user=x;password=y;", "S.T1", DB2("hostname", "50000", "SAMPLE", "S", "T1")),
        ("jdbc:db2://hostname:50000/SAMPLE:currentSchema=S;", "T1", DB2("hostname", "50000", "SAMPLE", "S", "T1")),
        ("jdbc:snowflake://org-account/?db=D&warehouse=W&schema=S", "T1", Snowflake("org", "account", "D", "S", "T1")),
        ("jdbc:snowflake://org-account/?db=D&schema=S", "S2.T1", Snowflake("org", "account", "D", "S2", "T1")),
    ],
)
def test_a_table_is_named_as_the_official_client_names_it(url: str, table: str, official: DatasetNaming) -> None:
    assert jdbc_dataset(url, table) == (official.get_namespace(), official.get_name())


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("jdbc:sqlserver://hostname;databaseName=shop", DatasetId("mssql://hostname:1433", "shop.dbo.t1")),
        ("jdbc:sqlserver://;serverName=h;portNumber=1444;database=shop", DatasetId("mssql://h:1444", "shop.dbo.t1")),
        ("jdbc:sqlserver://h;databaseName={my shop};encrypt=true", DatasetId("mssql://h:1433", "my shop.dbo.t1")),
        ("jdbc:sqlserver://h\\inst;databaseName=shop", DatasetId("mssql://h/inst", "shop.dbo.t1")),
        ("jdbc:sqlserver://h;instanceName=inst;databaseName=shop", DatasetId("mssql://h/inst", "shop.dbo.t1")),
        ("jdbc:sqlserver://h\\inst:1444;databaseName=shop", DatasetId("mssql://h:1444/inst", "shop.dbo.t1")),
        ("jdbc:aws-wrapper:postgresql://H/shop?x=1", DatasetId("postgres://h:5432", "shop.public.t1")),
        ("jdbc:p6spy:oracle:thin:@h:1521/s", DatasetId("oracle://h:1521", "s.T1")),
        ("jdbc-secretsmanager:mysql://h/shop", DatasetId("mysql://h:3306", "shop.t1")),
        ("jdbc:mariadb://h/shop", DatasetId("mariadb://h:3306", "shop.t1")),
        ("jdbc:unknown://hostname/mydb", DatasetId("unknown://hostname", "mydb.t1")),
        ("jdbc:sqlite:/data/shop.db", DatasetId("sqlite:/data/shop.db", "t1")),
        ("jdbc:sqlite:file:/data/shop.db?mode=ro", DatasetId("sqlite:/data/shop.db", "t1")),
        ("jdbc:sqlite:/data/me@home/shop.db", DatasetId("sqlite:/data/me@home/shop.db", "t1")),
        ("jdbc:h2:file:/data/shop;USER=sa;PASSWORD=s3cret", DatasetId("h2:/data/shop", "t1")),
    ],
)
def test_a_database_without_a_class_in_the_official_client_is_named(url: str, expected: DatasetId) -> None:
    assert jdbc_dataset(url, "t1") == expected


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://fred:s3cret@hostname/mydb",
        "jdbc:postgresql://hostname/mydb?user=fred&password=s3cret",
        "jdbc:postgresql://fred:a=s3cret@hostname/mydb",
        "jdbc:mysql://fred:s3cret@myhost1:1111,fred:s3cret@myhost2:2222/mydb",
        "jdbc:sqlserver://hostname;user=fred;password={a;databaseName=s3cret};databaseName=mydb",
        "jdbc:oracle:thin:fred/s3cret@//hostname",
        "jdbc:oracle:thin:fred/s3cret@hostname:sid",
        "jdbc:unknown://fred:s3cret@hostname",
        "jdbc:unknown://hostname;user=fred;password=s3cret;",
        "jdbc:unknown:fred/s3cret@hostname",
        "jdbc:db2:SAMPLE:user=fred;password=s3cret;",
    ],
)
def test_credentials_in_a_url_do_not_reach_the_name(url: str) -> None:
    dataset = jdbc_dataset(url, "t1")

    assert "fred" not in dataset.node_id
    assert "s3cret" not in dataset.node_id


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://hostname/mydb",
        "jdbc:postgresql://fred:s3/cret@hostname/mydb",
        "jdbc:postgresql://fred:12/s3cret@hostname/mydb",
        "jdbc:postgresql://fred:s3cret?@hostname/mydb",
        "jdbc:mysql://(host=myhost1,port=1111,user=fred,password=s3cret)/mydb",
        "jdbc:oracle:thin:fred/s3cret",
        "jdbc:sqlserver://hostname\\fred@s3cret",
    ],
)
def test_a_url_that_cannot_be_parsed_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidNameError) as refusal:
        jdbc_dataset(url, "t1")

    assert "fred" not in str(refusal.value)
    assert "cret" not in str(refusal.value)


@pytest.mark.parametrize("table", ["", ".", "a.", ".a", "a..b", "(SELECT 1) x", 'a"b"', "a b"])
def test_a_table_that_is_not_an_identifier_is_refused(table: str) -> None:
    with pytest.raises(InvalidNameError, match="table: expected"):
        jdbc_dataset("jdbc:postgresql://hostname/mydb", table)


@given(st.text(), st.text())
def test_any_url_and_table_are_named_or_refused(rest: str, table: str) -> None:
    for kind in ("postgresql", "sqlserver", "oracle", "unknown"):
        try:
            dataset = jdbc_dataset(f"jdbc:{kind}:{rest}", table)
        except InvalidNameError:
            continue
        assert dataset.name
