"""Bearer tokens, signed here with real keys, and checked with the keys that a server of this test serves."""

import asyncio
import hmac
import json
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey

from headwater.access.callers import Caller, Grant
from headwater.access.config import OidcConfig
from headwater.access.key_set import ProviderKeys
from headwater.access.oidc import Provider
from headwater.errors import UnauthenticatedError, UnavailableError

NOW_S = 1_779_459_791
RSA = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})
EC = ECKey.generate_key("P-256", {"kid": "ec", "use": "sig"})
ED = OKPKey.generate_key("Ed25519", {"kid": "ed", "use": "sig"})
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})
ISSUER = "https://id.example.org"
CLAIMS: Mapping[str, Any] = {
    "iss": ISSUER,
    "aud": ["headwater", "other"],
    "sub": "alice",
    "exp": NOW_S + 600,
    "headwater_roles": ["read", "captain"],
    "headwater_scopes": "sales* lake",
}


class Identity:
    """An identity provider's key set, on a port of its own."""

    def __init__(self) -> None:
        self.keys: list[Any] = [RSA, EC, ED]
        self.status = 200
        self.url = ""
        self.body: bytes | None = None
        self.requests = 0
        self.request_arrived = threading.Semaphore(0)
        self.may_answer = threading.Event()
        self.may_answer.set()

    def jwks(self) -> bytes:
        if self.body is not None:
            return self.body
        members = [key if isinstance(key, str | dict) else key.as_dict(private=False) for key in self.keys]
        return json.dumps({"keys": members}).encode()


@pytest.fixture
def identity() -> Iterator[Identity]:
    identity = Identity()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            identity.requests += 1
            identity.request_arrived.release()
            identity.may_answer.wait(60)
            self.send_response(identity.status if self.path == "/keys" else 200)
            self.send_header("location", "/elsewhere")
            self.end_headers()
            self.wfile.write(identity.jwks())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with serving(Handler) as port:
        identity.url = f"http://127.0.0.1:{port}/keys"
        yield identity


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


class Clock:
    """The time, in seconds."""

    def __init__(self) -> None:
        self.now_s = float(NOW_S)

    def __call__(self) -> float:
        return self.now_s


def provider(
    source: str, cache: Path | None = None, clock: Callable[[], float] | None = None, issuer: str = ISSUER
) -> Provider:
    config = OidcConfig(issuer=issuer, audience="headwater", jwks=source)
    keys = ProviderKeys(config.issuer, config.jwks, config.refresh_s, cache, clock or Clock())
    return Provider(config, keys, lambda: NOW_S * 1_000_000)


def token(key: RSAKey | ECKey | OKPKey = RSA, alg: str = "RS256", **claims: object) -> str:
    payload = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    return jwt.encode({"alg": alg, "kid": key.kid}, payload, key, algorithms=[alg])


def unsigned(alg: str) -> str:
    parts = [{"alg": alg, "kid": "rsa"}, dict(CLAIMS)]
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)


def by_shared_secret(secret: bytes) -> str:
    """The classic key confusion: a public key used as a shared secret. The library would not sign this."""
    text = unsigned("HS256")
    signature = hmac.digest(secret, text.encode(), "sha256")
    return f"{text}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


def admitted(provider: Provider, token: str) -> Caller:
    return asyncio.run(provider.caller_of(token))


@pytest.mark.parametrize(("key", "alg"), [(RSA, "RS256"), (RSA, "PS384"), (EC, "ES256"), (ED, "Ed25519")])
def test_a_token_of_the_provider_gives_the_caller_their_name_and_grant(
    identity: Identity, key: RSAKey | ECKey | OKPKey, alg: str
) -> None:
    caller = admitted(provider(identity.url), token(key, alg))

    assert caller.name == "oidc:alice"
    assert caller.grant.roles == {"read"}  # a role of another program does not count here
    assert caller.grant.scopes == ("sales*", "lake")
    assert caller.grant.knows_restricted is False
    assert caller.until_us == (NOW_S + 660) * 1_000_000


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"iss": "https://id.example.com"}, "iss"),
        ({"iss": None}, "iss"),
        ({"aud": "another"}, "aud"),
        ({"aud": None}, "aud"),
        ({"exp": NOW_S - 61}, "expired_token"),
        ({"exp": None}, "exp"),
        ({"nbf": NOW_S + 61}, "nbf"),
        ({"sub": None}, "sub"),
        ({"sub": ""}, "sub"),
        ({"sub": ["alice"]}, "sub"),
    ],
)
def test_a_token_with_a_wrong_claim_is_refused_and_the_claim_is_named(
    identity: Identity, claims: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnauthenticatedError, match=message):
        admitted(provider(identity.url), token(**claims))


READER = Grant(frozenset({"read"}), ("sales*", "lake"))


