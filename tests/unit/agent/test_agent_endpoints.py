"""A region's endpoints: those outside the machine must be allowed, or are refused with their place in the file."""

import json
from pathlib import Path

import pytest

from headwater.agent.deploying import checked
from headwater.agent.endpoints import allowed_by, endpoint, is_allowed
from headwater.agent.messages import Pipeline
from headwater.errors import InvalidInputError, InvalidPipelineError

HEAD = "name: orders\nnamespace: edge\n"
SILENT = "lineage: {enabled: false}\n"
ROWS = "input: {generate: {rows: 1}}\n"
LINES = "output: {stdout: {rows: 1}}\n"


def problems(text: str, *allowed: str, **environment: str) -> list[str]:
    """The refused places, each with its endpoint or the reason why that is unknown."""
    pipeline = Pipeline(source=HEAD + text, path="/edge/orders.yaml")
    try:
        checked(pipeline, [allowed_by(each) for each in allowed], environment)
    except InvalidPipelineError as refusal:
        suffix = " is not in the agent's allowed_endpoints"
        return [line.removeprefix("/edge/orders.yaml: ").removesuffix(suffix) for line in str(refusal).splitlines()]
    return []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ROWS + LINES, "lineage.http.endpoint: http://localhost:5000/api/v1/lineage"),
        (
            ROWS + LINES + "lineage: {transport: both, http: {endpoint: 'https://lineage.us.example/api'}}",
            "lineage.http.endpoint: https://lineage.us.example:443/api",
        ),
        (
            f"{SILENT}{LINES}input: {{file: {{paths: [/data, s3a://us/in], format: text}}}}",
            "input.file.paths.1: s3://us/in",
        ),
        (
            f"{SILENT}{ROWS}outputs: [{{file: {{path: 'hdfs://name:9000/x', format: json}}}}]",
            "outputs.0.file.path: hdfs://name:9000/x",
        ),
        (
            f"{SILENT}{ROWS}output: {{kafka: {{addresses: ['a.example:9092'], topic: t}}}}",
            "output.kafka.addresses.0: kafka://a.example:9092",
        ),
        (
            f"{SILENT}{LINES}inputs: {{o: {{sql: {{url: 'jdbc:postgresql://DB.us/shop?user=', table: t}}}}}}",
            None,
        ),
        (
            f"{SILENT}{LINES}inputs: {{o: {{sql: {{url: 'jdbc:postgresql://DB.us/shop', table: t}}}}}}",
            "inputs.o.sql.url: postgres://db.us:5432",
        ),
        (
            f"{SILENT}{ROWS}{LINES}catalogs: {{c: {{type: rest, uri: 'https://cat.us/'}}}}",
            "catalogs.c.uri: https://cat.us:443",
        ),
        (f"{SILENT}{ROWS}{LINES}catalogs: {{c: {{type: glue}}}}", "catalogs.c: glue://default"),
        (
            f"{SILENT}{ROWS}{LINES}spark: {{spark.hadoop.fs.s3a.endpoint: 'minio.us:9000'}}",
            "spark.spark.hadoop.fs.s3a.endpoint: *://minio.us:9000",
        ),
        (
            f"{SILENT}{ROWS}{LINES}pipeline: {{processors: [{{sql: 'SELECT * FROM csv.`s3://us/in`'}}]}}",  # noqa: S608
            "pipeline.processors.0.sql.query: s3://us/in",
        ),
    ],
)
def test_an_endpoint_that_is_not_allowed_is_refused_with_its_place(text: str, problem: str | None) -> None:
    refused = problems(text, "https://lineage.eu.example", "kafka://b.example:9092")

    assert refused == [problem] if problem is not None else len(refused) == 1


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("minio.us:9000", "*://minio.us:9000"),
        ("Minio.us:9000/", "*://minio.us:9000"),
        ("minio.us/deep/down", "*://minio.us"),
        ("key:secret@minio.us:9000", "*://minio.us:9000"),
        ("[2001:DB8::1]:9000", "*://[2001:db8::1]:9000"),
        ("b.example:9092,minio.us:9000/", "*://minio.us:9000"),
        (
            "minio.us:9000?x",
            "expected a URL with a host",
        ),
    ],
)
def test_a_host_without_a_scheme_is_an_endpoint_in_any_spelling(value: str, found: str) -> None:
    text = f"{SILENT}{ROWS}{LINES}spark: {{spark.hadoop.fs.s3a.endpoint: '{value}'}}"

    (problem,) = problems(text, "kafka://b.example:9092")

    assert problem.startswith(f"spark.spark.hadoop.fs.s3a.endpoint: {found}")
    assert "secret" not in problem
    if found.endswith(":9000"):
        assert problems(text, "kafka://b.example:9092", f"https{found[1:]}") == []


