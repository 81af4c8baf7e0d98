"""Addresses lose what opens them, and nothing else."""

import pytest

from headwater.model.credentials import without_credentials


@pytest.mark.parametrize(
    ("url", "kept"),
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
        ("kafka://broker:9092", "kafka://broker:9092"),
        ("", ""),
    ],
)
def test_an_address_keeps_all_but_user_and_secrets(url: str, kept: str) -> None:
    assert without_credentials(url) == kept