@pytest.mark.parametrize(
    ("claims", "grant"),
    [
        ({}, READER),
        ({"headwater_nodes": "edge-1 edge-2"}, replace(READER, nodes=("edge-1", "edge-2"))),
        ({"headwater_nodes": []}, replace(READER, nodes=())),
        ({"headwater_nodes": 7}, replace(READER, nodes=())),
        ({"headwater_restricted": True}, replace(READER, knows_restricted=True)),
        ({"headwater_restricted": "true"}, READER),
        ({"headwater_scopes": ["sales*", 7, None, "*"]}, replace(READER, scopes=("sales*", "*"))),
        ({"headwater_scopes": {"lake": True}}, replace(READER, scopes=())),
        ({"headwater_scopes": None}, replace(READER, scopes=())),
        ({"headwater_roles": "steward read"}, replace(READER, roles=frozenset({"read", "steward"}))),
        ({"headwater_roles": None}, replace(READER, roles=frozenset())),
    ],
)
def test_a_claim_grants_its_values_and_a_malformed_one_nothing(
    identity: Identity, claims: dict[str, object], grant: Grant
) -> None:
    identity.keys = [ED]

    assert admitted(provider(identity.url), token(ED, "Ed25519", **claims)).grant == grant


def test_a_claim_with_half_of_a_surrogate_pair_names_and_grants_nothing(identity: Identity) -> None:
    by_claim = {
        claim: jws.serialize_compact({"alg": "RS256", "kid": RSA.kid}, json.dumps({**CLAIMS, claim: value}), RSA)
        for claim, value in {"sub": "\ud800", "headwater_scopes": ["lake", "\udfff"]}.items()
    }

    assert admitted(provider(identity.url), by_claim["headwater_scopes"]).grant.scopes == ("lake",)
    with pytest.raises(UnauthenticatedError, match="no claim sub"):
        admitted(provider(identity.url), by_claim["sub"])


def test_clocks_may_be_a_minute_apart(identity: Identity) -> None:
    assert admitted(provider(identity.url), token(exp=NOW_S - 59, nbf=NOW_S + 59)).name == "oidc:alice"


def test_a_forged_or_malformed_token_is_refused(identity: Identity) -> None:
    good = token()
    head, body, signature = good.split(".")
    forged = [
        token(STRANGER),
        by_shared_secret(RSA.as_pem(private=False)),
        f"{unsigned('none')}.",
        f"{head}.{body[:-2]}AA.{signature}",
        good[:-10],
        "x.y.z",
        "A" * 20_000,
        f"{urlsafe_b64encode(b'[' * 9_000).decode()}.{body}.{signature}",
    ]

    for each in forged:
        with pytest.raises(UnauthenticatedError) as error:
            admitted(provider(identity.url), each)
        assert each not in str(error.value)


def test_a_new_key_is_fetched_and_an_unknown_one_is_not_requested_again_and_again(
    identity: Identity,
) -> None:
    clock = Clock()
    new = RSAKey.generate_key(2048, {"kid": "new", "use": "sig"})
    oidc = provider(identity.url, clock=clock)

    async def authenticate() -> list[str]:
        names = [(await oidc.caller_of(token())).name]
        identity.keys = [RSA, new]
        clock.now_s += 31
        names.append((await oidc.caller_of(token(new))).name)
        clock.now_s += 31
        unknown = RSAKey.generate_key(2048, {"kid": "nobody", "use": "sig"})
        for _ in range(5):
            with pytest.raises(UnauthenticatedError):
                await oidc.caller_of(token(unknown))
        return names

    assert asyncio.run(authenticate()) == ["oidc:alice", "oidc:alice"]
    assert identity.requests == 3


@pytest.mark.parametrize(
    "unreadable",
    [
        {"kty": "EC", "kid": "other", "crv": "brainpoolP256r1", "x": "AA", "y": "AA"},
        {"kty": "OKP", "kid": "other", "crv": "Ed999", "x": "AA"},
        {"kty": "AKP", "kid": "other", "alg": "ML-DSA-44", "pub": "AA"},
        {"kty": "RSA", "kid": "other", "n": "AQAB", "e": ""},
        {"kid": "other"},
        "no object",
    ],
)
def test_a_key_that_cannot_be_read_does_not_hide_the_others(identity: Identity, unreadable: object) -> None:
    identity.keys = [unreadable, RSA]

    assert admitted(provider(identity.url), token()).name == "oidc:alice"


def test_a_key_for_encryption_verifies_no_signature(identity: Identity) -> None:
    identity.keys = [{**RSA.as_dict(private=False), "use": "enc"}, EC]

    with pytest.raises(UnauthenticatedError):
        admitted(provider(identity.url), token())