def reading(table: str) -> str:
    return in_sql(f"SELECT * FROM {table}")  # noqa: S608


def in_sql(query: str) -> str:
    return f"{SILENT}{ROWS}{LINES}pipeline: {{processors: [{{sql: {json.dumps(query)}}}]}}"


@pytest.mark.parametrize(
    "table",
    [
        "csv.`s3://eu/in`",
        """ "parquet"."s3://us/in" """,
        """ parquet . /* "  /* ' */ */ "s3a://us/in" """,
        "IDENTIFIER('csv.`s3://us/in`')",
        'identifier -- a name \'\n ("csv.`s3://us/in`")',
        "input WITH (`path` = 's3://us/in')",
        "input WITH (header = true, path 's3://us/in')",
        "input /* ` */ JOIN csv.`s3://us/in` /* ` */",
        "input WHERE a = 'it''s \\\\' AND b IN (SELECT c FROM csv.`s3://us/in`) AND d = ' '",
    ],
)
def test_an_address_in_sql_is_found_in_each_way_that_spark_reads_one(table: str) -> None:
    (problem,) = problems(reading(table), "s3://eu/allowed")

    assert "s3://" in problem
    assert problem.startswith("pipeline.processors.0.sql.query")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT * FROM IDENTIFIER('csv.`s3' || '://us/in`')", "the name in IDENTIFIER(…) is not one literal"),
        ("SELECT * FROM IDENTIFIER('csv.`s3' '://us/in`')", "the name in IDENTIFIER(…) is not one literal"),
        ("SELECT * FROM IDENTIFIER('csv.`s3\\u003a//us/in`')", "is not one literal without escapes"),
        ("SELECT * FROM Identifier /* x */ (where_it_is)", "the name in IDENTIFIER(…) is not one literal"),
        ("SELECT * FROM csv.`$${env:PLACE}`", "Spark replaces ${…} in SQL by settings"),
        ("SELECT * FROM input WITH (path = 's3' '://us/in')", "is not one literal without escapes"),
        ("SELECT reflect('java.net.InetAddress', 'getByName', a) FROM input", "reflect(…) in SQL calls any Java"),
        ("SELECT TRANSFORM(a) USING 'curl http://us' AS b FROM input", "USING with a text in SQL runs a program"),
        ("SELECT `a FROM input", "a quote without its end"),
        ("SELECT a /* FROM input", "a comment without an unambiguous end"),
    ],
)
def test_sql_that_does_not_show_what_it_reads_is_refused(query: str, why: str) -> None:
    (problem,) = problems(in_sql(query), "s3://eu/allowed")

    assert why in problem
    assert problem.startswith("pipeline.processors.0.sql.query: ")
    assert problem.endswith("the agent's allowed_endpoints allow only endpoints that can be determined")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT concat(\"https://shop/\", id) AS url, 'jdbc:x' AS host FROM input -- csv.`s3://us/in`",
        "WITH t AS (SELECT identifier, `a``b` FROM input) SELECT * FROM t JOIN u USING (identifier)",
        "SELECT r'\\' AS reflect FROM csv.`/data/in` WITH (header = 'true') WHERE x LIKE 'http://%'",
        "SELECT * FROM IDENTIFIER('lake.sales.orders') /* IDENTIFIER(x) /* */ it's */",
        "SELECT * FROM csv.`s3://eu/allowed/in`",
    ],
)
def test_sql_that_names_nothing_elsewhere_is_allowed(query: str) -> None:
    assert problems(in_sql(query), "s3://eu/allowed") == []


def test_expressions_are_checked_as_queries_are() -> None:
    steps = (
        "[{mapping: {columns: {host: lower(host), url: '(SELECT max(a) FROM csv.`s3://us/in`)'}}}, {filter: '`a` > 0'}]"
    )

    refused = problems(f"{SILENT}{ROWS}{LINES}pipeline: {{processors: {steps}}}", "s3://eu")

    assert refused == ["pipeline.processors.0.mapping.columns.url: s3://us/in"]


@pytest.mark.parametrize("address", ["[::1]:9092", "b.example:9092"])
def test_a_broker_can_be_allowed_by_name_or_ip_address(address: str) -> None:
    text = f"{SILENT}{ROWS}output: {{kafka: {{addresses: ['{address}'], topic: t}}}}"

    assert problems(text, f"kafka://{address}") == []
    assert problems(text, "kafka://[::2]:9092") == [f"output.kafka.addresses.0: kafka://{address}"]


