"""Addresses as Java 17 parses them: by `new java.net.URL(…)` and `new java.net.URI(…)` of the same texts."""

import pytest

from headwater.model.addresses import as_uri, is_url


@pytest.mark.parametrize(
    "text",
    [
        *("https://h/a b", "HTTP://x", "https://", "http:", "file:/a", "jar:file:/a!/b", "ftp://h/x", "mailto:a@b"),
        *(" https://h/x ", "https://[::1]/x", "https:h", "https://h:8080/x"),
    ],
)
def test_a_text_that_java_parses_is_a_url(text: str) -> None:
    assert is_url(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "/a/b.py", "git@h:a/b.git", "ssh://git@h/x", "s3://b/x", "git+https://h/x", "javascript:alert(1)"),
        *("https://h:abc/", "https://[bad/x"),
    ],
)
def test_a_text_that_java_does_not_parse_is_not_a_url(text: str) -> None:
    assert not is_url(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "jdbc:oracle:thin:@h:1521/x", "kafka://a:1,b:2", "mysql://h_x:3306/d", "http://ä/ö", "jdbc:x:[a]"),
        *("postgres://h/db?q=[1]", "https://[::1]/x", "postgres://h/a%20b#c"),
    ],
)
def test_a_uri_that_java_parses_is_unchanged(text: str) -> None:
    assert as_uri(text) == text


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("postgres://h/<db>", "postgres://h/%3Cdb%3E"),
        ("C:\\data\\x", "C:%5Cdata%5Cx"),
        ("snowflake://a{b}", "snowflake://a%7Bb%7D"),
        ("postgres://h/p%zz", "postgres://h/p%25zz"),
        ("h/a\u00a0b\n", "h/a%C2%A0b%0A"),
    ],
)
def test_characters_that_a_uri_cannot_have_are_percent_encoded(text: str, encoded: str) -> None:
    assert as_uri(text) == encoded
    assert as_uri(encoded) == encoded
