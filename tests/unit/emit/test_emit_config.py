import pytest

from headwater.emit.config import EmitConfig, HttpConfig
from headwater.errors import InvalidInputError


def test_the_endpoint_is_in_no_repr_since_its_query_can_contain_a_key() -> None:
    config = EmitConfig(http=HttpConfig(endpoint="http://lineage.test/?key=hunter2"))

    assert "hunter2" not in repr(config)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "localhost:5000/api/v1/lineage",
        "//localhost:5000/api/v1/lineage",
        "ftp://lineage.test/api/v1/lineage",
        "http:///api/v1/lineage",
        "http://[::1/api/v1/lineage",
        "http://app:hunter2@\u2100/api/v1/lineage",
        "http://localhost:abc/api/v1/lineage",
        "http://localhost:0/api/v1/lineage",
        "http://localhost:99999999/api/v1/lineage",
    ],
)
def test_an_endpoint_that_is_not_an_http_url_is_refused_without_repeating_it(endpoint: str) -> None:
    with pytest.raises(InvalidInputError, match="--endpoint or HEADWATER_ENDPOINT, is not an HTTP URL") as refusal:
        HttpConfig(endpoint=endpoint)

    assert refusal.value.__cause__ is None
    assert "hunter2" not in str(refusal.value)


def test_credentials_in_the_endpoint_are_refused_without_repeating_them() -> None:
    with pytest.raises(InvalidInputError, match=": token_env, --token-env, or") as refusal:
        HttpConfig(endpoint="http://ali:hunter2@lineage.test/")

    assert "hunter2" not in str(refusal.value)