def test_local_files_need_no_permission() -> None:
    local = "input: {file: {paths: [/data, 'file:///data2'], format: text}}\noutput: {iceberg: lake.sales.orders}\n"
    to_file = "lineage: {transport: file, file: {path: events.jsonl}}\n"

    assert problems(local + to_file) == []


POSTGRES = "postgres://db.ok:5432"
ALL_OK: tuple[str, ...] = (
    POSTGRES,
    "mysql://db.ok:3306",
    "mariadb://db.ok:3306",
    "mssql://db.ok:1433",
    "mssql://db.ok:1433/one",
)
ALL_OK += ("oracle://db.ok:1521", "trino://db.ok:8080", "db2://db.ok:50000", "jdbc:duckdb:/data/shop.db")


def by_jdbc(url: str, options: str = "{}") -> str:
    return f"{SILENT}{ROWS}output: {{sql: {{url: '{url}', table: public.orders, mode: append, options: {options}}}}}\n"


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://db.ok:5432/shop?host=127.0.0.2&port=5999",
        "jdbc:postgresql://db.ok/shop?PGHOST=evil.example",
        "jdbc:postgresql://db.ok/shop?sslmode=require&PGPORT=5999",
        "jdbc:postgresql://db.ok/shop?ssl&service=evil",
        "jdbc:postgresql://db.ok/shop?socketFactory=x&socketFactoryArg=evil",
        "jdbc:postgresql://db.ok/shop?%50GHOST=evil.example",
        "jdbc:postgresql://db.ok/shop?ApplicationName=a?PGHOST=evil.example",
        "jdbc:postgresql://db.ok,evil.example/shop",
        "jdbc:postgresql://db.ok:5432,evil.example:5432/shop",
        "jdbc:mysql://db.ok,evil.example/shop",
        "jdbc:mysql:loadbalance://db.ok,evil.example/shop",
        "jdbc:mysql:replication://db.ok/shop",
        "jdbc:mysql+srv://db.ok/shop",
        "jdbc:mysql://address=(host=evil.example)(port=3306)/shop",
        "jdbc:mysql://(host=evil.example,port=3306)/shop",
        "jdbc:mysql://[(host=db.ok),(host=evil.example)]/shop",
        "jdbc:mysql://db.ok/shop?socksProxyHost=evil.example",
        "jdbc:mysql://db.ok/shop?socketFactory=evil",
        "jdbc:mysql://db.ok/shop?propertiesTransform=evil",
        "jdbc:mariadb:sequential://db.ok,evil.example/shop",
        "jdbc:sqlserver://db.ok;serverName=evil.example",
        "jdbc:sqlserver://db.ok;databaseName=shop;server=evil.example",
        "jdbc:sqlserver://db.ok;failoverPartner=evil.example",
        "jdbc:sqlserver://;serverName=db.ok;servername=evil.example",
        "jdbc:sqlserver://db.ok;applicationName={a;serverName=evil.example}",
        "jdbc:oracle:thin:@db.ok",
        "jdbc:oracle:thin:@db.ok:1521/shop?TNS_ADMIN=/tmp",
        "jdbc:oracle:thin:@tcps://db.ok,evil.example:1521/shop",
        "jdbc:oracle:thin:@tcp://db.ok:1521/shop?https_proxy=evil.example",
        "jdbc:oracle:oci:@db.ok:1521/shop",
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=db.ok)(PORT=1521))(ADDRESS=(HOST=evil.example)(PORT=1521)))",
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HTTPS_PROXY=evil.example)(HOST=db.ok)(PORT=1521)))",
        'jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=("HOST"=evil.example)(HOST=db.ok)(PORT=1521)))',
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=db.ok)))",
        "jdbc:sqlserver://db.ok;applicationName=a=serverName=evil.example",
        "jdbc:postgresql:shop?serverName=evil.example",
        "jdbc:db2://db.ok:50000/shop:clientRerouteAlternateServerName=evil.example;",
        "jdbc:trino://db.ok:8080/lake?socksProxy=evil.example:1080",
        "jdbc:sqlite::resource:http://evil.example/shop.db",
    ],
)
def test_a_jdbc_url_that_can_lead_to_another_host_is_refused(url: str) -> None:
    (problem,) = problems(by_jdbc(url), *ALL_OK)

    assert problem.startswith("output.sql.url: ")
    assert "evil" not in problem


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://db.ok/shop",
        "jdbc:postgresql://DB.ok:5432/shop?sslmode=require&ApplicationName=edge&currentSchema=sales,public",
        "jdbc:mysql://db.ok:3306/shop?useSSL=true&serverTimezone=UTC",
        "jdbc:mariadb://db.ok/shop?sslMode=verify-full",
        "jdbc:sqlserver://db.ok:1433;databaseName=shop;encrypt=true;trustServerCertificate=false",
        "jdbc:sqlserver://db.ok\\one:1433;databaseName=shop",
        "jdbc:sqlserver://;serverName=db.ok;databaseName=shop",
        "jdbc:oracle:thin:@//db.ok:1521/shop",
        "jdbc:oracle:thin:@db.ok:1521:shop",
        "jdbc:oracle:thin:@tcps://db.ok/shop",
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=db.ok)(PORT=1521))(CONNECT_DATA=(SID=x)))",
        "jdbc:db2://db.ok:50000/shop:currentSchema=SALES;",
        "jdbc:trino://db.ok:8080/lake/sales?SSL=true",
        "jdbc:duckdb:/data/shop.db",
        "jdbc:sqlite:/data/shop.db",
        "jdbc:sqlite:/data/shop.db?journal_mode=WAL",
    ],
)
def test_a_jdbc_url_of_an_allowed_host_can_have_harmless_options(url: str) -> None:
    assert problems(by_jdbc(url), *ALL_OK) == []


