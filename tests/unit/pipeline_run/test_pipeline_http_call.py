"""The client that reads an API, before it connects."""

import pytest

from headwater.errors import SetupError
from headwater.pipeline.http.call import caller_of
from headwater.pipeline.spec import HttpCall


def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://ann:hush@127.0.0.1:9")

    with (
        pytest.raises(SetupError, match=r"^ALL_PROXY holds no valid proxy address") as found,
        caller_of(HttpCall(url="http://api.example.org/orders")),
    ):
        pass

    assert "hush" not in str(found.value)