def test_keys_are_fetched_again_after_ten_minutes_in_the_background(identity: Identity) -> None:
    clock = Clock()
    keys = provider(identity.url, clock=clock)

    async def present_tokens() -> None:
        await keys.caller_of(token())
        identity.may_answer.clear()
        for later_s in (599, 1):
            clock.now_s += later_s
            await asyncio.wait_for(keys.caller_of(token()), 4)  # less than a fetch waits for its answer
        arrived = [await asyncio.to_thread(identity.request_arrived.acquire, timeout=30) for _ in range(2)]
        identity.may_answer.set()
        assert all(arrived)

    asyncio.run(present_tokens())


def test_keys_are_not_fetched_again_within_ten_minutes(identity: Identity) -> None:
    clock = Clock()
    keys = provider(identity.url, clock=clock)

    async def present_tokens() -> None:
        await keys.caller_of(token())
        clock.now_s += 599
        await keys.caller_of(token())
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

    asyncio.run(present_tokens())
    assert identity.requests == 1


def test_a_token_need_not_name_its_key_if_there_is_only_one(identity: Identity) -> None:
    """Source: OpenID Connect Core 1.0, section 10.1."""
    identity.keys = [RSA]
    clock = Clock()
    keys = provider(identity.url, clock=clock)
    unnamed = jwt.encode({"alg": "RS256"}, dict(CLAIMS), RSA)

    async def present_tokens() -> list[str]:
        names = [(await keys.caller_of(unnamed)).name]
        clock.now_s += 31
        return [*names, (await keys.caller_of(unnamed)).name]

    assert asyncio.run(present_tokens()) == ["oidc:alice"] * 2
    assert identity.requests == 1


def test_a_key_that_was_withdrawn_while_no_token_came_is_no_longer_accepted(identity: Identity) -> None:
    clock = Clock()
    oidc = provider(identity.url, clock=clock)

    async def authenticate() -> None:
        await oidc.caller_of(token())
        identity.keys = [EC]
        clock.now_s += 60 * 60 * 24 * 3
        with pytest.raises(UnauthenticatedError):
            await oidc.caller_of(token())

    asyncio.run(authenticate())


def test_fetched_keys_are_used_while_the_provider_is_away_also_after_a_restart(
    identity: Identity, tmp_path: Path
) -> None:
    cache = tmp_path / "access" / "jwks.json"
    clock = Clock()
    before = provider(identity.url, cache, clock)

    async def authenticate() -> None:
        await before.caller_of(token())
        identity.status = 503
        clock.now_s += 3_600
        await before.caller_of(token())
        await before.caller_of(token())

    asyncio.run(authenticate())

    assert admitted(provider(identity.url, cache), token()).name == "oidc:alice"


@pytest.mark.parametrize("changed", ["jwks", "issuer"])
def test_keys_of_another_address_or_issuer_do_not_count_after_a_restart(
    identity: Identity, tmp_path: Path, changed: str
) -> None:
    cache = tmp_path / "jwks.json"
    admitted(provider(identity.url, cache), token())
    identity.status = 503
    url, issuer = identity.url, ISSUER
    if changed == "jwks":
        url = f"{identity.url}?of=another"
        identity.body = b""
    else:
        issuer = "https://other.example.org"

    with pytest.raises(UnavailableError, match="identity provider's keys"):
        admitted(provider(url, cache, issuer=issuer), token(iss=issuer))


@pytest.mark.parametrize("text", [b"", b"[]", b"\xff", b"[" * 100_000, json.dumps({"keys": [1]}).encode()])
def test_a_damaged_file_of_fetched_keys_is_as_none(identity: Identity, tmp_path: Path, text: bytes) -> None:
    cache = tmp_path / "jwks.json"
    cache.write_bytes(text)
    identity.status = 503

    with pytest.raises(UnavailableError, match="identity provider's keys"):
        admitted(provider(identity.url, cache), token())


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, None),
        (302, None),
        (200, b""),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'{"keys": 1}'),
        (200, b'{"keys": []}'),
        (200, b"[" * 100_000),
        (200, json.dumps({"keys": [RSA.as_dict(private=False)], "more": "x" * 1_000_000}).encode()),
    ],
    ids=["failed", "moved", "empty", "list", "no keys", "number", "none", "deep", "large"],
)
def test_without_any_keys_a_token_is_refused_as_unavailable(
    identity: Identity, status: int, body: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    identity.status, identity.body = status, body

    with pytest.raises(UnavailableError, match="identity provider's keys"):
        admitted(provider(identity.url), token())
    assert [vars(each)["jwks"] for each in caplog.records if each.levelname == "WARNING"] == [identity.url]


@pytest.mark.parametrize("address", ["https://login.example.org:port/keys", "https://[::1/keys"])
def test_with_an_address_that_is_none_a_token_is_refused_as_unavailable(address: str) -> None:
    with pytest.raises(UnavailableError, match="identity provider's keys"):
        admitted(provider(address), token())


def test_keys_may_be_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "provider.jwks"
    file.write_text(json.dumps(KeySet([EC]).as_dict(private=False)))

    assert admitted(provider(str(file)), token(EC, "ES256")).name == "oidc:alice"