def test_a_database_drivers_options_cannot_lead_to_another_host_either() -> None:
    url = "jdbc:postgresql://db.ok/shop"
    iceberg = "type: jdbc, warehouse: /lake, uri: 'jdbc:postgresql://db.ok/lake'"

    assert problems(by_jdbc(url, "{batchsize: 500, sslmode: require}"), POSTGRES) == []
    assert problems(by_jdbc("jdbc:sqlite:/data/shop.db", "{journal_mode: WAL}")) == []
    for option in ("PGHOST", "socketFactory", "connectionProvider", "service"):
        (problem,) = problems(by_jdbc(url, f"{{batchsize: 500, {option}: evil}}"), POSTGRES)
        assert problem.startswith(f"output.sql.options.{option}: ")
        catalog = f"{SILENT}{ROWS}{LINES}catalogs: {{c: {{{iceberg}, options: {{jdbc.{option}: evil}}}}}}\n"
        (problem,) = problems(catalog, POSTGRES)
        assert problem.startswith(f"catalogs.c.options.jdbc.{option}: ")


def test_a_catalog_in_sparks_configuration_is_checked_too() -> None:
    catalog = "spark.sql.catalog.c.url: 'jdbc:postgresql://db.ok/shop'"
    kind = "spark.sql.catalog.c: org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    iceberg = "spark.sql.catalog.c.uri: 'jdbc:postgresql://db.ok/lake', spark.sql.catalog.c.type: jdbc"

    def refused_places(*entries: str) -> list[str]:
        return [
            line.partition(": ")[0]
            for line in problems(f"{SILENT}{ROWS}{LINES}spark: {{{', '.join(entries)}}}", POSTGRES)
        ]

    assert refused_places(catalog, kind, "spark.sql.catalog.c.fetchsize: '10'") == []
    assert refused_places(catalog, kind, "spark.sql.catalog.c.PGHOST: evil") == ["spark.spark.sql.catalog.c.PGHOST"]
    assert refused_places(iceberg, "spark.sql.catalog.c.cache-enabled: 'false'") == []
    assert refused_places(iceberg, "spark.sql.catalog.c.jdbc.PGHOST: evil") == ["spark.spark.sql.catalog.c.jdbc.PGHOST"]


def test_an_allowed_endpoint_allows_only_urls_below_its_path() -> None:
    allowed = [allowed_by("https://lineage.example/eu"), allowed_by("s3://landing")]

    def is_open(url: str) -> bool:
        parsed = endpoint(url)
        assert parsed is not None
        return is_allowed(parsed, allowed)

    assert is_open("https://lineage.example:443/eu/api/v1/lineage")
    assert is_open("s3a://landing/deep/down")
    assert not is_open("https://lineage.example/eu2")
    assert not is_open("https://lineage.example/eu/../us")
    assert not is_open("http://lineage.example/eu")
    assert not is_open("http://lineage.example:443/eu")
    assert not is_open("https://lineage.example.evil.example/eu")
    assert not is_open("s3://landing2/x")


