"""Addresses lose their credentials, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.credentials import may_hold_secrets, without_credentials, without_secrets, without_secrets_in


@pytest.mark.parametrize(
    ("url", "cleaned"),
    [
        ("postgres://db:5432/shop", "postgres://db:5432/shop"),
        ("postgres://ann@db/shop", "postgres://db/shop"),
        ("postgres://ann:p@ss@db:5432/shop", "postgres://db:5432/shop"),
        ("jdbc:mysql://ann:a/b@db/shop?useSSL=true", "jdbc:mysql://db/shop?useSSL=true"),
        ("jdbc:postgresql://db/shop?user=ann&password=x&ssl=true", "jdbc:postgresql://db/shop?ssl=true"),
        ("jdbc:postgresql://db/shop?PASSWORD=x", "jdbc:postgresql://db/shop"),
        ("jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=x", "jdbc:sqlserver://db:1433;databaseName=shop"),
        ("jdbc:oracle:thin:scott/tiger@//db:1521/orcl", "jdbc:oracle:thin:@//db:1521/orcl"),
        ("s3://bucket/a@b", "s3://bucket/a@b"),
        ("abfss://lake@account.dfs.core.windows.net/raw", "abfss://lake@account.dfs.core.windows.net/raw"),
        ("kafka://broker:9092", "kafka://broker:9092"),
        ("", ""),
    ],
)
def test_an_address_loses_only_its_user_and_secrets(url: str, cleaned: str) -> None:
    assert without_credentials(url) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("jdbc:postgresql://ann:s3cret@db/shop", "jdbc:postgresql://db/shop"),
        ("jdbc:postgresql://db/shop?user=ann&password=x&sslpassword=y&ssl=true", "jdbc:postgresql://db/shop?ssl=true"),
        ("jdbc:mysql://address=(host=db)(user=ann)(password=s3cret)/shop", "jdbc:mysql://address=(host=db)/shop"),
        ("jdbc:db2://db:50000/shop:user=ann;password=s3cret;", "jdbc:db2://db:50000/shop:"),
        ("postgres://ann:s3cret@db:5432", "postgres://db:5432"),
        ("postgres://ann:s3/cr@et@db:5432", "postgres://db:5432"),
        ("postgresql+psycopg2://ann:s3%40cret@db/shop", "postgresql+psycopg2://db/shop"),
        ("postgres://ann%3As3cret@db", "postgres://db"),
        ("s3://KEY:SEC/RET+x@bucket", "s3://bucket"),
        ("https://token@example.org/a", "https://example.org/a"),
        ("https://x.blob.core.windows.net/c/a?sp=r&sig=abc%3D&se=1", "https://x.blob.core.windows.net/c/a?sp=r&se=1"),
        ("https://example.org/a?page=2&access_token=s3cret#b", "https://example.org/a?page=2"),
        ("Protocol=https;AccountName=x;AccountKey=s3cret==;", "Protocol=https;AccountName=x"),
        ("jdbc:postgresql://db/shop?user=ann&ssl=true", "jdbc:postgresql://db/shop?ssl=true"),
        ("https://example.org/a?user=ann&password=s3cret&page=2", "https://example.org/a?page=2"),
        (
            "no route to postgres://ann:s3cret@db:5432/shop, ann@db knows",
            "no route to postgres://db:5432/shop, ann@db knows",
        ),
        ("https://example.org/a b?password=s3cret", "https://example.org/a b"),
        ("https://example.org/a?contraseña_password=s3cret&пароль-token=s3cret", "https://example.org/a"),
        (
            "cannot open 'jdbc:postgresql://db/x?password=s3cret', try again",
            "cannot open 'jdbc:postgresql://db/x', try again",
        ),
    ],
)
def test_passwords_in_addresses_are_removed_from_texts(text: str, cleaned: str) -> None:
    assert without_secrets(text) == cleaned
    assert without_secrets(cleaned) == cleaned
    assert may_hold_secrets(json.dumps({"text": text}).encode())


@pytest.mark.parametrize(
    "text",
    [
        "abfss://lake@account.dfs.core.windows.net",
        "s3://bucket/a:b@c?d=e",
        "mongodb://one:27017,two:27017/shop@x",
        "postgres://[::1]:5432/a@b",
        "postgres://db:None/a@b",
        "file:///data/day=1/a@b:c",
        "kafka://ann@broker:9092",
        "https://example.org/a?user=7",
        "SELECT a FROM b -- c:d@e; token=f",
        "org.apache.spark.Thing@1a2b3c",
        "",
    ],
)
def test_a_text_without_a_password_is_unchanged(text: str) -> None:
    assert without_secrets(text) == text


def test_secrets_are_detected_in_json_with_and_without_escapes() -> None:
    value = {"text": "x://db/?пароль_password=s3cret"}

    assert may_hold_secrets(json.dumps(value).encode())
    assert may_hold_secrets(json.dumps(value, ensure_ascii=False).encode())
    assert may_hold_secrets(rb'{"text": "x://ann:s3cret\u0040db"}')
    assert not may_hold_secrets(b'{"told": "x://db/?page=2", "by": "ann@db", "signature": "pw=="}')


def test_only_the_texts_in_a_json_value_are_cleaned() -> None:
    value = {"s3://a:b@c": ["s3://a:b@c", {"uri": "s3://a:b@c"}, 7, 0.5, True, None]}

    assert without_secrets_in(value) == {"s3://a:b@c": ["s3://c", {"uri": "s3://c"}, 7, 0.5, True, None]}


@given(st.text(alphabet="@:/?;&=()#[]{} abjdbc%3A.password,", max_size=60))
def test_cleaning_twice_changes_nothing_more_and_secrets_are_detected_in_json(text: str) -> None:
    cleaned = without_secrets(text)

    assert without_secrets(cleaned) == cleaned
    if cleaned != text:
        assert may_hold_secrets(json.dumps({"text": text}).encode())


@pytest.mark.parametrize(
    ("begin", "repeated", "end"),
    [
        ("-- see https://wiki/x =@ ", "a1", ""),
        ("jdbc:", "//:", "="),
        ("jdbc:@", "//:", "?@"),
        ("jdbc:", ":thin:", "?=@"),
        ("x://=@", "//:", ""),
        ("x://=", "//:", "\n@"),
        ("x://=//", "%3A", "/@"),
        ("x://:=@", ";pw={", ""),
        ("x://=@", "(pw=", ""),
        ("x://=(", "key", "@"),
    ],
)
def test_a_long_text_is_scanned_in_linear_time(begin: str, repeated: str, end: str) -> None:
    text = begin + repeated * 100_000 + end  # otherwise this takes minutes

    cleaned = without_secrets(text)

    assert len(cleaned) <= len(text)
    assert may_hold_secrets(text.encode()) or cleaned == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("postgresql://ann:{}@db:5432/shop", "postgresql://db:5432/shop"),
        ("postgresql://ann:a/{}@db:5432/shop", "postgresql://db:5432/shop"),
        ("x://db/?password={{{}}}&ssl=true", "x://db/?ssl=true"),
        ("jdbc:oracle:thin:@(HOST=db)(password={})", "jdbc:oracle:thin:@(HOST=db)"),
    ],
)
def test_a_token_of_thousands_of_characters_is_removed_too(text: str, cleaned: str) -> None:
    assert without_secrets(text.format("e" * 5_000)) == cleaned