@pytest.mark.parametrize(
    ("path", "is_open"),
    [
        ("s3://landing/eu/{a,b}/2024/*.csv", True),
        ("s3://landing/eu/2024?/day#1", True),
        ("s3://landing/eu/{../us}", False),
        ("s3://landing/eu/{a,../us}", False),
        ("s3://landing/eu/{a,{b,../us}}", False),
        ("s3://landing/eu/{a,b},s3://us/x", False),
        ("s3://landing/eu/.{./us,x/y}", False),
        ("s3://landing/eu/{{a,b},../us}", False),
        ("s3://landing/eu/{a\\}b,../us}", False),
        ("s3://landing/eu/x?/../../us", False),
        ("s3://landing/eu#/../../us", False),
        ("s3://us/`s3://landing/eu/x`", False),
        ("hdfs://name:9000/{a,../b}/x", True),
        ("hdfs://name:9000?x@us/x", False),
        ("hdfs://name:9000#x@us/x", False),
    ],
)
def test_a_path_that_spark_expands_cannot_leave_the_allowed_folder(path: str, is_open: bool) -> None:
    text = f"{SILENT}{LINES}input: {{file: {{paths: ['{path}'], format: text}}}}"

    assert (problems(text, "s3://landing/eu", "hdfs://name:9000") == []) is is_open


def test_a_url_in_ordinary_text_is_not_an_endpoint() -> None:
    query = "pipeline: {processors: [{sql: \"SELECT * FROM input WHERE 'https://us.example' <> ''\"}]}\n"

    assert problems(SILENT + ROWS + LINES + query) == []


def test_the_endpoint_of_events_in_the_environment_is_checked_too() -> None:
    address = "https://lineage.us:443/api/v1/lineage"

    assert problems(ROWS + LINES, HEADWATER_ENDPOINT=address) == [f"lineage.http.endpoint: {address}"]


def test_the_endpoint_of_s3_in_the_environment_is_checked_too() -> None:
    text = f"{SILENT}{LINES}input: {{file: {{paths: [s3://eu/in], format: text}}}}"

    assert problems(text, "s3://eu") == []
    assert problems(text, "s3://eu", AWS_ENDPOINT_URL="https://s3.us.example") == [
        "AWS_ENDPOINT_URL: https://s3.us.example:443"
    ]


def test_the_endpoint_of_glue_in_the_environment_is_checked_too() -> None:
    text = f"{SILENT}{ROWS}{LINES}catalogs: {{c: {{type: glue, options: {{client.region: eu-west-1}}}}}}"

    assert problems(text, "glue://eu-west-1") == []
    assert problems(text, "glue://eu-west-1", AWS_ENDPOINT_URL_GLUE="https://glue.us.example") == [
        "AWS_ENDPOINT_URL_GLUE: https://glue.us.example:443"
    ]


def test_a_proxy_to_an_endpoint_is_an_endpoint() -> None:
    text = f"{ROWS}{LINES}lineage: {{http: {{endpoint: 'https://lineage.eu.example/api/v1/lineage'}}}}\n"
    allowed = "https://lineage.eu.example"

    assert problems(text, allowed, HTTP_PROXY="http://proxy.us.example:3128") == []  # it is not used for https
    assert problems(text, allowed, HTTPS_PROXY="proxy.us.example:3128") == ["HTTPS_PROXY: http://proxy.us.example:3128"]
    assert problems(text, allowed, all_proxy="socks5://proxy.us.example:1080") == [
        "all_proxy: socks5://proxy.us.example:1080"
    ]
    assert problems(text, allowed, HTTPS_PROXY="http://proxy.us.example", NO_PROXY="other.example,.eu.example") == []
    assert problems(text, allowed, HTTPS_PROXY="http://proxy.us.example", NO_PROXY="other.example") == [
        "HTTPS_PROXY: http://proxy.us.example:80"
    ]
    assert problems(text, allowed, "http://proxy.eu.example", HTTPS_PROXY="http://proxy.eu.example:80") == []


@pytest.mark.parametrize(
    "entry",
    ["lineage.example", "/data", "file:///data", "https://", "https://key:secret@lineage.example", "s3://key@b/x"],
)
def test_an_entry_that_is_not_an_endpoint_is_refused(entry: str) -> None:
    with pytest.raises(InvalidInputError, match="expected a URL"):
        allowed_by(entry)


def test_without_a_list_every_endpoint_is_allowed() -> None:
    spec = checked(Pipeline(source=HEAD + ROWS + LINES, path=str(Path("/edge/orders.yaml"))), None, {})

    assert spec.name == "orders"
